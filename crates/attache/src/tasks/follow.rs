//! `attache tasks follow`: what happens to a task, as it happens.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ExitCode;

use attache_client::{Artifact, Event, Task, TaskState, TaskStatus};

use super::arguments::FollowArguments;
use super::server::Server;
use super::show::{heading, how_to_answer, last_words, parts};
use crate::plain::plain;

/// Before the first event of a task.
const BEFORE_ALL: &str = "0";

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Now,
    Beginning,
    /// What the task asked has been answered, even if it does not look so yet.
    Answered,
}

/// Follows `task` until it settles; a task that failed is a failure.
pub(crate) async fn follow(
    server: &Server,
    task: Task,
    form: Form,
    start: Start,
) -> anyhow::Result<ExitCode> {
    let mut teller = Teller::new(form);
    let id = task.id.clone();
    let mut after = (start == Start::Beginning).then(|| BEFORE_ALL.to_owned());
    let settled = task.status.state.is_terminal() || task.status.state.is_interrupted();
    if settled && start == Start::Now {
        teller.tell(&Event::Task(Box::new(task.clone())))?;
        return teller.end(&task);
    }
    loop {
        let mut events = match server.client.subscribe(&id, after.as_deref()).await {
            Ok(events) => events,
            // It settled between two looks at it.
            Err(error) if error.is_finished() => {
                let task = server.client.get(&id, None).await.map_err(|error| server.tell(error))?;
                teller.tell(&Event::Task(Box::new(task.clone())))?;
                return teller.end(&task);
            }
            Err(error) => return Err(server.tell(error)),
        };
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| server.tell(error))?;
            let is_first = teller.last.is_none();
            teller.tell(&event)?;
            // It may ask something at the first look: something new, if it is not what was answered.
            if let Event::Task(seen) = &event
                && is_first
                && start != Start::Beginning
                && seen.status.state.is_interrupted()
                && !is_same(&seen.status, &task.status)
            {
                return teller.end(seen);
            }
        }
        // A question ends a stream even if it was answered long ago.
        let task = server.client.get(&id, Some(0)).await.map_err(|error| server.tell(error))?;
        let moved_on = teller.last.as_ref().is_none_or(|last| !is_same(last, &task.status));
        after = events.last_event_id().map(str::to_owned);
        if !moved_on || after.is_none() {
            return teller.end(&task);
        }
    }
}

fn is_same(one: &TaskStatus, other: &TaskStatus) -> bool {
    one.state == other.state && one.timestamp == other.timestamp
}

struct Teller {
    form: Form,
    /// What was printed of each artifact.
    printed: HashMap<String, String>,
    /// The artifact printed last, and whether its line is still open.
    current: Option<String>,
    open_line: bool,
    last: Option<TaskStatus>,
}

impl Teller {
    fn new(form: Form) -> Self {
        Self { form, printed: HashMap::new(), current: None, open_line: false, last: None }
    }

    fn tell(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Task(task) => self.last = Some(task.status.clone()),
            Event::StatusUpdate(update) => self.last = Some(update.status.clone()),
            Event::Message(_) | Event::ArtifactUpdate(_) => {}
        }
        if self.form == Form::Json {
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, event)?;
            writeln!(out)?;
            return out.flush();
        }
        match event {
            Event::Task(task) => task.artifacts.iter().try_for_each(|artifact| self.whole(artifact)),
            Event::Message(message) => self.print(&parts(&message.parts)),
            Event::ArtifactUpdate(update) if update.append => self.piece(&update.artifact),
            Event::ArtifactUpdate(update) => self.whole(&update.artifact),
            Event::StatusUpdate(update) => match (&update.status.message, update.status.state) {
                (Some(message), TaskState::Submitted | TaskState::Working) => self.note(&message.text()),
                // What a task ends with is told at the end.
                _ => Ok(()),
            },
        }
    }

    /// An artifact from its beginning; what is printed of it already is not printed again.
    fn whole(&mut self, artifact: &Artifact) -> io::Result<()> {
        let text = parts(&artifact.parts);
        let before = self.printed.remove(artifact.id()).unwrap_or_default();
        let more = match text.strip_prefix(before.as_str()) {
            Some(more) => more.to_owned(),
            None => {
                self.note("what was said before does not count; it starts again")?;
                text.clone()
            }
        };
        self.show(artifact, &more)?;
        self.printed.insert(artifact.id().to_owned(), text);
        Ok(())
    }

    fn piece(&mut self, artifact: &Artifact) -> io::Result<()> {
        let text = parts(&artifact.parts);
        self.show(artifact, &text)?;
        self.printed.entry(artifact.id().to_owned()).or_default().push_str(&text);
        Ok(())
    }

    fn show(&mut self, artifact: &Artifact, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.current.as_deref() != Some(artifact.id()) {
            self.end_line()?;
            let is_answer = artifact.id().starts_with("answer-");
            if !is_answer {
                self.print(&format!("{}\n", heading(artifact)))?;
            }
            self.current = Some(artifact.id().to_owned());
        }
        self.print(text)
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        self.open_line = !text.ends_with('\n');
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(io::stderr(), "[{}]", plain(text).trim_end())
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open_line) { writeln!(io::stdout()) } else { Ok(()) }
    }

    fn end(mut self, task: &Task) -> anyhow::Result<ExitCode> {
        let state = task.status.state;
        if self.form == Form::Text {
            self.end_line()?;
            if let Some(message) = &task.status.message {
                writeln!(io::stderr(), "{}", last_words(task, message).trim_end())?;
            }
            writeln!(io::stderr(), "[{state}]")?;
            if state.is_interrupted() {
                writeln!(io::stderr(), "{}", how_to_answer(&task.id, &task.status))?;
            }
        }
        let failed = matches!(state, TaskState::Failed | TaskState::Canceled | TaskState::Rejected);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
