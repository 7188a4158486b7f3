//! Sends messages and follows their tasks.

use std::io::{self, Write};
use std::time::Duration;

use attache_client::{
    AskedCall, CallNews, Client, ClientError, EventStream, OutgoingMessage, RemoteStatus, RemoteTask,
    StreamEvent, TaskState,
};
use attache_domain::visible_line;

use super::answers::{self, Answers};
use super::arguments::CallArguments;
use super::connection::refused;
use super::end::CallEnd;
use super::is_at_terminal;
use super::printer::Printer;

/// Delay between two reads of a task that waits for another client.
const WAIT: Duration = Duration::from_secs(2);
/// How long a stopped program tries to tell the agent.
const GOODBYE: Duration = Duration::from_secs(3);

pub(super) struct Conversation<'a> {
    client: &'a Client,
    /// The agent as the person named it.
    agent: String,
    printer: Printer<io::Stdout, io::Stderr>,
    answers: Answers,
    waits: bool,
    detaches: bool,
    /// The task that works for us.
    task: Option<TaskNames>,
    /// The tool calls that wait for an answer, as its events showed them.
    asked: Vec<AskedCall>,
}

/// How a conversation begins.
pub(super) enum Opening {
    Say(OutgoingMessage),
    Command(OutgoingMessage),
    /// With a task that is there already.
    Follow(String),
}

#[derive(Debug, Clone)]
struct TaskNames {
    task: String,
    context: String,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(client: &'a Client, arguments: &CallArguments) -> Self {
        let asks_person = is_at_terminal() && !arguments.json;
        Self {
            client,
            agent: visible_line(&arguments.url).into_owned(),
            printer: Printer::new(io::stdout(), io::stderr(), arguments.json),
            answers: Answers::new(&arguments.answer, asks_person),
            waits: arguments.follow,
            detaches: arguments.detach,
            task: None,
            asked: Vec::new(),
        }
    }

    pub(super) async fn run(&mut self, opening: Opening) -> anyhow::Result<CallEnd> {
        let mut status = match opening {
            Opening::Say(message) if self.detaches => return self.begin(message).await,
            Opening::Say(message) => self.say(message).await?,
            Opening::Command(command) => {
                let events = self.client.run_command(command).await.map_err(refused)?;
                self.follow(events).await?
            }
            Opening::Follow(task) => self.join(&task).await?,
        };
        loop {
            let Some(settled) = status else {
                self.printer.end(None)?;
                return Ok(CallEnd::Completed);
            };
            if !settled.is_interrupted() {
                self.fetch_result(&settled).await?;
                self.printer.end(Some(&settled))?;
                return Ok(CallEnd::of_task(&settled));
            }
            self.printer.ask(&settled, &self.asked)?;
            status = match self.answers.next().await? {
                Some(words) => {
                    let mut answer = answers::message(&words, &settled, &self.asked)?;
                    if let Some(names) = &self.task {
                        answer = answer.to_task(names.task.as_str()).in_context(names.context.as_str());
                    }
                    self.say(answer).await?
                }
                None if self.waits => self.wait(&settled).await?,
                None => {
                    self.hint()?;
                    return Ok(CallEnd::of_task(&settled));
                }
            };
        }
    }

    /// Sends a message, and comes back with the task's name.
    async fn begin(&mut self, message: OutgoingMessage) -> anyhow::Result<CallEnd> {
        let event = self.client.send(message).await.map_err(refused)?;
        if let StreamEvent::Task(task) = &event
            && !self.printer.is_json()
        {
            let (task, context) = (visible_line(task.id.as_str()), visible_line(task.context.as_str()));
            writeln!(io::stdout(), "task {task} in context {context}")?;
            return Ok(CallEnd::Told);
        }
        self.printer.event(&event)?;
        self.printer.end(None)?;
        Ok(CallEnd::Told)
    }

    async fn say(&mut self, message: OutgoingMessage) -> anyhow::Result<Option<RemoteStatus>> {
        let events = self.client.stream(message).await.map_err(refused)?;
        self.follow(events).await
    }

