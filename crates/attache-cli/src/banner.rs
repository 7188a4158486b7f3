//! What `attache serve` prints when it listens.

use std::io::{self, Write};

use attache_config::{DefaultDialect, Settings, StoreChoice};
use attache_workspace::{FolderTrust, ModelChoice, TrustSummary, visible};

use crate::standard_streams::stdout;

/// What the banner shows.
pub struct Banner<'a> {
    pub settings: &'a Settings,
    pub model: &'a ModelChoice,
    pub summary: &'a TrustSummary,
    /// How commands are confined, if less than usual.
    pub confinement: Option<String>,
    pub url: &'a str,
}

/// Prints the address, the model and one command that works.
pub fn print_banner(banner: &Banner<'_>) -> io::Result<()> {
    let Banner { settings, model, summary, confinement, url } = banner;
    let mut out = stdout().lock();
    writeln!(out, "attache is listening on {url}")?;
    writeln!(out, "  card       {url}/.well-known/agent-card.json")?;
    if settings.live {
        let socket = url.replacen("http", "ws", 1);
        writeln!(out, "  live       {socket}/ws, {url}/tasks")?;
    }
    match model {
        ModelChoice::Offline => writeln!(
            out,
            "  model      offline (built in; say \"help\" to see what it understands, or set GEMINI_API_KEY)"
        )?,
        ModelChoice::Script(path) => writeln!(out, "  model      script {}", path.display())?,
        ModelChoice::Gemini(chosen) => writeln!(out, "  model      gemini {}", chosen.model)?,
        other => writeln!(out, "  model      {}", other.name())?,
    }
    match &settings.store {
        StoreChoice::Memory => writeln!(out, "  store      memory (forgotten when the server stops)")?,
        StoreChoice::Sqlite(path) => writeln!(out, "  store      sqlite {}", path.display())?,
    }
    writeln!(out, "  workspace  {}", settings.workspace.display())?;
    match &summary.trust {
        FolderTrust::Trusted { why } => writeln!(out, "  trust      yes: {}", visible(why))?,
        FolderTrust::Untrusted { why, .. } => {
            writeln!(out, "  trust      no: {} (see `attache trust`)", visible(why))?
        }
    }
    if let Some(ignored) = &summary.ignored {
        writeln!(out, "  ignored    {ignored}; `attache trust` shows and accepts it")?;
    }
    if let Some(confinement) = confinement {
        writeln!(out, "  confined   {confinement}")?;
    }
    let dialect = match settings.default_dialect {
        DefaultDialect::Plain => {
            "plain A2A for 0.3 clients that name no extension (--compat gemini: if they expect Gemini CLI's server)"
        }
        DefaultDialect::Gemini => {
            "gemini for 0.3 clients that name no extension: as Gemini CLI's server answers"
        }
        DefaultDialect::Developer => "developer for 0.3 clients that name no extension: the RFC's events",
    };
    writeln!(out, "  dialect    {dialect}")?;
    writeln!(out, "\nTry it:\n{}", example(url, settings))?;
    out.flush()
}

fn example(url: &str, settings: &Settings) -> String {
    let token = match (&settings.token, &settings.token_file) {
        (None, _) if settings.clients.is_empty() => String::new(),
        (None, _) => " -H 'Authorization: Bearer TOKEN'".to_owned(),
        (Some(_), None) => " -H \"Authorization: Bearer $ATTACHE_TOKEN\"".to_owned(),
        (Some(_), Some(path)) => {
            let path = path.display().to_string().replace('\'', r"'\''");
            format!(" -H \"Authorization: Bearer $(cat '{path}')\"")
        }
    };
    let body = attache_wire::jsonrpc::EXAMPLE;
    format!("  curl -s {url}/ -H 'Content-Type: application/json' -H 'A2A-Version: 1.0'{token} -d '{body}'\n")
}
