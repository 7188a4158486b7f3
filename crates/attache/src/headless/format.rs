//! What is printed when the command line does not say it.

use std::path::PathBuf;

use attache_config::{AgentFlags, ChosenBy, Sources, WorkspaceSettings, look_up_trust};

use super::arguments::{HeadlessArguments, OutputFormat};

/// As the settings say. Whatever is wrong with them is told later, as text.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
pub(super) fn of_settings(arguments: &HeadlessArguments) -> Option<OutputFormat> {
    let current_dir = std::env::current_dir().ok()?;
    let environment = |name: &str| crate::environment::variable(name);
    let operator = attache_config::load(arguments.into(), &environment, &current_dir).ok()?;
    let flags = AgentFlags::from(arguments);
    let workspace = &operator.workspace;
    let trust = look_up_trust(workspace, ChosenBy::Operator, &flags, &environment, &operator).ok()?;
    let home = environment("HOME").map(PathBuf::from);
    let settings = WorkspaceSettings::load(&Sources {
        workspace,
        home: home.as_deref(),
        flags: &flags,
        environment: &environment,
        operator: &operator,
        trusted: trust.is_trusted(),
    });
    Some(match settings.ok()?.output_format {
        attache_config::OutputFormat::Text => OutputFormat::Text,
        attache_config::OutputFormat::Json => OutputFormat::Json,
        attache_config::OutputFormat::StreamJson => OutputFormat::StreamJson,
    })
}
