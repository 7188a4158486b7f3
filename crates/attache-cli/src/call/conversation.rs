//! Sends messages and follows their tasks.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use attache_client::{
    AskedCall, CallNews, Client, ClientError, EventStream, OutgoingMessage, RemoteStatus, RemoteTask,
    StreamEvent, TaskState,
};
use attache_domain::visible_line;
use tokio::time::timeout;

use super::answers::{self, Answers};
use super::connection::{refused, unanswered};
use super::end::CallEnd;
use super::is_at_terminal;
use super::printer::Printer;
use crate::report::with_hint;
use crate::shell_word::shell_word;
use crate::standard_streams::{Stderr, Stdout, stderr, stdout};
use crate::tasks::how_to_answer;

/// Delay between two reads of a task that waits for another client.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How many of these reads in a row may fail on the way to the agent.
const MAX_LOST_POLLS: u32 = 60;
/// After this time without an event, the program says why.
const NOTICE_DELAY: Duration = Duration::from_secs(5);
/// The same once there was nothing to say. A try to connect ends before, and is not disturbed by looking.
const REPEATED_NOTICE_DELAY: Duration = Duration::from_secs(30);
/// Calls that wait for an answer; more are forgotten, the oldest first.
const MAX_ASKED: usize = 1000;
/// How long a stopped program tries to tell the agent.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// How a conversation goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TalkOptions<'a> {
    pub(crate) partner: Partner<'a>,
    /// Answers to the agent's questions, the first for the first.
    pub(crate) answers: &'a [String],
    /// After a question without an answer, waits until another client answers it.
    pub(crate) waits: bool,
    /// Returns as soon as the task exists.
    pub(crate) detaches: bool,
    pub(crate) json: bool,
}

/// Who works on the task, which decides what a person is advised to type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Partner<'a> {
    /// An agent as the person named it.
    Agent(&'a str),
    /// The server of `attache tasks`.
    Server,
}

impl Partner<'_> {
    pub(super) fn how_to_answer(self, task: &str, status: &RemoteStatus) -> String {
        match self {
            Self::Agent(agent) => {
                let (agent, task) = (shell_word(agent), shell_word(task));
                format!("answer with: attache call {agent} --task {task} 'YOUR ANSWER'")
            }
            Self::Server => how_to_answer(task, status),
        }
    }

    fn how_to_follow(self, task: &str) -> String {
        let task = shell_word(task);
        match self {
            Self::Agent(agent) => format!("attache call {} --task {task} --follow", shell_word(agent)),
            Self::Server => format!("attache tasks follow {task}"),
        }
    }

    /// A task that works without being followed.
    fn started(self, task: &RemoteTask) -> String {
        let (id, context) = (visible_line(task.id.as_str()), visible_line(task.context.as_str()));
        match self {
            Self::Agent(_) => format!("task {id} in context {context}"),
            Self::Server => {
                let state = task.status.state_name();
                format!("task {id} is {state}; attache tasks follow {} shows what it does", shell_word(&id))
            }
        }
    }
}

pub(crate) struct Conversation<'a> {
    client: &'a Client,
    partner: Partner<'a>,
    printer: Printer<Stdout, Stderr>,
    answers: Answers,
    waits: bool,
    detaches: bool,
    /// The task that works for us.
    task: Option<TaskNames>,
    /// The tool calls that wait for an answer, as its events showed them.
    asked: VecDeque<AskedCall>,
}

/// How a conversation begins.
pub(crate) enum Opening {
    Say(OutgoingMessage),
    Command(OutgoingMessage),
    /// With a task that is there already.
    Follow(String),
}

impl Drop for Conversation<'_> {
    /// An error begins on a line of its own.
    fn drop(&mut self) {
        // A closed output has failed before.
        let _ = self.printer.end_line();
    }
}

#[derive(Debug, Clone)]
struct TaskNames {
    task: String,
    context: String,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(client: &'a Client, options: TalkOptions<'a>) -> Self {
        let asks_person = is_at_terminal() && !options.json;
        Self {
            client,
            partner: options.partner,
            printer: Printer::new(stdout(), stderr(), options.json),
            answers: Answers::new(options.answers, asks_person),
            waits: options.waits,
            detaches: options.detaches,
            task: None,
            asked: VecDeque::new(),
        }
    }

