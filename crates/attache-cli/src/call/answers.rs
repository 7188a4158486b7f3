//! Answers to what an agent asks: from the command line, then from the person at the terminal.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

use anyhow::bail;
use attache_client::{OutgoingMessage, Part, RemoteStatus};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::tasks::answer_parts;

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
        write!(io::stderr(), "your answer (empty to leave): ")?;
        io::stderr().flush()?;
        let line = read_line().await?;
        let line = line.trim();
        Ok(if line.is_empty() { None } else { Some(line.to_owned()) })
    }
}

/// Reads on a thread of its own, which a program that ends does not wait for.
async fn read_line() -> io::Result<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("answer".into()).spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        // The receiver is gone if the call was stopped meanwhile.
        let _ = sender.send(read.map(|_| line));
    })?;
    receiver.await.unwrap_or_else(|_| Ok(String::new()))
}

/// The message that answers a question with `words`.
pub(super) fn message(words: &str, status: &RemoteStatus) -> anyhow::Result<OutgoingMessage> {
    let open = status.open_calls();
    let parts = if open.is_empty() { vec![Part::text(words)] } else { answer_parts(words, &open)? };
    if parts.is_empty() {
        bail!("several calls wait for an answer, so it has to say which it is about: CALL=CHOICE");
    }
    Ok(OutgoingMessage::parts(Uuid::new_v4(), parts))
}
