//! The other tasks of a conversation.

use attache_domain::{
    ContextId, RequestedSettings, Scope, TaskEnding, TaskId, TaskKey, TaskState, TaskView, TurnPhase,
};
use attache_store::{EventLog, ListQuery, StoreError, TaskIndex};

use crate::quarantine::Quarantine;
use crate::replay;

/// Tasks of a conversation that count; older ones are forgotten.
const MAX_OTHER_TASKS: usize = 100;

/// The other tasks of a conversation that have begun, oldest first.
#[derive(Default)]
pub struct OtherTasks(Vec<TaskView>);

impl OtherTasks {
    /// The settings of the conversation, with those of the task `own` last. Tasks that wait for a person count too: they hold
    /// the key of a client, for example, which no other task of the conversation may replace by the operator's.
    pub fn settings(&self, own: Option<&TaskView>) -> RequestedSettings {
        RequestedSettings::of(self.0.iter().chain(own))
    }

    /// Those that belong to the conversation with the model.
    pub fn into_finished(self) -> Vec<TaskView> {
        self.0.into_iter().filter(is_finished).collect()
    }
}

/// The tasks of one caller without the task `except`.
pub(crate) async fn other_tasks(
    index: &dyn TaskIndex,
    log: &dyn EventLog,
    quarantine: &Quarantine,
    scope: &Scope,
    context: &ContextId,
    except: Option<&TaskId>,
) -> Result<OtherTasks, StoreError> {
    let query = ListQuery {
        scope: scope.clone(),
        context: Some(context.clone()),
        state: None,
        since: None,
        after: None,
        limit: MAX_OTHER_TASKS,
    };
    let listed = index.list(&query).await?.tasks.into_iter().rev();
    let others = listed.map(|place| place.task).filter(|task| Some(task) != except);
    let keys: Vec<_> = others.map(|task| TaskKey { scope: scope.clone(), task }).collect();
    let views = replay::views(log, quarantine, &keys).await?;
    let has_begun = |view: &TaskView| view.status.state != TaskState::Submitted;
    Ok(OtherTasks(views.into_iter().flatten().filter(has_begun).collect()))
}

fn is_finished(view: &TaskView) -> bool {
    match view.progress.ending {
        TaskEnding::Completes | TaskEnding::Reopens => view.status.state.is_terminal(),
        TaskEnding::StaysOpen | TaskEnding::Session => view.progress.turn.phase == TurnPhase::Over,
    }
}
