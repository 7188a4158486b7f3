//! The flags of `attache serve`.

use std::path::PathBuf;

use attache_config::Flags;
use clap::Args;

use crate::AgentArguments;

#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Port to listen on; 0 picks a free one [default: 41242]
    #[arg(long)]
    port: Option<u16>,
    /// Address to listen on; anything but loopback needs a token [default: 127.0.0.1]
    #[arg(long)]
    host: Option<String>,
    /// Folder the agent works in [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Where tasks are kept: memory: or sqlite:PATH [default: a file in your data folder]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Which model answers: offline, script:FILE, a Gemini model, openai:NAME or anthropic:NAME [default: one there is
    /// a key for, else offline]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// What the agent may do unasked: default, auto_edit, confined, yolo or plan [default: default]
    #[arg(long, value_name = "MODE", conflicts_with = "yolo")]
    approval_mode: Option<String>,
    /// The same as --approval-mode yolo
    #[arg(short, long)]
    yolo: bool,
    /// Where answers stand: artifact, or message for clients that read only status messages [default: artifact]
    #[arg(long, value_name = "PLACE")]
    answers: Option<String>,
    /// Dialect for clients of A2A 0.3 that name no extension: plain, gemini (as Gemini CLI's server) or developer
    /// [default: plain]
    #[arg(long, value_name = "DIALECT")]
    compat: Option<String>,
    /// Offer the live endpoint too: flat events over WebSocket and SSE; see docs/live.md
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    pub agent: AgentArguments,
    /// Settings file; see docs/settings.md
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// File that holds the bearer token callers must present
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File that gives rights (view, prompt, approve) to the tokens of clients; see docs/live.md
    #[arg(long, value_name = "FILE")]
    a2a_token_file: Option<PathBuf>,
    /// What to log, e.g. debug or attache_server=debug [default: info]
    #[arg(long, value_name = "FILTER", conflicts_with = "debug")]
    log: Option<String>,
    /// The same as --log debug
    #[arg(short, long)]
    debug: bool,
    /// How to log: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

impl From<ServeArguments> for Flags {
    fn from(arguments: ServeArguments) -> Self {
        Self {
            config: arguments.config,
            host: arguments.host,
            port: arguments.port,
            workspace: arguments.workspace,
            store: arguments.store,
            model: arguments.model,
            approval_mode: arguments.yolo.then(|| "yolo".to_owned()).or(arguments.approval_mode),
            answers: arguments.answers,
            default_dialect: arguments.compat,
            live: arguments.live,
            token_file: arguments.token_file,
            a2a_token_file: arguments.a2a_token_file,
            log: arguments.debug.then(|| "debug".to_owned()).or(arguments.log),
            log_format: arguments.log_format,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        serve: ServeArguments,
    }

    fn parse(arguments: &[&str]) -> Result<Flags, clap::Error> {
        let program = Program::try_parse_from(["attache"].iter().chain(arguments));
        program.map(|program| Flags::from(program.serve))
    }

    #[test]
    fn the_flags_of_the_endpoint_document_are_short_for_others() {
        let long = parse(&["--live", "--approval-mode", "yolo", "--log", "debug"]).unwrap();
        for arguments in [["--live", "--yolo", "--debug"], ["--live", "-y", "-d"]] {
            let flags = parse(&arguments).unwrap();
            assert_eq!((&flags.approval_mode, &flags.log), (&long.approval_mode, &long.log));
        }
        assert!(parse(&["--yolo", "--approval-mode", "plan"]).is_err(), "one of them");
        assert!(parse(&["--debug", "--log", "info"]).is_err(), "one of them");
    }
}
