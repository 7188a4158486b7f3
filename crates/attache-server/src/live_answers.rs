//! Finds the task that an answer to a confirmation belongs to.
//!
//! A prompt opens a task where there is none. An answer never does: without its question it is refused.

use attache_domain::{
    CallId, CallPhase, CallRecord, Fault, GetTask, ListTasks, MAX_PAGE_SIZE, PartAnswers, PartContent, Scope,
    SendMessage, TaskId, TaskState, TaskView,
};
use attache_wire::devtool::live_routes;

use crate::app::App;

/// So many tasks of a state are looked through for a call.
const MAX_LISTED: usize = 1024;

/// On the live endpoint, text is a prompt and data is an answer.
pub(crate) fn is_answer(send: &SendMessage) -> bool {
    send.message.parts.iter().any(|part| matches!(part.content, PartContent::Data(_)))
}

/// The call that the message answers about.
pub(crate) fn answered_call(send: &SendMessage) -> Option<CallId> {
    send.answers.parts.iter().find_map(|part| match part {
        PartAnswers::Data(answers) => answers.iter().find_map(|answer| answer.call.clone()),
        _ => None,
    })
}

/// Refuses an answer that would become the first message of its task. The session refuses all other answers that nothing
/// was asked for.
pub(crate) async fn check_has_begun(
    app: &App,
    scope: &Scope,
    task: &TaskId,
    call: Option<&CallId>,
) -> Result<(), Fault> {
    let get = GetTask { task: task.clone(), history_length: None, at: None };
    let seen = app.session.get(scope, &get).await?;
    if seen.view.progress.awaits_first_message() { Err(nothing_asked(call)) } else { Ok(()) }
}

/// The fault of an answer for which there is no question.
pub(crate) fn nothing_asked(call: Option<&CallId>) -> Fault {
    match call {
        Some(call) => Fault::NothingToAnswer { call: call.0.clone(), open: Vec::new() },
        None => live_routes::data_without_question(),
    }
}

/// The task that asks about the call, or runs it: a running call can be cancelled. Otherwise a task that had such a call
/// lately and can say who answered. Ids of calls are unique within a task only.
pub(crate) async fn task_of_call(app: &App, scope: &Scope, call: &CallId) -> Result<Option<TaskId>, Fault> {
    let is_open = |record: &CallRecord| matches!(record.phase, CallPhase::Asked | CallPhase::Started);
    let mut asking: Vec<TaskId> = Vec::new();
    // In the order in which a task begins to ask, so that one that does so meanwhile is found. A call may ask while others
    // still run.
    for state in [TaskState::Working, TaskState::InputRequired, TaskState::AuthRequired] {
        let mut list = ListTasks { state: Some(state), page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
        let mut listed = 0;
        while listed < MAX_LISTED {
            let page = app.session.list(scope, &list).await?;
            listed += page.tasks.len().max(1);
            let found = page.tasks.iter().filter(|view| has_call(view, call, is_open));
            asking.extend(found.map(|view| view.task.clone()));
            if page.next_page_token.is_empty() {
                break;
            }
            list.page_token = page.next_page_token;
        }
    }
    asking.sort();
    asking.dedup();
    match asking.as_slice() {
        [] => {
            let newest = ListTasks { page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
            let page = app.session.list(scope, &newest).await?;
            let had = |view: &TaskView| {
                has_call(view, call, |_| true)
                    || view.progress.answered.iter().any(|given| given.question_id() == call)
            };
            Ok(page.tasks.iter().find(|view| had(view)).map(|view| view.task.clone()))
        }
        [task] => Ok(Some(task.clone())),
        _ => Err(live_routes::ambiguous_call(call)),
    }
}

fn has_call(view: &TaskView, call: &CallId, fits: impl Fn(&CallRecord) -> bool) -> bool {
    view.call_records.calls.iter().any(|record| record.shown_id() == call && fits(record))
}
