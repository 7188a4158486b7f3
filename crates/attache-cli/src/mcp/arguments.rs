//! The arguments of `attache mcp`.

use anyhow::bail;
use clap::{Args, Parser, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct McpArguments {
    #[command(subcommand)]
    pub(super) command: McpCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum McpCommand {
    /// Add a server, or change the one of this name
    Add(AddArguments),
    /// Connect to all servers and show their status and tools
    List(ListArguments),
    /// Remove a server
    Remove(RemoveArguments),
}

/// Whose settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScopeFlag {
    /// ~/.gemini/settings.json
    User,
    /// .gemini/settings.json in the current folder
    Project,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TransportKind {
    Stdio,
    Sse,
    Http,
}

#[derive(Debug, Args)]
#[command(
    after_help = "For a program, all options come before COMMAND_OR_URL: what follows it is the program's."
)]
pub(super) struct AddArguments {
    #[command(flatten)]
    options: AddOptions,
    /// What to call the server; its tools become mcp_NAME_TOOL
    name: String,
    /// The program to start, or the address of a server
    #[arg(value_name = "COMMAND_OR_URL")]
    target: String,
    /// The program's arguments, as they are
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<String>,
}

#[derive(Debug, Default, Args)]
struct AddOptions {
    /// Whose settings: user or project [default: project]
    #[arg(short, long)]
    scope: Option<ScopeFlag>,
    /// Transport to reach it [default: stdio for a program; detected for an address]
    #[arg(short, long)]
    transport: Option<TransportKind>,
    /// A variable for the program; may be repeated
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header for an address; may be repeated
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// How long a call may take, in milliseconds [default: 600000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Let the agent use its tools without asking
    #[arg(long)]
    trust: bool,
    /// Offer only these tools
    #[arg(long, value_name = "TOOL,..", value_delimiter = ',')]
    include_tools: Option<Vec<String>>,
    /// Do not offer these tools
    #[arg(long, value_name = "TOOL,..", value_delimiter = ',')]
    exclude_tools: Option<Vec<String>>,
    /// What the server is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

/// Options that follow an address, which has no arguments of its own.
#[derive(Debug, Parser)]
#[command(name = "attache mcp add", no_binary_name = true, disable_help_flag = true)]
struct TrailingOptions {
    #[command(flatten)]
    options: AddOptions,
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// For programs: one JSON array
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RemoveArguments {
    pub(super) name: String,
    /// Whose settings
    #[arg(short, long, default_value = "project")]
    pub(super) scope: ScopeFlag,
}

/// All that was said about a server to add.
#[derive(Debug)]
pub(super) struct NewServer {
    pub(super) name: String,
    pub(super) target: Target,
    pub(super) scope: ScopeFlag,
    pub(super) timeout: Option<u64>,
    pub(super) trust: bool,
    pub(super) include_tools: Option<Vec<String>>,
    pub(super) exclude_tools: Option<Vec<String>>,
    pub(super) description: Option<String>,
}

#[derive(Debug)]
pub(super) enum Target {
    Program {
        command: String,
        args: Vec<String>,
        env: Vec<String>,
    },
    /// `kind` is none when it is to be found out.
    Address {
        url: String,
        kind: Option<&'static str>,
        headers: Vec<String>,
    },
}

impl AddArguments {
    /// Program or address? What was said fits it, or is refused.
    pub(super) fn into_server(self) -> anyhow::Result<NewServer> {
        let Self { mut options, name, target, mut args } = self;
        let is_url =
            ["http://", "https://"].iter().any(|scheme| target.to_ascii_lowercase().starts_with(scheme));
        if is_url && options.transport != Some(TransportKind::Stdio) {
            let following = TrailingOptions::try_parse_from(std::mem::take(&mut args)).map_err(|error| {
                anyhow::anyhow!("{}", error.render().to_string().trim_start_matches("error: "))
            })?;
            options = options.and(following.options);
        }
        let kind = match options.transport {
            None => is_url.then_some(None),
            Some(TransportKind::Stdio) => None,
            Some(TransportKind::Http) => Some(Some("http")),
            Some(TransportKind::Sse) => Some(Some("sse")),
        };
        let target = match kind {
            None => {
                if !options.header.is_empty() {
                    bail!("--header is for an address; a program gets variables with --env");
                }
                // `-- ARGS`: with other commands, `--` marks where the arguments of the program begin.
                if args.first().is_some_and(|first| first == "--") {
                    args.remove(0);
                }
                Target::Program { command: target, args, env: options.env }
            }
            Some(_) if !is_url => {
                bail!("--transport http and sse need an address such as https://example.com/mcp")
            }
            Some(_) if !options.env.is_empty() => {
                bail!("--env is for a program; an address gets headers with --header")
            }
            Some(kind) => Target::Address { url: target, kind, headers: options.header },
        };
        Ok(NewServer {
            name,
            target,
            scope: options.scope.unwrap_or(ScopeFlag::Project),
            timeout: options.timeout,
            trust: options.trust,
            include_tools: options.include_tools,
            exclude_tools: options.exclude_tools,
            description: options.description,
        })
    }
}

impl AddOptions {
    /// Those that were said before, and those that were said after.
    fn and(self, after: Self) -> Self {
        Self {
            scope: after.scope.or(self.scope),
            transport: after.transport.or(self.transport),
            env: [self.env, after.env].concat(),
            header: [self.header, after.header].concat(),
            timeout: after.timeout.or(self.timeout),
            trust: after.trust || self.trust,
            include_tools: after.include_tools.or(self.include_tools),
            exclude_tools: after.exclude_tools.or(self.exclude_tools),
            description: after.description.or(self.description),
        }
    }
}
