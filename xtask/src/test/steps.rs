//! The steps that are one cargo command each.

use std::path::Path;
use std::process::Command;
use std::thread;

use crate::process;
use crate::setup::{Runner, Tools};
use crate::test::Counts;
use crate::tidy;
use crate::workspace::Workspace;

/// What one build compiles, for the tests of this run.
const BUILD: [&str; 3] = ["build", "--workspace", "--all-targets"];

pub(super) fn format(workspace: &Workspace) -> Result<Counts, String> {
    one_check(workspace.cargo().args(["fmt", "--all", "--check"]))
}

pub(super) fn tidy(workspace: &Workspace) -> Result<Counts, String> {
    let findings = tidy::check(workspace)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() { Ok(Counts::success()) } else { Err(format!("{} to put right", findings.len())) }
}

pub(super) fn deny(workspace: &Workspace) -> Result<Counts, String> {
    one_check(workspace.cargo().args(["deny", "check", "bans", "licenses", "sources"]))
}

/// Builds all the tests and the binary they start. The same targets as the tests, so nothing is built twice.
pub(super) fn build(workspace: &Workspace) -> Result<Counts, String> {
    one_check(workspace.cargo().args(BUILD))
}

/// The same in a workspace that lints. Cargo repeats the warnings of what it does not compile again.
pub(super) fn lint_and_build(workspace: &Workspace) -> Result<Counts, String> {
    let mut command = workspace.cargo();
    let outcome = process::show(command.args(BUILD))?;
    match (outcome.success, warnings(&outcome.text)) {
        (true, 0) => Ok(Counts::success()),
        (true, crates) => Err(format!("{crates} targets have warnings")),
        (false, _) => Err(format!("`{}` failed", process::line(&command))),
    }
}

/// How many targets cargo names as having warnings.
fn warnings(text: &str) -> usize {
    let is_summary =
        |line: &&str| line.starts_with("warning: `") && line.contains("` (") && line.contains(" generated ");
    text.lines().filter(is_summary).count()
}

pub(super) fn tests(workspace: &Workspace, tools: &Tools, names: &[String]) -> Result<Counts, String> {
    let mut counts = match &tools.runner {
        Runner::Nextest(program) => {
            let mut command = workspace.command(program);
            let arguments = ["nextest", "run", "--workspace", "--color", "never", "--status-level", "fail"];
            command.args(arguments).args(names);
            command.args(["--test-threads", &test_threads().to_string()]);
            set_tool_variables(&mut command, tools);
            counted(&mut command, Counts::of_nextest)?
        }
        Runner::CargoTest => {
            let mut command = workspace.cargo();
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

/// Three for each core: many tests wait for a server or for a timer, and other clients run beside them.
fn test_threads() -> usize {
    thread::available_parallelism().map_or(3, |cores| 3 * cores.get())
}

/// Tells tests where third-party programs are installed. Without them, those tests skip themselves.
fn set_tool_variables(command: &mut Command, tools: &Tools) {
    if let Some(folder) = &tools.mcp_servers {
        command.env("ATTACHE_TEST_TOOLS", folder);
    }
}

pub(super) fn doc_tests(workspace: &Workspace) -> Result<Counts, String> {
    let mut command = workspace.cargo();
    command.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    counted(&mut command, Counts::of_libtest)
}

/// `cargo xtask test --peers`: another run of `program`, which is this one. Its output is shown when it has ended.
pub(super) fn run_peers(program: &Path, workspace: &Workspace) -> Result<Counts, String> {
    let mut command = workspace.command(program);
    let outcome = process::record(command.args(["test", "--peers"]))?;
    // The last line of the output is for this run alone.
    let (steps, _) = outcome.text.trim_end().rsplit_once('\n').unwrap_or((&outcome.text, ""));
    println!("{steps}");
    match Counts::of_suite(&outcome.text) {
        Some(counts) if outcome.success || counts.failed + counts.skipped > 0 => Ok(counts),
        _ => Err(format!("`{}` failed or told no result", process::line(&command))),
    }
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
    use crate::process::shell;

    #[test]
    fn a_runner_that_dies_after_good_results_is_no_success() {
        let good = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'";
        assert_eq!(counted(&mut shell(good), Counts::of_libtest).unwrap().passed, 2);
        assert!(counted(&mut shell(&format!("{good}; exit 101")), Counts::of_libtest).is_err());
        assert!(counted(&mut shell("true"), Counts::of_libtest).is_err());
    }

    #[test]
    fn a_warning_of_one_target_is_seen() {
        let text = "warning: unused variable: `y`\n --> src/main.rs:1:17\n\n\
            warning: `attache-wire` (lib) generated 2 warnings (run `cargo clippy --fix` to apply 1 suggestion)\n\
            warning: `attache-wire` (lib test) generated 2 warnings (2 duplicates)\n    Finished `dev` profile\n";
        assert_eq!(warnings(text), 2);
        assert_eq!(warnings("    Finished `dev` profile [unoptimized] target(s) in 0.02s\n"), 0);
    }

    #[test]
    fn a_failed_command_is_one_failed_check() {
        assert_eq!(one_check(&mut shell("true")).unwrap(), Counts::success());
        assert!(one_check(&mut shell("exit 1")).unwrap_err().contains("exit 1"));
    }
}
