//! Counts instructions per request with valgrind: slow, but without noise.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::server::Server;
use super::workbench::Workbench;

/// Two runs of different length; their difference holds no start-up and no shutdown.
const FEW: u64 = 500;
const MANY: u64 = 1500;

/// One Markdown table.
pub(super) fn measure(workbench: &Workbench) -> Result<String, String> {
    let bare = per_request(workbench, "bare", |tool| workbench.start_bare_under(tool))?;
    let attache = per_request(workbench, "attache", |tool| workbench.start_attache_under(tool))?;
    Ok(format!(
        "| instructions per request | |\n|---|---|\n| bare echo | {bare:.0} |\n\
         | `SendMessage`, memory | {attache:.0} |\n| ratio | {:.2} |",
        attache / bare
    ))
}

fn per_request(
    workbench: &Workbench,
    name: &str,
    start: impl Fn(Command) -> Result<Server, String>,
) -> Result<f64, String> {
    let mut totals = [0.0; 2];
    for (total, requests) in totals.iter_mut().zip([FEW, MANY]) {
        let file = workbench.file(&format!("callgrind.{name}.{requests}"));
        let mut tool = Command::new("valgrind");
        tool.args(["--tool=callgrind", &format!("--callgrind-out-file={file}")]);
        let server = start(tool)?;
        let arguments = ["send", "--connections", "8", "--requests", &requests.to_string()];
        workbench.measure(&server, &arguments)?;
        server.stop()?;
        *total = total_of(Path::new(&file))?;
    }
    Ok((totals[1] - totals[0]) / (MANY - FEW) as f64)
}

fn total_of(file: &Path) -> Result<f64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("callgrind's result: {error}"))?;
    total_in(&text).ok_or_else(|| "callgrind's result has no total".to_owned())
}

/// The last `totals:` or `summary:` line counts the whole run.
fn total_in(text: &str) -> Option<f64> {
    let prefixes = ["totals:", "summary:"];
    let line =
        text.lines().rev().find_map(|line| prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_the_end_of_the_file() {
        assert_eq!(total_in("events: Ir\nfn=main\n1 20\ntotals: 12345\n"), Some(12_345.0));
        assert_eq!(total_in("events: Ir\n"), None);
    }
}
