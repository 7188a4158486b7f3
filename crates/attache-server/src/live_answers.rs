//! Finds the task that an answer to a confirmation belongs to.
//!
//! A prompt opens a task where there is none. An answer never does: without its question it is refused.

use attache_domain::{CallId, Fault, GetTask, PartAnswers, PartContent, Scope, SendMessage, TaskId};
use attache_wire::devtool::live_routes;

use crate::app::App;

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

/// The task of an answer: the one that it names, or that the correlation id of its call names. An id of another kind may
/// fit calls of several tasks, so it is never looked for.
pub(crate) async fn task_of_answer(app: &App, scope: &Scope, send: &SendMessage) -> Result<TaskId, Fault> {
    let call = answered_call(send);
    if let Some(task) = &send.message.task {
        check_has_begun(app, scope, task, call.as_ref()).await?;
        return Ok(task.clone());
    }
    let call = call.ok_or_else(|| nothing_asked(None))?;
    let task = call.correlated_task().ok_or_else(|| live_routes::call_without_task(&call))?;
    match check_has_begun(app, scope, &task, Some(&call)).await {
        Ok(()) => Ok(task),
        Err(Fault::TaskNotFound { .. }) => Err(live_routes::call_without_task(&call)),
        Err(fault) => Err(fault),
    }
}
