//! Runs the program of a framework, once for each interface.

use std::fs;

use super::judging::judge;
use super::{Framework, Interface};
use crate::interop::script::{self, Report};
use crate::interop::server::{Server, Setup};
use crate::interop::{LOG_LINES, case::CaseOutcome};
use crate::setup::environment;
use crate::test::Counts;
use crate::workspace::Workspace;

/// The script of the model.
const MODEL_SCRIPT: &str = "examples/scripts/frameworks.yaml";

/// Runs both interfaces at the same time: most of the time is the start of the framework.
pub(crate) fn run(workspace: &Workspace, framework: &Framework) -> Result<Counts, String> {
    let runs = std::thread::scope(|scope| {
        let begin = |interface| scope.spawn(move || one(workspace, framework, interface));
        Interface::ALL.map(begin).map(|run| run.join().unwrap_or_else(|_| Err("a run panicked".to_owned())))
    });
    let mut counts = Counts::default();
    for run in runs {
        counts.add(run?);
    }
    Ok(counts)
}

fn one(workspace: &Workspace, framework: &Framework, interface: Interface) -> Result<Counts, String> {
    let (tools, client) = (workspace.test_tools(), &framework.client);
    let folder = tools.join("run").join(format!("{}-{}", client.run_folder(), interface.name()));
    let server = Server::start(Setup {
        binary: &workspace.target.join("debug").join("attache"),
        model: &workspace.root.join(MODEL_SCRIPT),
        settings: None,
        folder: &folder,
        token: None,
        arguments: interface.arguments(),
    })?;
    let mut command = environment::script(&workspace.root, &tools, client)?;
    // A new home, so that no run finds files of another run or of the user.
    let home = folder.join("home");
    fs::create_dir_all(&home).map_err(|error| format!("making {}: {error}", home.display()))?;
    let report = script::run(command.env("HOME", home).arg(&server.url), &format!("{}: ", interface.name()))?;
    let counts = judge(framework, interface, &report.cases);
    if counts.failed > 0 {
        eprintln!("--- the server's log, its last {LOG_LINES} lines:\n{}", server.log_tail(LOG_LINES));
    }
    report.check_end(&failures(&report))?;
    Ok(counts)
}

/// All failures that the program reports, known or not.
fn failures(report: &Report) -> Counts {
    let failed = report.cases.iter().filter(|case| case.outcome == CaseOutcome::Failed).count();
    Counts { failed, ..Counts::default() }
}
