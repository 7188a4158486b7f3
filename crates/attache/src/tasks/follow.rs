//! `attache tasks follow`: what happens to a task, as it happens.

mod teller;

use std::process::ExitCode;

use attache_client::{Event, Task, TaskStatus};

use self::teller::Teller;
use super::arguments::FollowArguments;
use super::server::{BEFORE_ALL, Server};

pub(crate) async fn run(server: &Server, arguments: FollowArguments) -> anyhow::Result<ExitCode> {
    let task = server.find(&arguments.id).await?;
    let form = if arguments.json { Form::Json } else { Form::Text };
    let start = if arguments.from_start { Start::Beginning } else { Start::Now };
    follow(server, task, form, start).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    /// With what the task has said up to now.
    Now,
    Beginning,
    /// With what happens after a message of ours. The task had this status before it, and may still look so.
    After(Box<TaskStatus>),
}

/// Follows `task` until it settles; a task that failed is a failure.
pub(crate) async fn follow(
    server: &Server,
    task: Task,
    form: Form,
    start: Start,
) -> anyhow::Result<ExitCode> {
    let mut teller = Teller::new(form, server.shows_development());
    let id = task.id.clone();
    let settled = task.status.state.is_terminal() || task.status.state.is_interrupted();
    let mut after = match &start {
        Start::Beginning => Some(BEFORE_ALL.to_owned()),
        Start::Now | Start::After(_) => task.cursor().map(str::to_owned),
    };
    match &start {
        Start::Now if settled => {
            teller.tell_settled(&task)?;
            return teller.end(&task);
        }
        Start::Now => teller.catch_up(&task)?,
        Start::After(_) => teller.pass_over(&task),
        Start::Beginning => {}
    }
    let before = match &start {
        Start::Now => Some(&task.status),
        Start::After(before) => Some(&**before),
        Start::Beginning => None,
    };
    loop {
        let mut events = match server.client.subscribe(&id, after.as_deref()).await {
            Ok(events) => events,
            Err(error) if error.is_finished() => {
                return end_settled(server, teller, &id, after.is_some()).await;
            }
            Err(error) => return Err(server.tell(error)),
        };
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| server.tell(error))?;
            let is_first = teller.last_status().is_none();
            teller.tell(&event)?;
            // It may ask something at the first look: something new, if it is not what was answered.
            if let (Event::Task(seen), Some(before)) = (&event, before)
                && is_first
                && seen.status.state.is_interrupted()
                && !is_same(&seen.status, before)
            {
                return teller.end(seen);
            }
        }
        // A question ends a stream even if it was answered long ago.
        let task = server.client.get(&id, Some(0)).await.map_err(|error| server.tell(error))?;
        let moved_on = teller.last_status().is_none_or(|last| !is_same(last, &task.status));
        after = events.last_event_id().map(str::to_owned);
        if !moved_on || after.is_none() {
            return teller.end(&task);
        }
    }
}

/// The task settled between two looks at it. `caught_up`: everything up to its end has been told.
async fn end_settled(
    server: &Server,
    mut teller: Teller,
    id: &str,
    caught_up: bool,
) -> anyhow::Result<ExitCode> {
    let task = server.client.get(id, None).await.map_err(|error| server.tell(error))?;
    if caught_up {
        teller.tell(&Event::Task(Box::new(task.clone())))?;
    } else {
        teller.tell_settled(&task)?;
    }
    teller.end(&task)
}

fn is_same(one: &TaskStatus, other: &TaskStatus) -> bool {
    one.state == other.state && one.timestamp == other.timestamp
}
