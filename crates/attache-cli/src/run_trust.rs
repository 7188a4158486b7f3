//! Decides whether the folder's own files count in this run. Asks once if a person is at the terminal.

use std::io::{self, IsTerminal};

use anyhow::Error;
use attache_config::{Environment, Settings};
use attache_workspace::{
    AgentFlags, ChosenBy, FolderTrust, HomeFolders, Project, ProjectQuery, TrustedFolders,
    accept_for_this_run, visible,
};

use crate::standard_streams::{stderr, tell};
use crate::trust::{TrustAnswer, accept, ask, describe};

/// Why a run may not begin.
#[derive(Debug)]
pub enum TrustRefusal {
    /// Folder trust is switched on, and the folder is not trusted.
    Untrusted(String),
    /// The settings, or what they name, are wrong.
    Settings(Error),
}

/// Decides, and reports on stderr what is ignored.
pub fn resolve_trust(
    settings: &Settings,
    flags: &mut AgentFlags,
    environment: Environment<'_>,
) -> Result<(), TrustRefusal> {
    let wrong = |error: Error| TrustRefusal::Settings(error);
    let folder = settings.workspace.as_path();
    let accepted = accept_for_this_run(flags, folder, environment, settings);
    for allowance in accepted.map_err(|error| wrong(error.into()))? {
        let place = visible(&allowance.origin.to_string());
        tell(format_args!("[TRUST] accepted for this run: {} ({place})", allowance.words));
    }
    let read = |flags: &AgentFlags| {
        let place =
            ProjectQuery { folder, chosen_by: ChosenBy::Operator, flags, environment, operator: settings };
        Project::read(place).map_err(|error| wrong(error.into()))
    };
    let mut project = read(flags)?;
    if may_ask(&project) {
        question(&project, &HomeFolders::of(environment)).map_err(wrong)?;
        project = read(flags)?;
    }
    let trust = &project.project_trust.trust;
    // With folder trust switched on, nothing is done in other folders.
    if !trust.is_trusted() && project.settings.security.folder_trust == Some(true) {
        let message =
            format!("{} is not trusted: {}; --trust trusts it for this run", folder.display(), trust.why());
        return Err(TrustRefusal::Untrusted(message));
    }
    if let Some(notice) = project.notice() {
        tell(format_args!("[WARNING] {notice}"));
    }
    Ok(())
}

/// Something is ignored that a person at the terminal could accept.
fn may_ask(project: &Project) -> bool {
    let decided = matches!(project.project_trust.trust, FolderTrust::Untrusted { decided: true, .. });
    !project.report.is_quiet() && !decided && io::stdin().is_terminal() && stderr().is_terminal()
}

fn question(project: &Project, homes: &HomeFolders) -> anyhow::Result<()> {
    tell(format_args!("{}", describe(project)));
    match ask("Do you trust the files in this folder?")? {
        TrustAnswer::Yes => accept(homes, project)?,
        TrustAnswer::No if !project.project_trust.is_trusted() => {
            TrustedFolders::save(homes, &project.folder, false)?;
            tell(format_args!(
                "It is not trusted, and you will not be asked again; `attache trust` changes that."
            ));
        }
        TrustAnswer::No | TrustAnswer::Later => {}
    }
    Ok(())
}
