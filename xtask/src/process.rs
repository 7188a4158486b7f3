//! Runs other programs, silently or with their output shown and recorded.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program printed, standard output first, and whether it succeeded.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) text: String,
}

/// `cargo` in `folder`.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder);
    command
}

/// Does `program` start and succeed with `arguments`? Nothing is shown.
pub(crate) fn works(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The standard output of a program that must succeed; its standard error becomes the message otherwise.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        return Err(format!("{}\n{}", failed(command), String::from_utf8_lossy(&output.stderr).trim_end()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{}` printed no UTF-8", line(command)))
}

/// Runs a program that must succeed; all it printed becomes the message otherwise.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(());
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{}\n{}\n{}", failed(command), stdout.trim_end(), stderr.trim_end()))
}

/// Runs a program, shows its output and keeps a copy.
pub(crate) fn show(command: &mut Command) -> Result<Outcome, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| not_started(command, &error))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut text = Vec::new();
    std::thread::scope(|scope| {
        let printed = scope.spawn(|| stdout.map(|stream| tee(stream, std::io::stdout())));
        let complained = stderr.map(|stream| tee(stream, std::io::stderr()));
        text.extend(printed.join().ok().flatten().unwrap_or_default());
        text.extend(complained.unwrap_or_default());
    });
    let status = child.wait().map_err(|error| format!("waiting for `{}`: {error}", line(command)))?;
    Ok(Outcome { success: status.success(), text: String::from_utf8_lossy(&text).into_owned() })
}

/// Runs a program and keeps its output without showing it. Its standard error is shown.
pub(crate) fn record(command: &mut Command) -> Result<Outcome, String> {
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| not_started(command, &error))?;
    Ok(Outcome {
        success: output.status.success(),
        text: String::from_utf8_lossy(&output.stdout).into_owned(),
    })
}

/// The command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn tee(mut from: impl Read, mut to: impl Write) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 8192]);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        // A closed terminal must not stop the run; the copy is what counts.
        let _ = to.write_all(&buffer[..length]).and_then(|()| to.flush());
        kept.extend_from_slice(&buffer[..length]);
    }
    kept
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not be started: {error}", line(command))
}

fn failed(command: &Command) -> String {
    format!("`{}` failed:", line(command))
}

/// A command of the shell, for tests.
#[cfg(test)]
pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_failure_are_kept() {
        let outcome = show(&mut shell("echo out; echo err >&2; exit 3")).unwrap();
        assert!(!outcome.success);
        assert!(outcome.text.contains("out\n") && outcome.text.contains("err\n"), "{}", outcome.text);
    }

    #[test]
    fn a_failed_program_tells_what_it_printed() {
        let message = succeed(&mut shell("echo no network; exit 1")).unwrap_err();
        assert!(message.contains("no network"), "{message}");
        assert!(stdout_of(&mut shell("echo broken >&2; false")).unwrap_err().contains("broken"));
    }

    #[test]
    fn a_missing_program_does_not_work() {
        assert!(!works("attache-no-such-program", &[]));
        assert!(works("sh", &["-c", "true"]));
    }
}
