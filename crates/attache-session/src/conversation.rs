//! The finished tasks of a conversation.

use attache_domain::{ContextId, Scope, TaskEnding, TaskId, TaskKey, TaskView, TurnPhase};
use attache_store::{EventLog, ListQuery, StoreError, TaskIndex};

use crate::quarantine::Quarantine;
use crate::replay;

/// Earlier tasks of a conversation that count; older ones are forgotten.
const MAX_EARLIER_TASKS: usize = 100;

/// Those of one caller, oldest first, without the task `except`.
pub(crate) async fn earlier_tasks(
    index: &dyn TaskIndex,
    log: &dyn EventLog,
    quarantine: &Quarantine,
    scope: &Scope,
    context: &ContextId,
    except: Option<&TaskId>,
) -> Result<Vec<TaskView>, StoreError> {
    let query = ListQuery {
        scope: scope.clone(),
        context: Some(context.clone()),
        state: None,
        since: None,
        after: None,
        limit: MAX_EARLIER_TASKS,
    };
    let listed = index.list(&query).await?.tasks.into_iter().rev();
    let others = listed.map(|place| place.task).filter(|task| Some(task) != except);
    let keys: Vec<_> = others.map(|task| TaskKey { scope: scope.clone(), task }).collect();
    let views = replay::views(log, quarantine, &keys).await?;
    Ok(views.into_iter().flatten().filter(is_finished).collect())
}

fn is_finished(view: &TaskView) -> bool {
    match view.progress.ending {
        TaskEnding::Completes | TaskEnding::Reopens => view.status.state.is_terminal(),
        TaskEnding::StaysOpen | TaskEnding::Session => view.progress.turn.phase == TurnPhase::Over,
    }
}
