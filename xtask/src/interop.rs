//! The interop suite: other people's A2A clients against the real binary.
//!
//! Each peer gets servers of its own on free ports with empty stores. Its script under `tests/` takes the base URL, or the
//! program's path, and prints one line per case: `ok NAME`, `not ok NAME: reason`, `skip NAME: reason`.

mod case;
mod peers;
mod script;
mod server;
mod table;

use std::path::Path;
use std::process::ExitCode;

use crate::process;
use crate::setup::environment;
use crate::test::Counts;
use crate::workspace::Workspace;
pub(crate) use case::Case;
use case::Verdict;
pub(crate) use peers::{Against, Language, PEERS, Peer};
use server::Server;
pub(crate) use table::check as check_table;

/// The model the servers answer with.
const MODEL_SCRIPT: &str = "examples/scripts/interop.yaml";

/// The settings of the server that is open to everybody on this machine, and of the one that asks for a token.
const OPEN: &str = "tests/interop/open.toml";
const GUARDED: &str = "tests/interop/guarded.toml";

/// No secret: the server that asks for it lives as long as one script.
const TOKEN: &str = "token-of-the-interop-suite";

/// How much of the server's log a failure shows.
const LOG_LINES: usize = 40;

/// `cargo xtask interop [--write] [NAME...]`: the suite alone, or those of its peers whose names contain a NAME.
pub(crate) fn command(arguments: Vec<String>) -> Result<ExitCode, String> {
    let (flags, names): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|word| word.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|flag| *flag != "--write") {
        return Err(format!(
            "`cargo xtask interop` has no option `{unknown}`; it has `--write` and names of peers"
        ));
    }
    let write = !flags.is_empty();
    if write && !names.is_empty() {
        return Err("the table is about all peers: name none with `--write`".to_owned());
    }
    let named = |peer: &&Peer| names.is_empty() || names.iter().any(|name| peer.name.contains(name.as_str()));
    let workspace = Workspace::load()?;
    let build = ["build", "--package", "attache", "--package", "attache-testkit", "--bins", "--examples"];
    process::succeed(process::cargo(&workspace.root).args(build))?;
    let (mut counts, mut cases) = (Counts::default(), Vec::new());
    for peer in PEERS.iter().filter(named) {
        println!("\n== {}", peer.name);
        environment::provide(&workspace.test_tools(), peer)?;
        counts.add(run(&workspace, peer, &mut cases)?);
    }
    println!("\n{counts}");
    if counts.failed > 0 {
        counts.failures.iter().for_each(|failure| println!("failed: {failure}"));
        return Ok(ExitCode::FAILURE);
    }
    if write {
        table::write(&workspace.root, &cases)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts what the peer's script is run against, runs it, counts its cases and adds them to `cases`.
pub(crate) fn run(workspace: &Workspace, peer: &Peer, cases: &mut Vec<Case>) -> Result<Counts, String> {
    let tools = workspace.test_tools();
    let mut command = environment::script(&workspace.root, &tools, peer)?;
    let folder = tools.join("run").join(peer.run_folder());
    let built = workspace.target.join("debug");
    let mut servers = Vec::new();
    match peer.against {
        Against::Attache => {
            servers.push(start(workspace, OPEN, &folder.join("open"), None)?);
            servers.push(start(workspace, GUARDED, &folder.join("guarded"), Some(TOKEN))?);
            command.env("INTEROP_GUARDED", &servers[1].url).env("INTEROP_TOKEN", TOKEN).arg(&servers[0].url);
        }
        Against::Program => {
            command.arg(built.join("attache"));
        }
        Against::ModelServer => {
            servers.push(Server::start_model(&built.join("examples").join("model_server"))?);
            command.arg(&servers[0].url);
        }
    }
    let report = script::run(&mut command)?;
    let counts = count(peer.name, &report.cases);
    if counts.failed > 0 || !report.ended_well() {
        for server in &servers {
            eprintln!("--- a server's log, its last {LOG_LINES} lines:\n{}", server.log_tail(LOG_LINES));
        }
    }
    report.check_end(&counts)?;
    cases.extend(report.cases);
    Ok(counts)
}

fn start(
    workspace: &Workspace,
    settings: &str,
    folder: &Path,
    token: Option<&str>,
) -> Result<Server, String> {
    let binary = workspace.target.join("debug").join("attache");
    Server::start(&binary, &workspace.root.join(MODEL_SCRIPT), &workspace.root.join(settings), folder, token)
}

fn count(peer: &str, cases: &[Case]) -> Counts {
    let mut counts = Counts::default();
    for case in cases {
        match case.verdict {
            Verdict::Passed => counts.passed += 1,
            Verdict::Failed => counts.add(Counts::failure(&format!("{peer}: {}", case.text))),
            Verdict::Skipped => counts.skipped += 1,
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_counted_and_failures_are_named() {
        let lines = ["ok a", "not ok card: no", "skip b: c", "ok d"];
        let cases: Vec<Case> = lines.into_iter().filter_map(Case::parse).collect();
        let counts = count("peer", &cases);
        assert_eq!(counts.to_string(), "2 passed, 1 failed, 1 skipped");
        assert_eq!(counts.failures, ["peer: card: no"]);
    }

    #[test]
    fn a_table_is_not_written_about_some_peers_only() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert!(command(words(&["--write", "Python"])).unwrap_err().contains("all peers"));
        assert!(command(words(&["--check"])).unwrap_err().contains("--check"));
    }
}
