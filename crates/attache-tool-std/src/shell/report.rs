//! Reports the result of a command to the model and to people.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use attache_tool::ToolOutput;

use super::listen::Ending;
use crate::read_only::text_output;
use attache_tool::untrusted;

/// `left`: processes that the command left running.
pub(super) fn report(ending: Ending, output: &str, left: &[i32]) -> ToolOutput {
    let mut lines = Vec::new();
    if let Some(why) = why_stopped(ending) {
        lines.push(format!("{why} The output is what it had written until then."));
    }
    let output = output.trim_end();
    lines.push(format!("Output: {}", if output.is_empty() { "(empty)" } else { output }));
    if ending == Ending::Lost {
        lines.push("Error: how the command ended could not be told".into());
    }
    if let Ending::Exited(status) = ending {
        if let Some(code) = status.code().filter(|code| *code != 0) {
            lines.push(format!("Exit Code: {code}"));
        }
        if let Some(signal) = status.signal() {
            lines.push(format!("Signal: {}", signal_name(signal)));
        }
    }
    if !left.is_empty() {
        lines.push(format!("Background PIDs: {}", pid_list(left)));
    }
    // Program output is untrusted.
    text_output(untrusted(&lines.join("\n")), ended(ending))
}

/// How a command ended, in a few words.
pub(super) fn ended(ending: Ending) -> String {
    match ending {
        Ending::Exited(status) => exited(status),
        Ending::GoesOn => "running".into(),
        Ending::Lost => "ended with an unknown status".into(),
        Ending::Cancelled => "cancelled".into(),
        Ending::Silent(limit) => format!("ended after {} without output", duration_text(limit)),
        Ending::TooMuchOutput(limit) => format!("ended after writing more than {}", size(limit)),
    }
}

pub(super) fn pid_list(pids: &[i32]) -> String {
    pids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

fn exited(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("ended by {}", signal_name(signal)),
        (None, None) => "ended".into(),
    }
}

fn why_stopped(ending: Ending) -> Option<String> {
    match ending {
        Ending::Cancelled => Some("The command was cancelled by the user before it ended.".into()),
        Ending::Silent(limit) => Some(format!(
            "The command was ended because it wrote nothing for {}; run what takes longer in the background.",
            duration_text(limit)
        )),
        Ending::TooMuchOutput(limit) => Some(format!(
            "The command was ended because it wrote more than {}; let it write less, or write to a file.",
            size(limit)
        )),
        Ending::Exited(_) | Ending::GoesOn | Ending::Lost => None,
    }
}

fn duration_text(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} milliseconds", time.as_millis()),
        60 => "1 minute".into(),
        seconds if seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        1 => "1 second".into(),
        seconds => format!("{seconds} seconds"),
    }
}

fn size(bytes: u64) -> String {
    const MEGABYTE: u64 = 1 << 20;
    match bytes {
        bytes if bytes >= MEGABYTE && bytes.is_multiple_of(MEGABYTE) => format!("{} MB", bytes / MEGABYTE),
        bytes => format!("{bytes} bytes"),
    }
}

fn signal_name(number: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    let name = NAMES.iter().find(|(known, _)| *known == number);
    name.map_or_else(|| number.to_string(), |(_, name)| format!("{number} ({name})"))
}

#[cfg(test)]
mod tests {
    use attache_domain::Content;

    use super::*;

    #[track_caller]
    fn check(ending: Ending, output: &str, left: &[i32], expected: &str) {
        let report = report(ending, output, left);
        assert_eq!(report.content, [Content::Text(untrusted(expected))]);
    }

    fn exited(code: i32) -> Ending {
        Ending::Exited(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn only_what_there_is_to_say_is_said() {
        check(exited(0), "hello\n", &[], "Output: hello");
        check(exited(0), "\n", &[], "Output: (empty)");
        check(exited(3), "no\n", &[], "Output: no\nExit Code: 3");
        check(Ending::Exited(ExitStatus::from_raw(9)), "", &[], "Output: (empty)\nSignal: 9 (SIGKILL)");
        check(exited(0), "x", &[5, 7], "Output: x\nBackground PIDs: 5, 7");
    }

    #[test]
    fn limits_are_told_in_people_s_units() {
        for (time, expected) in
            [(200, "200 milliseconds"), (1_000, "1 second"), (90_000, "90 seconds"), (300_000, "5 minutes")]
        {
            assert_eq!(duration_text(Duration::from_millis(time)), expected);
        }
    }
}
