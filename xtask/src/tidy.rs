//! `cargo xtask tidy`: the architecture's arrows and written invariants, as checks.
//!
//! Each check has a name and says what to do about a finding. They read cargo's metadata and the text of the
//! files; they do not compile anything, so they also work on a tree that does not build.

mod arrows;
mod binary_size;
mod document_tables;
mod documents;
mod files;
mod finding;
mod fuzz_modules;
mod manifests;
mod masked_source;
mod packages;
mod plain_words;
mod source_path;
mod sources;
mod tree;

use std::process::ExitCode;

use crate::workspace::Workspace;
pub(crate) use finding::Finding;
use tree::Tree;

/// Runs every check and prints the findings.
pub(crate) fn run() -> Result<ExitCode, String> {
    let findings = check(&Workspace::load()?)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: nothing to say");
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} to put right", findings.len());
    Ok(ExitCode::FAILURE)
}

/// Every finding of every check, sorted by check and place.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>, String> {
    let tree = Tree::read(&workspace.root, &workspace.target)?;
    let mut findings = arrows::check(&workspace.members);
    findings.extend(binary_size::check(&tree));
    findings.extend(sources::check(&tree));
    findings.extend(files::check(&tree));
    findings.extend(manifests::check(&tree));
    findings.extend(packages::check(&tree, &workspace.root)?);
    findings.extend(documents::check(&tree, &workspace.members));
    findings.extend(document_tables::check(&tree));
    findings.extend(fuzz_modules::check(&tree));
    findings.extend(plain_words::check(&tree));
    findings.sort();
    Ok(findings)
}
