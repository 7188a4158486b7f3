//! `attache config show`: prints the effective settings and their origins.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use attache_config::{Flags, SettingEntry, Settings};
use attache_workspace::{
    AgentFlags, ChosenBy, FolderTrust, Project, ProjectQuery, accept_for_this_run, visible,
};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::printable::printable;
use crate::standard_streams::{stdout, tell};
use crate::{ProcessContext, report};

#[derive(Debug, Args)]
pub struct ConfigArguments {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show every effective setting and its origin; secrets stay hidden
    Show(ShowArguments),
}

#[derive(Debug, Args)]
struct ShowArguments {
    /// Show also where each value came from
    #[arg(long)]
    origin: bool,
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
    /// Folder whose settings are shown [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Settings file of the server; see docs/settings.md
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// As if this model had been chosen
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// As if this mode had been chosen
    #[arg(long, value_name = "MODE")]
    approval_mode: Option<String>,
    /// As if the folder were trusted and all that it allows accepted
    #[arg(long, visible_alias = "skip-trust")]
    trust: bool,
}

/// `confinement` describes what can be enforced around commands.
pub fn run(
    arguments: ConfigArguments,
    process: ProcessContext<'_>,
    confinement: &dyn Fn(&Settings) -> anyhow::Result<String>,
) -> ExitCode {
    let ConfigCommand::Show(arguments) = arguments.command;
    match show(arguments, process, confinement) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}

/// All that is shown.
struct ConfigReport {
    operator: Settings,
    project: Project,
    /// The model that answers, or why none can.
    model: Result<String, String>,
    /// What can be enforced around commands.
    confined: String,
}

fn show(
    arguments: ShowArguments,
    process: ProcessContext<'_>,
    confinement: &dyn Fn(&Settings) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let (origin, json) = (arguments.origin, arguments.json);
    let shown = gather(arguments, process, confinement)?;
    let mut out = stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &shown.to_json())?;
        writeln!(out)?;
    } else {
        shown.write(&mut out, origin)?;
    }
    Ok(out.flush()?)
}

fn gather(
    arguments: ShowArguments,
    ProcessContext { current_dir, environment }: ProcessContext<'_>,
    confinement: &dyn Fn(&Settings) -> anyhow::Result<String>,
) -> anyhow::Result<ConfigReport> {
    let flags = Flags {
        config: arguments.config,
        workspace: arguments.workspace,
        model: arguments.model,
        approval_mode: arguments.approval_mode,
        ..Flags::default()
    };
    let mut agent = AgentFlags { trust: arguments.trust, ..AgentFlags::from(&flags) };
    let operator = attache_workspace::load_operator(flags, environment, current_dir)?;
    accept_for_this_run(&mut agent, &operator.workspace, environment, &operator)?;
    let project = Project::read(ProjectQuery {
        folder: &operator.workspace,
        chosen_by: ChosenBy::Operator,
        flags: &agent,
        environment,
        operator: &operator,
    })?;
    let model = project.settings.model_choice(current_dir).map(|choice| choice.name());
    let model = model.map_err(|error| error.to_string());
    let confined = confinement(&operator)?;
    Ok(ConfigReport { operator, project, model, confined })
}

