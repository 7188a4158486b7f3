//! Answers an agent's questions: from the command line, then from the person at the terminal.

use std::collections::VecDeque;
use std::io::{self, Write};

use anyhow::{anyhow, bail};
use attache_client::{AskedCall, OutgoingMessage, Part, RemoteStatus};
use uuid::Uuid;

use crate::printable::printable;
use crate::standard_streams::stderr;
use crate::tasks::answer_parts;
use crate::terminal_line::read_line;

pub(super) struct Answers {
    given: VecDeque<String>,
    asks_person: bool,
}

impl Answers {
    pub(super) fn new(given: &[String], asks_person: bool) -> Self {
        Self { given: given.iter().cloned().collect(), asks_person }
    }

    /// The next answer, if there is one.
    pub(super) async fn next(&mut self) -> io::Result<Option<String>> {
        if let Some(given) = self.given.pop_front() {
            return Ok(Some(given));
        }
        if !self.asks_person {
            return Ok(None);
        }
        write!(stderr(), "your answer (empty to leave): ")?;
        stderr().flush()?;
        let line = read_line().await?;
        let line = line.trim();
        Ok(if line.is_empty() { None } else { Some(line.to_owned()) })
    }
}

/// The message that answers a question with `words`. `asked` are the calls that the events showed as waiting.
pub(super) fn message(
    words: &str,
    status: &RemoteStatus,
    asked: &[AskedCall],
) -> anyhow::Result<OutgoingMessage> {
    let open = status.open_calls();
    let parts = if !open.is_empty() {
        answer_parts(words, &open)?
    } else if !asked.is_empty() {
        confirmations(words, asked)?
    } else {
        vec![Part::text(words)]
    };
    if parts.is_empty() {
        bail!("several calls wait for an answer, so it has to say which it is about: CALL=CHOICE");
    }
    Ok(OutgoingMessage::parts(Uuid::new_v4(), parts))
}

/// `CHOICE` for the only call, or `CALL=CHOICE` for one of several; empty if it does not say which.
fn confirmations(words: &str, asked: &[AskedCall]) -> anyhow::Result<Vec<Part>> {
    let named = words
        .split_once('=')
        .and_then(|(id, choice)| Some((asked.iter().find(|call| call.call == id.trim())?, choice)));
    let (call, choice) = match (named, asked) {
        (Some(named), _) => named,
        (None, [only]) => (only, words),
        (None, _) => return Ok(Vec::new()),
    };
    let answer = call
        .answer(choice)
        .map_err(|what| anyhow!("{:?} is no answer: {}", choice.trim(), printable(&what)))?;
    Ok(vec![answer])
}
