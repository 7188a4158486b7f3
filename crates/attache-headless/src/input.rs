//! The prompt: the text on the command line, after what was piped in.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use attache_command::CommandRegistry;
use attache_domain::CommandCall;

use crate::failure::{FailureKind, RunFailure};

/// More than this of piped text is cut off.
const MAX_PIPED_BYTES: usize = 8 << 20;
/// How long a pipe may stay silent when there are words anyway: some programs pass on a pipe without a writer.
const PIPE_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Debug, PartialEq, Eq)]
pub struct PromptInput {
    pub prompt: String,
    pub warning: Option<String>,
    /// What was said on the command line; the rest was piped in and may be anything.
    words: String,
}

impl PromptInput {
    /// The command that the prompt may be. What was piped in before the words is never one.
    pub fn command(&self) -> Option<CommandCall> {
        let words_come_first = self.words.trim().is_empty() || self.prompt == self.words;
        let line = Some(self.prompt.trim()).filter(|_| words_come_first)?;
        // Which names there are is not known here; whether it looks like a command is.
        CommandRegistry::default().parse(line)
    }

    /// The prompt stands on the command line and was not piped in.
    pub fn is_typed(&self) -> bool {
        !self.words.trim().is_empty()
    }

    /// The words of the command line, without what was piped in.
    pub fn words(&self) -> &str {
        &self.words
    }
}

/// Puts the prompt together.
pub fn read_input(prompt: Option<&str>, query: &[String]) -> Result<PromptInput, RunFailure> {
    if prompt.is_some() && !query.is_empty() {
        let message = "say what to do either with --prompt or in plain words, not both";
        return Err(RunFailure::new(FailureKind::Input, message));
    }
    let words = prompt.map_or_else(|| query.join(" "), str::to_owned);
    let piped =
        if io::stdin().is_terminal() { PipedInput::default() } else { piped(words.trim().is_empty())? };
    join(words, &piped)
}

#[derive(Debug, Default)]
struct PipedInput {
    bytes: Vec<u8>,
    cut: bool,
}

fn join(words: String, piped: &PipedInput) -> Result<PromptInput, RunFailure> {
    let text = String::from_utf8_lossy(&piped.bytes);
    let prompt = match (text.trim().is_empty(), words.trim().is_empty()) {
        (true, true) => {
            let message = "there is nothing to do: give a prompt, as in attache -p \"explain this code\", or pipe one in";
            return Err(RunFailure::new(FailureKind::Input, message));
        }
        (true, false) => words.clone(),
        (false, true) => text.into_owned(),
        (false, false) => format!("{text}\n\n{words}"),
    };
    let warning =
        piped.cut.then(|| format!("only the first {} MiB of the piped text are used", MAX_PIPED_BYTES >> 20));
    Ok(PromptInput { prompt, warning, words })
}

fn piped(needed: bool) -> Result<PipedInput, RunFailure> {
    let (sender, receiver) = mpsc::channel();
    // Reading cannot be interrupted: a thread that waits for a silent pipe ends with the process.
    std::thread::spawn(move || read(&mut io::stdin().lock(), &sender));
    let mut piped = PipedInput::default();
    loop {
        let patience = if needed || !piped.bytes.is_empty() { Duration::MAX } else { PIPE_TIMEOUT };
        match receiver.recv_timeout(patience) {
            Ok(Ok(bytes)) => {
                piped.bytes.extend(bytes);
                if piped.bytes.len() > MAX_PIPED_BYTES {
                    piped.bytes.truncate(MAX_PIPED_BYTES);
                    piped.cut = true;
                    return Ok(piped);
                }
            }
            Ok(Err(error)) => {
                return Err(RunFailure::new(
                    FailureKind::Input,
                    format!("standard input cannot be read: {error}"),
                ));
            }
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return Ok(piped),
        }
    }
}

fn read(from: &mut impl Read, to: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let result = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Ok(buffer[..length].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let broken = result.is_err();
        if to.send(result).is_err() || broken {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(piped: &str, words: &str, expected: Option<&str>) {
        let piped = PipedInput { bytes: piped.into(), cut: false };
        let found = join(words.to_owned(), &piped).ok().map(|input| input.prompt);
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn piped_text_stands_before_the_words() {
        check("", "explain", Some("explain"));
        check("text\n", "", Some("text\n"));
        check("text", "explain", Some("text\n\nexplain"));
        check(" \n", "explain", Some("explain"));
        check("", " ", None);
    }

    #[track_caller]
    fn check_command(piped: &str, words: &str, expected: Option<&str>) {
        let piped = PipedInput { bytes: piped.into(), cut: false };
        let call = join(words.to_owned(), &piped).unwrap().command();
        assert_eq!(call.map(|call| call.line()).as_deref(), expected);
    }

    #[test]
    fn a_slash_and_a_word_may_be_a_command() {
        check_command("", "/memory show", Some("/memory show"));
        check_command("", " /memory add  two  words\n", Some("/memory add  two  words"));
        check_command("/memory show\n", "", Some("/memory show"));
        check_command("", "memory show", None);
        check_command("", "/etc/hosts is empty", None);
        check_command("", "// why?", None);
    }

    #[test]
    fn piped_text_before_words_is_no_command() {
        check_command("/deploy", "explain", None);
        check_command("text", "/memory show", None);
    }

    #[test]
    fn what_was_cut_off_is_said() {
        let piped = PipedInput { bytes: b"text".to_vec(), cut: true };
        let warning = join(String::new(), &piped).unwrap().warning.unwrap();
        assert_eq!(warning, "only the first 8 MiB of the piped text are used");
    }

    #[test]
    fn two_ways_to_say_it_are_one_too_many() {
        let failure = read_input(Some("a"), &["b".to_owned()]).unwrap_err();
        assert_eq!(failure.kind.code(), 42);
    }
}
