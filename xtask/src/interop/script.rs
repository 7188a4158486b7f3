//! Runs a peer's script: shows what it prints, keeps its cases, ends it when it hangs.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::interop::case::Case;
use crate::process;
use crate::test::Counts;

/// A suite takes seconds; a minute of silence at its end would be a hang. A framework has six steps of half a minute.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(240);

#[derive(Debug)]
pub(super) struct Report {
    pub(super) cases: Vec<Case>,
    end: End,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Success,
    Failure(String),
    Hang,
}

/// Shows the output of the script with `label` in front of each line.
pub(super) fn run(command: &mut Command, label: &str) -> Result<Report, String> {
    run_within(command, label, SCRIPT_TIMEOUT)
}

fn run_within(command: &mut Command, label: &str, limit: Duration) -> Result<Report, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let started = command.spawn();
    let mut child =
        started.map_err(|error| format!("`{}` did not start: {error}", process::line(command)))?;
    let stdout = child.stdout.take();
    let label = label.to_owned();
    let reader = std::thread::spawn(move || {
        stdout.map(|stream| read(BufReader::new(stream), &label)).unwrap_or_default()
    });
    let end = wait(&mut child, limit);
    let cases = reader.join().map_err(|_| "reading the script's output failed".to_owned())?;
    Ok(Report { cases, end })
}

impl Report {
    pub(super) fn ended_well(&self) -> bool {
        self.end == End::Success && !self.cases.is_empty()
    }

    /// An error that the counts do not show: no case at all, or an exit code that does not fit the cases.
    pub(super) fn check_end(&self, counts: &Counts) -> Result<(), String> {
        match &self.end {
            End::Hang => Err(format!("the script was still running after {} s", SCRIPT_TIMEOUT.as_secs())),
            End::Failure(status) if counts.failed == 0 => {
                Err(format!("no case failed but the script did: {status}"))
            }
            _ if self.cases.is_empty() => Err("the script told no case".to_owned()),
            _ => Ok(()),
        }
    }
}

fn read(lines: impl BufRead, label: &str) -> Vec<Case> {
    let shown = lines.lines().map_while(Result::ok).inspect(|line| println!("   {label}{line}"));
    shown.filter_map(|line| Case::parse(&line)).collect()
}

fn wait(child: &mut Child, limit: Duration) -> End {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return End::Success,
            Ok(Some(status)) => return End::Failure(status.to_string()),
            Err(error) => return End::Failure(error.to_string()),
            Ok(None) if start.elapsed() > limit => {
                // It may have exited already.
                let _ = child.kill();
                let _ = child.wait();
                return End::Hang;
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interop::case::CaseOutcome;

    #[track_caller]
    fn check(script: &str, limit: Duration, expected: Result<usize, &str>) {
        let mut command = Command::new("sh");
        let report = run_within(command.args(["-c", script]), "", limit).unwrap();
        let failed = report.cases.iter().filter(|case| case.outcome == CaseOutcome::Failed).count();
        let end = report.check_end(&Counts { failed, ..Counts::default() });
        match (expected, end) {
            (Ok(cases), Ok(())) => assert_eq!(report.cases.len(), cases),
            (Err(expected), Err(message)) => assert!(message.contains(expected), "{message}"),
            (expected, found) => panic!("expected {expected:?}, found {found:?}"),
        }
    }

    #[test]
    fn a_script_is_believed_only_when_its_end_fits_its_cases() {
        let limit = Duration::from_secs(20);
        check("echo ok a; echo noise; echo skip b: c", limit, Ok(2));
        check("echo ok a; echo not ok b: c; exit 1", limit, Ok(2));
        check("echo ok a; exit 1", limit, Err("no case failed but the script did"));
        check("echo nothing", limit, Err("told no case"));
    }

    #[test]
    fn a_script_that_hangs_is_ended() {
        check("echo ok a; exec sleep 600", Duration::from_millis(100), Err("still running"));
    }
}
