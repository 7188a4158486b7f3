//! `attache tasks follow`: prints the events of a task as they happen.

mod event_printer;

use attache_client::{RemoteStatus, RemoteTask, StreamEvent};

use self::event_printer::EventPrinter;
use super::arguments::FollowArguments;
use super::server::{START_CURSOR, ServerConnection};
use crate::call::CallEnd;

pub(crate) async fn run(server: &ServerConnection, arguments: FollowArguments) -> anyhow::Result<CallEnd> {
    let task = server.find(&arguments.id).await?;
    let form = if arguments.json { FollowFormat::Json } else { FollowFormat::Text };
    let start = if arguments.from_start { FollowStart::Beginning } else { FollowStart::Now };
    follow(server, task, form, start).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FollowStart {
    /// Prints what the task has said up to now first.
    Now,
    Beginning,
    /// Prints what happens after this command sent a message. The task had this status before it, and may still show it.
    After(Box<RemoteStatus>),
}

/// Follows `task` until it settles.
pub(crate) async fn follow(
    server: &ServerConnection,
    task: RemoteTask,
    form: FollowFormat,
    start: FollowStart,
) -> anyhow::Result<CallEnd> {
    let mut printer = EventPrinter::new(form, server.shows_development());
    let id = task.id.clone();
    let settled = task.status.is_terminal() || task.status.is_interrupted();
    let mut after = match &start {
        FollowStart::Beginning => Some(START_CURSOR.to_owned()),
        FollowStart::Now | FollowStart::After(_) => task.cursor().map(str::to_owned),
    };
    match &start {
        FollowStart::Now if settled => {
            printer.print_settled(&task)?;
            return printer.end(&task);
        }
        FollowStart::Now => printer.catch_up(&task)?,
        FollowStart::After(_) => printer.skip(&task),
        FollowStart::Beginning => {}
    }
    let before = match &start {
        FollowStart::Now => Some(&task.status),
        FollowStart::After(before) => Some(&**before),
        FollowStart::Beginning => None,
    };
    loop {
        let mut events = match server.client.subscribe(id.as_str(), after.as_deref()).await {
            Ok(events) => events,
            Err(error) if error.is_finished() => {
                return end_settled(server, printer, id.as_str(), after.is_some()).await;
            }
            Err(error) => return Err(server.describe_error(error)),
        };
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| server.describe_error(error))?;
            let is_first = printer.last_status().is_none();
            printer.print_event(&event)?;
            // The task may already ask something: something new, if it is not what was answered.
            if let (StreamEvent::Task(seen), Some(before)) = (&event, before)
                && is_first
                && seen.status.is_interrupted()
                && !is_same(&seen.status, before)
            {
                return printer.end(seen);
            }
        }
        // A question ends a stream even if it was answered long ago.
        let task =
            server.client.get(id.as_str(), Some(0)).await.map_err(|error| server.describe_error(error))?;
        let moved_on = printer.last_status().is_none_or(|last| !is_same(last, &task.status));
        after = events.last_event_id().map(str::to_owned);
        if !moved_on || after.is_none() {
            return printer.end(&task);
        }
    }
}

/// The task settled between two requests. `caught_up` means that everything up to its end was printed.
async fn end_settled(
    server: &ServerConnection,
    mut printer: EventPrinter,
    id: &str,
    caught_up: bool,
) -> anyhow::Result<CallEnd> {
    let task = server.client.get(id, None).await.map_err(|error| server.describe_error(error))?;
    if caught_up {
        printer.print_event(&StreamEvent::Task(Box::new(task.clone())))?;
    } else {
        printer.print_settled(&task)?;
    }
    printer.end(&task)
}

fn is_same(one: &RemoteStatus, other: &RemoteStatus) -> bool {
    one.state == other.state && one.timestamp == other.timestamp
}