    async fn join(&mut self, task: &str) -> anyhow::Result<Option<RemoteStatus>> {
        let found = self.client.get(task, None).await.map_err(refused)?;
        self.note_names(&found);
        let settled = found.status.is_terminal() || found.status.is_interrupted();
        let status = found.status.clone();
        self.printer.event(&StreamEvent::Task(Box::new(found)))?;
        if settled {
            return Ok(Some(status));
        }
        match self.client.subscribe(task, None).await {
            Ok(events) => self.follow(events).await,
            // It has ended meanwhile, or the agent has no subscriptions.
            Err(ClientError::Refused(_) | ClientError::Status { .. } | ClientError::Unsupported(_)) => {
                self.wait(&status).await
            }
            Err(error) => Err(refused(error)),
        }
    }

    /// Prints events up to the end of the stream; the status that it ended with.
    async fn follow(&mut self, mut events: EventStream) -> anyhow::Result<Option<RemoteStatus>> {
        let mut last = None;
        while let Some(event) = events.next().await {
            let event = event.map_err(refused)?;
            match &event {
                StreamEvent::Task(task) => self.note_names(task),
                StreamEvent::StatusUpdate(update) => {
                    let (task, context) = (update.task.to_string(), update.context.to_string());
                    self.task = Some(TaskNames { task, context });
                }
                StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => {}
            }
            if let Some(status) = event.status() {
                self.note_calls(status);
                last = Some(status.clone());
            }
            self.printer.event(&event)?;
        }
        Ok(last)
    }

    /// Keeps track of the calls that wait for an answer.
    fn note_calls(&mut self, status: &RemoteStatus) {
        let parts = status.message.as_ref().map(|message| message.parts.as_slice()).unwrap_or_default();
        for news in parts.iter().filter_map(CallNews::of) {
            self.asked.retain(|known| known.call != news.call());
            if let CallNews::Asked(asked) = news {
                self.asked.push(asked);
            }
        }
    }

    /// Waits until a task that asks something goes on, and follows it then.
    async fn wait(&mut self, asked: &RemoteStatus) -> anyhow::Result<Option<RemoteStatus>> {
        let Some(names) = self.task.clone() else { return Ok(None) };
        loop {
            let task = self.client.get(&names.task, None).await.map_err(refused)?;
            let moved_on = (task.status.state, &task.status.timestamp) != (asked.state, &asked.timestamp);
            if moved_on && (task.status.is_terminal() || task.status.is_interrupted()) {
                let status = task.status.clone();
                self.printer.event(&StreamEvent::Task(Box::new(task)))?;
                return Ok(Some(status));
            }
            tokio::time::sleep(WAIT).await;
        }
    }

    /// Some agents put their result into the task, and not into the stream.
    async fn fetch_result(&mut self, status: &RemoteStatus) -> anyhow::Result<()> {
        let Some(names) = &self.task else { return Ok(()) };
        if self.printer.has_answer() || status.message.is_some() || status.state != Some(TaskState::Completed)
        {
            return Ok(());
        }
        // It may be forgotten already; then there is nothing more to tell.
        if let Ok(task) = self.client.get(&names.task, None).await {
            self.printer.event(&StreamEvent::Task(Box::new(task)))?;
        }
        Ok(())
    }

    fn note_names(&mut self, task: &RemoteTask) {
        self.task = Some(TaskNames { task: task.id.to_string(), context: task.context.to_string() });
    }

    /// How to go on with the task.
    fn hint(&self) -> io::Result<()> {
        match &self.task {
            Some(names) => writeln!(
                io::stderr(),
                "answer with: attache call {} --task {} 'YOUR ANSWER'",
                self.agent,
                visible_line(&names.task)
            ),
            None => Ok(()),
        }
    }

    /// A person who stops the program stops the task too; a task whose time is over goes on.
    pub(super) async fn leave(&self, end: &CallEnd) -> io::Result<()> {
        let Some(names) = &self.task else {
            return match end {
                CallEnd::TimedOut => writeln!(
                    io::stderr(),
                    "[the time is over; the agent has named no task, and may have received the message]"
                ),
                _ => Ok(()),
            };
        };
        let name = visible_line(&names.task);
        if *end != CallEnd::Interrupted {
            return writeln!(io::stderr(), "[the time is over; task {name} goes on]");
        }
        match tokio::time::timeout(GOODBYE, self.client.cancel(&names.task)).await {
            Ok(Ok(task)) => writeln!(io::stderr(), "\n[task {name} is {}]", task.status.state_name()),
            _ => writeln!(io::stderr(), "\n[task {name} could not be canceled, it may go on]"),
        }
    }
}
