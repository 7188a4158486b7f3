//! Asks the agent that is part of the program.

use std::process::ExitCode;

use anyhow::anyhow;
use attache_help::Manual;
use attache_workspace::Project;

use super::arguments::FolderArguments;
use super::{is_built_in, print, read_project};
use crate::ProcessContext;
use crate::report::with_hint;

pub(super) fn run(
    project: &Project,
    manual: &Manual,
    name: &str,
    words: &[String],
) -> anyhow::Result<ExitCode> {
    if !is_built_in(name) {
        let error = anyhow!("{name:?} is not built in");
        return Err(with_hint(error, "`attache call NAME TEXT` calls the agent of an agent file"));
    }
    print(&answer(project, manual, name, &words.join(" "))?).map(|()| ExitCode::SUCCESS)
}

/// The answer of a built-in agent.
pub(crate) fn built_in_answer(
    name: &str,
    question: &str,
    process: ProcessContext<'_>,
    manual: &Manual,
) -> anyhow::Result<String> {
    answer(&read_project(FolderArguments::default(), process)?, manual, name, question)
}

fn answer(project: &Project, manual: &Manual, name: &str, question: &str) -> anyhow::Result<String> {
    if let Some(origin) = project.settings.agent_overrides.disabled_in(name) {
        let error = anyhow!("the agent {name} is disabled in {origin}");
        return Err(with_hint(error, format!("`attache agents enable {name}` enables it")));
    }
    Ok(manual.answer(question))
}
