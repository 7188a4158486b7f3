//! The output format, if the command line does not name one.

use attache_headless::OutputFormat;
use attache_workspace::{AgentFlags, ChosenBy, Project, ProjectQuery};

use super::arguments::HeadlessArguments;

/// The format of the settings. Mistakes in them are reported later, as text.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
pub(super) fn format_from_settings(arguments: &HeadlessArguments) -> Option<OutputFormat> {
    let current_dir = std::env::current_dir().ok()?;
    let environment = |name: &str| crate::environment::variable(name);
    let operator = attache_workspace::load_operator(arguments.into(), &environment, &current_dir).ok()?;
    let flags = AgentFlags::from(arguments);
    let folder = operator.workspace.as_path();
    let place = ProjectQuery {
        folder,
        chosen_by: ChosenBy::Operator,
        flags: &flags,
        environment: &environment,
        operator: &operator,
    };
    Some(match Project::read(place).ok()?.settings.output_format {
        attache_workspace::OutputFormat::Text => OutputFormat::Text,
        attache_workspace::OutputFormat::Json => OutputFormat::Json,
        attache_workspace::OutputFormat::StreamJson => OutputFormat::StreamJson,
    })
}
