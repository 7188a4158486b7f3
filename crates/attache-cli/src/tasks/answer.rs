//! `attache tasks answer`.

mod encoding;

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use attache_client::{Message, OpenCall, OutgoingMessage, Part, RemoteTask, StreamEvent, approval_in};
use attache_domain::visible_line;
use attache_wire::yes_or_no;
use uuid::Uuid;

use self::encoding::{QuestionNaming, encode_answer};
use super::arguments::AnswerArguments;
use super::follow::{FollowFormat, FollowStart, follow};
use super::server::ServerConnection;
use super::show::{how_to_answer, last_words};
use crate::call::is_at_terminal;
use crate::printable::printable;
use crate::report::with_hint;
use crate::shell_word::shell_word;
use crate::standard_streams::{stderr, stdout};

/// Of a file that an edit should write.
const MAX_CONTENT_BYTES: u64 = 16 << 20;

pub(crate) async fn run(server: &ServerConnection, arguments: AnswerArguments) -> anyhow::Result<ExitCode> {
    let content = arguments.file.as_deref().map(read).transpose()?;
    if arguments.answer.is_empty() && content.is_none() {
        return Err(with_hint(
            anyhow!("there is no answer"),
            "attache tasks show tells what is asked, and the command that answers it",
        ));
    }
    let task = server.find(&arguments.id).await?;
    if !task.status.is_interrupted() {
        let hint = "attache tasks list --state input-required shows the tasks that wait for an answer";
        return Err(with_hint(
            anyhow!(
                "task {} is {} and asks nothing",
                visible_line(task.id.as_str()),
                task.status.state_name()
            ),
            hint,
        ));
    }
    let answer = encode_answer(&arguments.answer, content, &task.status.open_calls())?;
    // Without the name of a call it may be meant for another question than the one that is open now.
    match answer.naming {
        QuestionNaming::Named => {}
        QuestionNaming::Bare if is_at_terminal() => {
            if !confirm(&task)? {
                writeln!(stderr(), "nothing was answered")?;
                return Ok(ExitCode::FAILURE);
            }
        }
        QuestionNaming::Bare | QuestionNaming::Ambiguous => return Err(unnamed(&task)),
    }
    let id = Uuid::new_v4().to_string();
    let message = OutgoingMessage::parts(id.clone(), answer.parts)
        .to_task(task.id.as_str())
        .return_immediately()
        .history_length(answer.calls + 1);
    let sent = server.client.send(message).await;
    let StreamEvent::Task(answered) = sent.map_err(|error| server.describe_error(error))? else {
        bail!("the agent answered with a message of its own and says nothing about the task");
    };
    print_approvals(&answered, &id)?;
    if arguments.follow {
        let before = FollowStart::After(Box::new(task.status));
        return Ok(follow(server, *answered, FollowFormat::Text, before).await?.code());
    }
    writeln!(
        stdout(),
        "answered; attache tasks follow {} shows what it does",
        shell_word(answered.id.as_str())
    )?;
    Ok(ExitCode::SUCCESS)
}

/// An answer to exactly the calls that were shown; empty if it does not say which of several it means.
pub(crate) fn answer_parts(words: &str, open: &[OpenCall]) -> anyhow::Result<Vec<Part>> {
    encode_answer(&[words.to_owned()], None, open).map(|answer| answer.parts)
}

/// Shows what is asked now, and lets the person say whether that is what the answer is about.
fn confirm(task: &RemoteTask) -> io::Result<bool> {
    write!(stderr(), "{}\n\nSend this answer? [y/N] ", question(task))?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(yes_or_no(&line) == Some(true))
}

/// What is asked now, and how to answer exactly that.
fn unnamed(task: &RemoteTask) -> anyhow::Error {
    let open = task.status.open_calls();
    let calls: Vec<_> = open.iter().map(|open| visible_line(&open.call)).collect();
    let why = match &calls[..] {
        [] | [_] => {
            "the answer has to name the call that it is about, for the question may have changed".to_owned()
        }
        calls => {
            format!(
                "{} calls wait for an answer, so it must say which it is about: {}",
                calls.len(),
                calls.join(", ")
            )
        }
    };
    let id = visible_line(task.id.as_str());
    let error = anyhow!("{why}\n\ntask {id} asks now:\n{}\n\nnothing was answered", question(task));
    with_hint(error, how_to_answer(task.id.as_str(), &task.status))
}

fn question(task: &RemoteTask) -> String {
    let question = task.status.message.as_ref().map(|message| last_words(task, message)).unwrap_or_default();
    question.trim_end().to_owned()
}

/// What was agreed to or refused by the message `answer`, as the agent has understood it.
fn print_approvals(task: &RemoteTask, answer: &str) -> io::Result<()> {
    let by_answer = |message: &&Message| {
        approval_in(message).is_some_and(|approval| approval.get("message").is_some_and(|it| it == answer))
    };
    for message in task.history.iter().chain(&task.status.message).filter(by_answer) {
        writeln!(stderr(), "{}", printable(&message.text()).trim_end())?;
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let mut text = String::new();
    let opened = File::open(path).with_context(cannot)?;
    opened.take(MAX_CONTENT_BYTES + 1).read_to_string(&mut text).with_context(cannot)?;
    if text.len() as u64 > MAX_CONTENT_BYTES {
        bail!("{} is larger than {} MiB", path.display(), MAX_CONTENT_BYTES >> 20);
    }
    Ok(text)
}