impl ConfigReport {
    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.project.settings.warnings.clone();
        warnings.extend(self.project.rules.warnings.iter().cloned());
        let new: Vec<_> =
            self.operator.warnings.iter().filter(|it| !warnings.contains(it)).cloned().collect();
        warnings.extend(new);
        warnings
    }

    fn to_json(&self) -> Value {
        let object = |entries: &[SettingEntry]| {
            let entries = entries.iter().map(|entry| {
                let origins: Vec<String> = entry.origins.iter().map(ToString::to_string).collect();
                (entry.key.clone(), json!({"value": entry.value, "origin": origins}))
            });
            entries.collect::<Map<String, Value>>()
        };
        let trust = &self.project.project_trust.trust;
        let report = &self.project.report;
        let allowances = report.allowances.iter().map(|(allowance, counts)| {
            json!({
                "kind": allowance.kind.name(),
                "allows": allowance.words,
                "origin": allowance.origin.to_string(),
                "counts": counts,
            })
        });
        let allowances: Vec<Value> = allowances.collect();
        let ignored =
            report.ignored.iter().map(|(origin, name)| json!({"name": name, "origin": origin.to_string()}));
        let ignored: Vec<Value> = ignored.collect();
        json!({
            "workspace": self.operator.workspace,
            "trusted": trust.is_trusted(),
            "trustedBecause": trust.is_trusted().then(|| trust.why()),
            "untrustedBecause": (!trust.is_trusted()).then(|| trust.why()),
            "allowances": allowances,
            "ignored": ignored,
            "confined": self.confined,
            "model": self.model.as_ref().ok(),
            "noModelBecause": self.model.as_ref().err(),
            "agent": object(&self.project.settings.entries()),
            "operator": object(self.operator.entries()),
            "warnings": self.warnings(),
        })
    }

    fn write(&self, out: &mut impl Write, origin: bool) -> io::Result<()> {
        let trust = match &self.project.project_trust.trust {
            FolderTrust::Trusted { why } => format!("trusted: {why}"),
            FolderTrust::Untrusted { why, .. } => format!("not trusted: {why}"),
        };
        writeln!(
            out,
            "workspace  {} ({})",
            shown(&self.operator.workspace.display().to_string()),
            shown(&trust)
        )?;
        match &self.model {
            Ok(name) => writeln!(out, "model      {}", shown(name))?,
            Err(why) => writeln!(out, "model      none: {}", shown(why))?,
        }
        writeln!(out, "confined   {}", shown(&self.confined))?;
        self.write_project(out)?;
        writeln!(out, "\nagent")?;
        table(out, &self.project.settings.entries(), origin)?;
        writeln!(out, "\noperator")?;
        table(out, self.operator.entries(), origin)?;
        for warning in self.warnings() {
            tell(format_args!("warning: {}", shown(&warning)));
        }
        Ok(())
    }
}

impl ConfigReport {
    /// What the project's own files allow, and whether it counts.
    fn write_project(&self, out: &mut impl Write) -> io::Result<()> {
        let report = &self.project.report;
        if report.allowances.is_empty() && report.ignored.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nproject (`attache trust` accepts what is ignored)")?;
        for (allowance, counts) in &report.allowances {
            let state = if *counts { "accepted" } else { "ignored" };
            let place = visible(&allowance.origin.to_string());
            writeln!(out, "  {state:<9} {} ({place})", allowance.words)?;
        }
        for (origin, name) in &report.ignored {
            writeln!(out, "  ignored   {} ({})", visible(name), visible(&origin.to_string()))?;
        }
        Ok(())
    }
}

/// Longer values are cut, so that the column of origins stays narrow.
const MAX_COLUMN_WIDTH: usize = 40;

fn table(out: &mut impl Write, entries: &[SettingEntry], origin: bool) -> io::Result<()> {
    let values: Vec<String> = entries.iter().map(|entry| shown(&entry.shown_value())).collect();
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let keys = widest(&mut entries.iter().map(|entry| entry.key.chars().count()));
    let wide = widest(
        &mut values.iter().map(|value| value.chars().count()).filter(|length| *length <= MAX_COLUMN_WIDTH),
    );
    for (entry, value) in entries.iter().zip(values) {
        if origin {
            writeln!(out, "  {:<keys$}  {value:<wide$}  {}", entry.key, shown(&entry.shown_origin()))?;
        } else {
            writeln!(out, "  {:<keys$}  {value}", entry.key)?;
        }
    }
    Ok(())
}

/// Text of a file on one line, without characters that control a terminal.
fn shown(text: &str) -> String {
    printable(text).replace(['\n', '\t', '\r'], " ")
}
