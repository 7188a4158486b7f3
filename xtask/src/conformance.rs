//! `cargo xtask conformance`: the conformance suite against attache, against any server, or against all its subjects.
//!
//! The suite itself is the crate `attache-conformance`, a program that takes a URL. This module starts the servers,
//! counts the results, and writes them to `docs/conformance.md`.

mod document;
mod server;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::process;
use crate::test::Counts;
use crate::workspace::Workspace;
use subject::{SUBJECTS, Subject};

const USAGE: &str = "\
usage: cargo xtask conformance [URL] [OPTION...]   check attache, or the server at URL
       cargo xtask conformance --check             what `cargo xtask test` does: no check may fail on attache
       cargo xtask conformance --subjects          check attache and the SDKs' servers, and renew docs/conformance.md

Options go to the suite: --token-file FILE, --only ID, --jobs N, --json, --json-file FILE, --strict";

/// `cargo xtask conformance [URL] [OPTION...]`, or `--subjects`.
pub(crate) fn command(arguments: Vec<String>) -> Result<ExitCode, String> {
    if arguments.iter().any(|word| word == "--help" || word == "-h") {
        println!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = Workspace::load()?;
    build(&workspace)?;
    match arguments.iter().find(|word| matches!(word.as_str(), "--subjects" | "--check")) {
        Some(word) if arguments.len() > 1 => return Err(format!("`{word}` stands alone\n\n{USAGE}")),
        Some(word) if word == "--check" => return checked(&workspace),
        Some(_) => return all_subjects(&workspace),
        None => {}
    }
    let mut suite = suite(&workspace);
    let names_a_server =
        arguments.iter().any(|word| word.starts_with("http://") || word.starts_with("https://"));
    // Lives until the suite is done.
    let attache = if names_a_server { None } else { Some(SUBJECTS[0].start(&workspace)?) };
    if let Some(attache) = &attache {
        suite.arg(&attache.server.url);
        suite.args(attache.token_file.iter().flat_map(|file| ["--token-file".as_ref(), file.as_os_str()]));
    }
    let status = suite.args(&arguments).status();
    let status =
        status.map_err(|error| format!("`{}` could not be started: {error}", process::line(&suite)))?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(2)).unwrap_or(2)))
}

fn checked(workspace: &Workspace) -> Result<ExitCode, String> {
    let counts = check(workspace)?;
    println!("{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The step of `cargo xtask test`: every check on attache counts, and none may fail.
pub(crate) fn check(workspace: &Workspace) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for subject in SUBJECTS.iter().filter(|subject| subject.is_attache()) {
        println!("   {}:", subject.name);
        counts.add(count(subject, &run(workspace, subject)?));
    }
    Ok(counts)
}

fn count(subject: &Subject, report: &Value) -> Counts {
    let mut counts = Counts { passed: number(report, "passed"), ..Counts::default() };
    for word in report["disobeyed"].as_array().into_iter().flatten() {
        counts.add(Counts::failure(&format!("conformance: {} does not obey {}", subject.name, word["word"])));
    }
    for check in report["checks"].as_array().into_iter().flatten() {
        for (pair, result) in check["results"].as_object().into_iter().flatten() {
            if result["result"] == "fail" {
                let (id, reason) = (text(check, "id"), text(result, "reason"));
                println!("   {id} on {pair}: {reason}");
                counts.add(Counts::failure(&format!("conformance of {}: {id} on {pair}", subject.name)));
            }
        }
    }
    counts
}

fn all_subjects(workspace: &Workspace) -> Result<ExitCode, String> {
    let mut reports = Vec::new();
    for subject in SUBJECTS {
        println!("== {}", subject.name);
        reports.push((subject, run(workspace, subject)?));
    }
    let missing = document::unexpected(&reports);
    document::write(&workspace.root, &reports)?;
    for line in &missing {
        println!("{line}");
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Starts the subject, runs the suite on it and reads its report.
fn run(workspace: &Workspace, subject: &Subject) -> Result<Value, String> {
    let started = subject.start(workspace)?;
    let file = results(workspace, subject.folder)?;
    let mut suite = suite(workspace);
    suite.arg(&started.server.url).arg("--json-file").arg(&file);
    if let Some(token_file) = &started.token_file {
        suite.arg("--token-file").arg(token_file);
    }
    let output = suite.output().map_err(|error| format!("starting the suite: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let Some(code @ (0 | 1)) = output.status.code() else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the suite could not check {}: {}", subject.name, complaint.trim_end()));
    };
    println!("   {} (exit code {code})", printed.trim_end().lines().next_back().unwrap_or_default());
    read(&file)
}

fn results(workspace: &Workspace, folder: &str) -> Result<PathBuf, String> {
    let folder = workspace.test_tools().join("run").join(folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    let file = folder.join("conformance.json");
    // Removes the results of an earlier run.
    let _ = std::fs::remove_file(&file);
    Ok(file)
}

fn read(file: &Path) -> Result<Value, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("reading {}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{} is no JSON: {error}", file.display()))
}

fn build(workspace: &Workspace) -> Result<(), String> {
    let arguments = ["build", "--package", "attache", "--package", "attache-conformance", "--bins"];
    process::succeed(workspace.cargo().args(arguments))
}

fn suite(workspace: &Workspace) -> Command {
    Command::new(workspace.target.join("debug").join("attache-conformance"))
}

fn number(value: &Value, member: &str) -> usize {
    value[member].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}
