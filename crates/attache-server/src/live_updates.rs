//! What clients of the live endpoint see besides the events of tasks: lines of the program's log, and the tools that
//! clients bring. Neither is in a log, so neither has a cursor.

use std::sync::Arc;

use attache_domain::{Scope, TaskId, TaskKey};
use attache_wire::devtool::live_routes::console_log;
use attache_wire::devtool::live_tools::tools_change;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use crate::app::{App, RequestOrigin};
use crate::console_log::{ConsoleLine, ConsoleLog, ConsoleReader};
use crate::live_tools::ToolsReader;

/// Reads them for one client, about all of its tasks or about one.
pub(crate) struct LiveUpdates {
    app: Arc<App>,
    scope: Scope,
    only: Option<TaskId>,
    /// For a caller that may see the log of the process.
    console: Option<ConsoleReader>,
    tools: ToolsReader,
}

impl LiveUpdates {
    pub(crate) fn new(app: &Arc<App>, origin: RequestOrigin, only: Option<TaskId>) -> Self {
        let console =
            app.options.console.as_ref().filter(|_| origin.caller.sees_log()).map(ConsoleLog::reader);
        let (scope, tools) = (origin.caller.scope(""), app.live_tools.reader());
        Self { app: app.clone(), scope, only, console, tools }
    }

    /// The tools that are there already, for a client that has just come.
    pub(crate) fn first(&self) -> Vec<Value> {
        self.tools_changes(None)
    }

    /// Waits for something to show. Can be dropped and called again.
    pub(crate) async fn next(&mut self) -> Vec<Value> {
        loop {
            let events = tokio::select! {
                changed = self.tools.next() => self.tools_changes(changed.as_deref()),
                line = next_line(&mut self.console) => self.log_line(&line).into_iter().collect(),
            };
            if !events.is_empty() {
                return events;
            }
        }
    }

    /// The same as a stream, with what is there already at its beginning.
    pub(crate) fn into_stream(self) -> BoxStream<'static, Vec<Value>> {
        let first = Some(self.first()).filter(|events| !events.is_empty());
        let later = stream::unfold(self, async |mut news| Some((news.next().await, news)));
        stream::iter(first).chain(later).boxed()
    }

    /// The servers that a session has now; without one, those of every session that has any.
    fn tools_changes(&self, changed: Option<&TaskKey>) -> Vec<Value> {
        let tools = &self.app.live_tools;
        let tasks = match changed {
            Some(key) if key.scope == self.scope => vec![key.task.clone()],
            Some(_) => Vec::new(),
            None => tools.sessions(&self.scope),
        };
        let tasks = tasks.into_iter().filter(|task| self.only.as_ref().is_none_or(|only| only == task));
        let event = |task: TaskId| {
            let key = TaskKey { scope: self.scope.clone(), task };
            tools_change(&key.task, &tools.of(&key))
        };
        tasks.map(event).collect()
    }

    /// A client of one task sees only what is about that; where the process serves only this task, also what is about the
    /// process.
    fn log_line(&self, line: &ConsoleLine) -> Option<Value> {
        let task = line.task.as_deref();
        let is_about = |only: &TaskId| match task {
            Some(task) => task == only.as_str(),
            None => self.app.options.live_session.is_some(),
        };
        let is_shown = self.only.as_ref().is_none_or(is_about);
        is_shown.then(|| console_log(line.level.name(), &line.text, task))
    }
}

async fn next_line(console: &mut Option<ConsoleReader>) -> Arc<ConsoleLine> {
    match console {
        Some(console) => console.next().await,
        None => std::future::pending().await,
    }
}
