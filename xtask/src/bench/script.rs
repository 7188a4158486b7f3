//! The scripts of the scripted model for the stream figures.
//!
//! Not the model of the send figures: that is the instant script people are shown as an example.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A status pair is one step, and a script has a bounded number of steps.
pub(super) const STATUS_STEPS: usize = 5000;

/// Statuses a task shows for one step: the credential asked for, and the work resumed.
pub(super) const STATUSES_PER_STEP: usize = 2;

/// A piece of an artifact as long as a line of text.
const PIECE: &str = "The quick brown fox jumps over the lazy dog and goes on its way.";

/// A message that makes the model give `pieces` artifact pieces, one each `milliseconds`.
pub(super) fn pieces(pieces: usize, milliseconds: usize) -> String {
    format!("pieces {pieces} every {milliseconds}ms")
}

/// A message that makes the model go through `steps` changes of status and back.
pub(super) fn statuses(steps: usize) -> String {
    format!("statuses {steps}")
}

/// A message that is answered in [`ANSWER_PIECES`] pieces, one right after the other.
pub(super) const ANSWER: &str = "answer";
pub(super) const ANSWER_PIECES: usize = 1000;

/// A message that is answered at once.
pub(super) const AT_ONCE: &str = "at once";
/// How messages begin that are answered at once, each with a number behind it.
pub(super) const DELEGATED: &str = "delegated";
/// A message on which the model works for a long time without a word.
pub(super) const SILENCE: &str = "silence";
/// A message that is answered with a question.
pub(super) const QUESTION: &str = "question";

/// Writes the script into `folder`.
pub(super) fn write(folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("streams.yaml");
    fs::write(&path, text()).map_err(|error| format!("the stream script: {error}"))?;
    Ok(path)
}

fn text() -> String {
    let mut text = format!(
        r#"rules:
  - text: ^{AT_ONCE}$
    steps:
      - say: Done.
  - text: ^pieces (\d+) every (\d+ms)$
    steps:
      - artifact: {{ id: pieces, text: "{PIECE}", repeat: "{{{{1}}}}", every: "{{{{2}}}}" }}
  - text: ^{DELEGATED} \d+$
    steps:
      - say: Done.
  - text: ^({SILENCE}|hold \d+)$
    steps:
      - wait: 30m
  - text: ^{QUESTION}$
    steps:
      - ask: Shall I go on?
"#
    );
    let pieces = vec![format!("{PIECE:?}"); ANSWER_PIECES].join(", ");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  - text: ^{ANSWER}$\n    steps:\n      - {{ say: [{pieces}], every: 0ms }}");
    for steps in [STATUS_STEPS / 100, STATUS_STEPS] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  - text: ^{}$\n    steps:", statuses(steps));
        for _ in 0..steps {
            text.push_str("      - require_auth: { explanation: A key is needed., resume_after: 0ms }\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_captures_reach_the_script_as_placeholders() {
        let text = text();
        assert!(text.contains(r#"repeat: "{{1}}", every: "{{2}}" }"#), "{text}");
        assert_eq!(text.matches("require_auth").count(), STATUS_STEPS + STATUS_STEPS / 100);
    }
}
