//! Summarizes the result of a command.

use super::ResultSummary;
use super::excerpt::{block, inline};

/// The lines that can follow the output, each once, in this order.
const AFTER: [&str; 5] = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

pub(super) fn summarize(command: &str, text: &str) -> ResultSummary {
    let text = without_marks(text);
    let (before, rest) = match text.split_once("Output: ") {
        Some((before, rest)) if before.is_empty() || before.ends_with('\n') => (before.trim(), rest),
        _ => ("", text.as_str()),
    };
    let (output, remarks) = output_and_remarks(rest);
    let mut lines = vec![format!("I ran {}.", inline(command))];
    let mut went_well = before.is_empty();
    if !before.is_empty() {
        lines.push(before.to_owned());
    }
    for (label, value) in remarks {
        lines.push(match label {
            "Exit Code: " => format!("Exit code {value}: it did not succeed."),
            "Signal: " => format!("It was ended by signal {value}."),
            "Error: " => format!("Something went wrong: {value}."),
            label => format!("{label}{value}."),
        });
        went_well &= !matches!(label, "Exit Code: " | "Signal: " | "Error: ");
    }
    let output = output.trim_end();
    let text = if output.is_empty() || output == "(empty)" {
        format!("{} It wrote nothing.", lines.join(" "))
    } else {
        // An error is usually at the end.
        format!("{} It wrote:\n\n{}", lines.join(" "), block(output, "", (10, 30)))
    };
    ResultSummary { text, went_well }
}

/// Removes the lines that mark untrusted text for a language model.
fn without_marks(text: &str) -> String {
    let is_mark = |line: &&str| ["<untrusted_context>", "</untrusted_context>"].contains(line);
    text.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n")
}

fn output_and_remarks(text: &str) -> (&str, Vec<(&'static str, &str)>) {
    let mut output = text;
    let mut remarks = Vec::new();
    for label in AFTER.into_iter().rev() {
        let (before, last) = output.rsplit_once('\n').unwrap_or(("", output));
        if let Some(value) = last.strip_prefix(label).filter(|_| output.contains('\n')) {
            remarks.insert(0, (label, value));
            output = before;
        }
    }
    (output, remarks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, went_well: bool, expected: &str) {
        let account = summarize("make", text);
        assert_eq!((account.text.as_str(), account.went_well), (expected, went_well));
    }

    #[test]
    fn a_command_is_told_by_its_end_and_its_output() {
        check("Output: (empty)", true, "I ran `make`. It wrote nothing.");
        check("Output: a\nb", true, "I ran `make`. It wrote:\n\n```\na\nb\n```");
        check(
            "Output: no\nExit Code: 1",
            false,
            "I ran `make`. Exit code 1: it did not succeed. It wrote:\n\n```\nno\n```",
        );
        check(
            "Output: (empty)\nSignal: 9 (SIGKILL)",
            false,
            "I ran `make`. It was ended by signal 9 (SIGKILL). It wrote nothing.",
        );
        check(
            "Output: x\nBackground PIDs: 5, 7",
            true,
            "I ran `make`. Background PIDs: 5, 7. It wrote:\n\n```\nx\n```",
        );
        check(
            "The command was ended because it took too long.\nOutput: x",
            false,
            "I ran `make`. The command was ended because it took too long. It wrote:\n\n```\nx\n```",
        );
        check(
            "<untrusted_context>\nOutput: a\nExit Code: 3\n</untrusted_context>",
            false,
            "I ran `make`. Exit code 3: it did not succeed. It wrote:\n\n```\na\n```",
        );
        check("something else", true, "I ran `make`. It wrote:\n\n```\nsomething else\n```");
        check("", true, "I ran `make`. It wrote nothing.");
    }
}
