//! The steps that are one cargo command each.

use std::process::Command;
use std::thread;

use crate::process;
use crate::setup::{Runner, Tools};
use crate::test::Counts;
use crate::tidy;
use crate::workspace::Workspace;

pub(super) fn format(workspace: &Workspace) -> Result<Counts, String> {
    one_check(process::cargo(&workspace.root).args(["fmt", "--all", "--check"]))
}

pub(super) fn clippy(workspace: &Workspace) -> Result<Counts, String> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    one_check(process::cargo(&workspace.root).args(arguments))
}

pub(super) fn tidy(workspace: &Workspace) -> Result<Counts, String> {
    let findings = tidy::check(workspace)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() { Ok(Counts::success()) } else { Err(format!("{} to put right", findings.len())) }
}

pub(super) fn deny(workspace: &Workspace) -> Result<Counts, String> {
    one_check(process::cargo(&workspace.root).args(["deny", "check", "bans", "licenses", "sources"]))
}

/// Builds all the tests and the binary they start. The same targets as the tests, so nothing is built twice.
pub(super) fn build(workspace: &Workspace) -> Result<Counts, String> {
    one_check(process::cargo(&workspace.root).args(["build", "--workspace", "--all-targets"]))
}

pub(super) fn tests(workspace: &Workspace, tools: &Tools, names: &[String]) -> Result<Counts, String> {
    let mut counts = match &tools.runner {
        Runner::Nextest(program) => {
            let mut command = Command::new(program);
            let arguments = ["nextest", "run", "--workspace", "--color", "never", "--status-level", "fail"];
            command.current_dir(&workspace.root).args(arguments).args(names);
            command.args(["--test-threads", &test_threads().to_string()]);
            set_tool_variables(&mut command, tools);
            counted(&mut command, Counts::of_nextest)?
        }
        Runner::CargoTest => {
            let mut command = process::cargo(&workspace.root);
            command.args(["test", "--workspace", "--all-targets", "--no-fail-fast", "--"]).args(names);
            set_tool_variables(&mut command, tools);
            counted(&mut command, Counts::of_libtest)?
        }
    };
    if !names.is_empty() {
        // nextest counts tests that were not asked for as skipped.
        counts.skipped = 0;
    }
    Ok(counts)
}

/// Two for each core: many tests wait for a server or for a timer.
fn test_threads() -> usize {
    thread::available_parallelism().map_or(2, |cores| 2 * cores.get())
}

/// Tells tests where third-party programs are installed. Without them, those tests skip themselves.
fn set_tool_variables(command: &mut Command, tools: &Tools) {
    if let Some(folder) = &tools.mcp_servers {
        command.env("ATTACHE_TEST_TOOLS", folder);
    }
}

pub(super) fn doc_tests(workspace: &Workspace) -> Result<Counts, String> {
    let mut command = process::cargo(&workspace.root);
    command.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    counted(&mut command, Counts::of_libtest)
}

fn one_check(command: &mut Command) -> Result<Counts, String> {
    if process::show(command)?.success {
        return Ok(Counts::success());
    }
    Err(format!("`{}` failed", process::line(command)))
}

/// Runs a test runner and reads its counts. A failure that the counts do not show is an error.
pub(crate) fn counted(
    command: &mut Command,
    read: impl Fn(&str) -> Option<Counts>,
) -> Result<Counts, String> {
    let outcome = process::show(command)?;
    match read(&outcome.text) {
        Some(counts) if outcome.success || counts.failed > 0 => Ok(counts),
        _ => Err(format!("`{}` failed or told no result", process::line(command))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_runner_that_dies_after_good_results_is_no_success() {
        let good = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'";
        assert_eq!(counted(&mut shell(good), Counts::of_libtest).unwrap().passed, 2);
        assert!(counted(&mut shell(&format!("{good}; exit 101")), Counts::of_libtest).is_err());
        assert!(counted(&mut shell("true"), Counts::of_libtest).is_err());
    }

    #[test]
    fn a_failed_command_is_one_failed_check() {
        assert_eq!(one_check(&mut shell("true")).unwrap(), Counts::success());
        assert!(one_check(&mut shell("exit 1")).unwrap_err().contains("exit 1"));
    }
}