    pub(crate) async fn run(&mut self, opening: Opening) -> anyhow::Result<CallEnd> {
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
            self.printer.ask(&settled, self.asked.make_contiguous())?;
            status = match self.answers.next().await? {
                Some(words) => {
                    let mut answer = answers::message(&words, &settled, self.asked.make_contiguous())?;
                    if let Some(names) = &self.task {
                        answer = answer.to_task(names.task.as_str()).in_context(names.context.as_str());
                    }
                    self.say(answer).await?
                }
                None if self.waits => {
                    self.printer.note("the task waits for an answer, and is followed until it goes on")?;
                    self.hint(&settled)?;
                    self.wait(&settled).await?
                }
                None => {
                    self.hint(&settled)?;
                    return Ok(CallEnd::of_task(&settled));
                }
            };
        }
    }

    /// Sends a message, and comes back with the task's name.
    async fn begin(&mut self, message: OutgoingMessage) -> anyhow::Result<CallEnd> {
        let event = self.client.send(message).await.map_err(unanswered)?;
        if let StreamEvent::Task(task) = &event
            && !self.printer.is_json()
        {
            writeln!(stdout(), "{}", self.partner.started(task))?;
            return Ok(CallEnd::Done);
        }
        self.printer.event(&event)?;
        self.printer.end(None)?;
        Ok(CallEnd::Done)
    }

    async fn say(&mut self, message: OutgoingMessage) -> anyhow::Result<Option<RemoteStatus>> {
        let events = self.client.stream(message).await.map_err(unanswered)?;
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
        self.follow(self.client.resume(task, None)).await
    }

    /// Prints events up to the end of the stream; the status that it ended with.
    async fn follow(&mut self, mut events: EventStream) -> anyhow::Result<Option<RemoteStatus>> {
        let (mut last, mut silence) = (None, Some(NOTICE_DELAY));
        loop {
            let next = match silence {
                Some(silence) => timeout(silence, events.next()).await,
                None => Ok(events.next().await),
            };
            let event = match next {
                Ok(Some(event)) => event.map_err(|error| self.failed(error))?,
                Ok(None) => break,
                Err(_) => {
                    let is_noted = self.note_silence(&events, last.as_ref())?;
                    silence = (!is_noted).then_some(REPEATED_NOTICE_DELAY);
                    continue;
                }
            };
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

    /// Says so if the agent has ended its stream although its task goes on, or if the connection is lost.
    fn note_silence(&mut self, events: &EventStream, status: Option<&RemoteStatus>) -> io::Result<bool> {
        if let Some(why) = events.lost_because() {
            return self.note_loss(why).map(|()| true);
        }
        let what = match (events.is_polling(), events.is_silent()) {
            (true, _) => "stream has ended",
            (false, true) => "stream was cut, and the new one brings nothing",
            (false, false) => return Ok(false),
        };
        let state = status.map_or("unknown", RemoteStatus::state_name);
        self.printer.note(&format!(
            "the agent's {what}, and its task is still {state}; it is asked again until the task ends"
        ))?;
        Ok(true)
    }

    fn note_loss(&mut self, why: &str) -> io::Result<()> {
        self.printer.note(&format!("the connection to the agent is lost, and tried again: {why}"))
    }

    /// Why a call failed, and how to go on with a task that may go on.
    fn failed(&self, error: ClientError) -> anyhow::Error {
        let task = self.task.as_ref().filter(|_| error.is_lost_connection());
        let how = task.map(|names| self.partner.how_to_follow(&names.task));
        let error = refused(error);
        match how {
            Some(how) => with_hint(error, format!("the task may go on; follow it with: {how}")),
            None => error,
        }
    }

    /// Keeps track of the calls that wait for an answer.
    fn note_calls(&mut self, status: &RemoteStatus) {
        let parts = status.message.as_ref().map(|message| message.parts.as_slice()).unwrap_or_default();
        for news in parts.iter().filter_map(CallNews::of) {
            self.asked.retain(|known| known.call != news.call());
            if let CallNews::Asked(asked) = news {
                self.asked.push_back(asked);
                let excess = self.asked.len().saturating_sub(MAX_ASKED);
                self.asked.drain(..excess);
            }
        }
    }

    /// Waits until a task that asks something goes on, and follows it then.
    async fn wait(&mut self, asked: &RemoteStatus) -> anyhow::Result<Option<RemoteStatus>> {
        let Some(names) = self.task.clone() else { return Ok(None) };
        let mut lost_polls = 0;
        loop {
            let task = match self.client.get(&names.task, None).await {
                Ok(task) => task,
                Err(error) if error.is_lost_connection() && lost_polls < MAX_LOST_POLLS => {
                    lost_polls += 1;
                    self.note_loss(&error.to_string())?;
                    tokio::time::sleep(POLL_INTERVAL).await;
                    continue;
                }
                Err(error) => return Err(self.failed(error)),
            };
            lost_polls = 0;
            let moved_on = (task.status.state, &task.status.timestamp) != (asked.state, &asked.timestamp);
            if moved_on {
                let status = task.status.clone();
                let settled = status.is_terminal() || status.is_interrupted();
                self.printer.event(&StreamEvent::Task(Box::new(task)))?;
                return match settled {
                    true => Ok(Some(status)),
                    false => self.follow(self.client.resume(&names.task, None)).await,
                };
            }
            tokio::time::sleep(POLL_INTERVAL).await;
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
    fn hint(&self, status: &RemoteStatus) -> io::Result<()> {
        match &self.task {
            Some(names) => writeln!(stderr(), "{}", self.partner.how_to_answer(&names.task, status)),
            None => Ok(()),
        }
    }

    /// A person who stops the program stops the task too; a task whose time is over goes on.
    pub(crate) async fn leave(&mut self, end: &CallEnd) -> io::Result<()> {
        self.printer.end_line()?;
        let Some(names) = &self.task else {
            return match end {
                CallEnd::TimedOut => writeln!(
                    stderr(),
                    "[the time is over; the agent has named no task, and may have received the message]"
                ),
                _ => Ok(()),
            };
        };
        let name = visible_line(&names.task);
        if *end != CallEnd::Interrupted {
            return writeln!(stderr(), "[the time is over; task {name} goes on]");
        }
        match timeout(CANCEL_TIMEOUT, self.client.cancel(&names.task)).await {
            Ok(Ok(task)) => writeln!(stderr(), "\n[task {name} is {}]", task.status.state_name()),
            _ => writeln!(stderr(), "\n[task {name} could not be canceled, it may go on]"),
        }
    }
}
