//! The interop suite: published A2A clients against the real binary.
//!
//! Each client gets its own servers on free ports with empty stores. Its script under `tests/` takes the base URL, or the
//! program's path, and prints one line per case: `ok NAME`, `not ok NAME: reason`, `skip NAME: reason`.

mod case;
mod framework_table;
mod frameworks;
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
use case::CaseOutcome;
pub(crate) use frameworks::{Framework, Install, all as frameworks, run as run_framework};
pub(crate) use peers::{Client, Language, PEERS, Peer, PeerSubject};
use server::{Server, Setup};
pub(crate) use table::check as check_table;

/// The script of the model.
const MODEL_SCRIPT: &str = "examples/scripts/interop.yaml";

/// The settings of the server without authentication, and of the one that needs a token.
const OPEN: &str = "tests/interop/open.toml";
const GUARDED: &str = "tests/interop/guarded.toml";

/// Not a secret: its server lives as long as one script.
const TOKEN: &str = "token-of-the-interop-suite";

/// How much of the server's log a failure shows.
const LOG_LINES: usize = 40;

/// `cargo xtask interop [--all] [--agents] [--write] [NAME...]`: runs the suite, or only the clients whose names contain a
/// NAME.
pub(crate) fn command(arguments: Vec<String>) -> Result<ExitCode, String> {
    let choice = Options::parse(arguments)?;
    let workspace = Workspace::load()?;
    let build = ["build", "--package", "attache", "--package", "attache-testkit", "--bins", "--examples"];
    process::succeed(workspace.cargo().args(build))?;
    let (mut counts, mut cases) = (Counts::default(), Vec::new());
    for peer in PEERS.iter().filter(|peer| choice.includes_peer(peer)) {
        println!("\n== {}", peer.name);
        environment::provide(&workspace.test_tools(), &peer.client())?;
        counts.add(run(&workspace, peer, &mut cases)?);
    }
    for framework in frameworks().filter(|framework| choice.includes(framework)) {
        println!("\n== {}", framework.client.name);
        environment::provide(&workspace.test_tools(), &framework.client)?;
        // A framework that hangs does not stop the others.
        let ran = run_framework(&workspace, framework);
        counts.add(
            ran.unwrap_or_else(|message| Counts::failure(&format!("{}: {message}", framework.client.name))),
        );
    }
    println!("\n{counts}");
    if counts.failed > 0 {
        counts.failures.iter().for_each(|failure| println!("failed: {failure}"));
        return Ok(ExitCode::FAILURE);
    }
    if choice.write {
        let write = if choice.agents { table::write_agents } else { table::write };
        write(&workspace.root, &cases)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Which clients to run.
#[derive(Debug)]
struct Options {
    names: Vec<String>,
    /// Also the frameworks that take long to install.
    all: bool,
    /// Only the agents that `attache call` calls.
    agents: bool,
    write: bool,
}

const FLAGS: [&str; 3] = ["--all", "--agents", "--write"];

impl Options {
    fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let (flags, names): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|word| word.starts_with('-'));
        if let Some(unknown) = flags.iter().find(|flag| !FLAGS.contains(&flag.as_str())) {
            return Err(format!(
                "`cargo xtask interop` has no option `{unknown}`; it has {} and names of clients",
                FLAGS.map(|flag| format!("`{flag}`")).join(", ")
            ));
        }
        let has = |name: &str| flags.iter().any(|flag| flag == name);
        let (write, agents) = (has("--write"), has("--agents"));
        if write && !names.is_empty() {
            return Err("the tables are about all clients: name none with `--write`".to_owned());
        }
        Ok(Self { names, all: write || has("--all"), agents, write })
    }

    fn names(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }

    fn includes_peer(&self, peer: &Peer) -> bool {
        self.names(peer.name) && (!self.agents || peer.against == PeerSubject::Called)
    }

    /// A framework that takes long to install is run only on request.
    fn includes(&self, framework: &Framework) -> bool {
        if self.agents {
            return false;
        }
        let asked = self.all || !self.names.is_empty() || framework.install == Install::Quick;
        asked && self.names(framework.client.name)
    }
}

/// Starts the servers of a peer, runs its script, counts its cases and adds them to `cases`.
pub(crate) fn run(workspace: &Workspace, peer: &Peer, cases: &mut Vec<Case>) -> Result<Counts, String> {
    let tools = workspace.test_tools();
    let mut command = environment::script(&workspace.root, &tools, &peer.client())?;
    let folder = tools.join("run").join(peer.client().run_folder());
    let built = workspace.target.join("debug");
    let mut servers = Vec::new();
    match peer.against {
        PeerSubject::Attache => {
            servers.push(start(workspace, OPEN, &folder.join("open"), None)?);
            servers.push(start(workspace, GUARDED, &folder.join("guarded"), Some(TOKEN))?);
            command.env("INTEROP_GUARDED", &servers[1].url).env("INTEROP_TOKEN", TOKEN).arg(&servers[0].url);
        }
        PeerSubject::Program | PeerSubject::Called => {
            command.arg(built.join("attache"));
        }
        PeerSubject::ModelServer => {
            servers.push(Server::start_model(&built.join("examples").join("model_server"))?);
            command.arg(&servers[0].url);
        }
    }
    let report = script::run(&mut command, "")?;
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
    Server::start(Setup {
        binary: &workspace.target.join("debug").join("attache"),
        model: &workspace.root.join(MODEL_SCRIPT),
        settings: Some(&workspace.root.join(settings)),
        folder,
        token,
        arguments: &[],
    })
}

fn count(peer: &str, cases: &[Case]) -> Counts {
    let mut counts = Counts::default();
    for case in cases {
        match case.outcome {
            CaseOutcome::Passed => counts.passed += 1,
            CaseOutcome::Failed => counts.add(Counts::failure(&format!("{peer}: {}", case.text))),
            CaseOutcome::Skipped => counts.skipped += 1,
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

    fn choice(words: &[&str]) -> Result<Options, String> {
        Options::parse(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn a_table_is_not_written_about_some_clients_only() {
        assert!(choice(&["--write", "Python"]).unwrap_err().contains("all clients"));
        assert!(choice(&["--check"]).unwrap_err().contains("--check"));
        assert!(choice(&["--write"]).unwrap().all);
        let agents = choice(&["--agents", "--write"]).unwrap();
        assert!(frameworks().all(|framework| !agents.includes(framework)));
        let called = |peer: &&Peer| peer.against == PeerSubject::Called;
        assert!(PEERS.iter().all(|peer| agents.includes_peer(peer) == called(&peer)));
    }

    #[test]
    fn a_framework_that_installs_slowly_runs_when_it_is_asked_for() {
        let slow = frameworks().find(|framework| framework.install == Install::Slow).unwrap();
        let quick = frameworks().find(|framework| framework.install == Install::Quick).unwrap();
        let takes = |words: &[&str], framework| choice(words).unwrap().includes(framework);
        assert!(takes(&[], quick) && !takes(&[], slow));
        assert!(takes(&["--all"], quick) && takes(&["--all"], slow));
        assert!(takes(&[slow.client.name], slow) && !takes(&[slow.client.name], quick));
    }
}
