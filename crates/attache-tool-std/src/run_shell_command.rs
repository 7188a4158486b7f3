//! `run_shell_command`: runs a command line with bash.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use attache_tool::{
    Access, AccessLevel, Confiner, Effect, Preview, Proposal, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::shell::{BackgroundProcesses, Shell, ShellOptions, fresh_id};
use crate::workspace;

const NAME: &str = "run_shell_command";
const DEFAULT_DELAY: u64 = 200;
const MAX_DELAY: u64 = 60_000;
/// Hosts and paths that one command may request.
const MAX_REQUESTED: usize = 32;

#[derive(Debug)]
pub struct RunShellCommand {
    shell: Shell,
}

#[derive(Debug, Deserialize)]
struct Input {
    command: String,
    dir_path: Option<String>,
    #[serde(default)]
    is_background: bool,
    delay_ms: Option<u64>,
    #[serde(default)]
    network: Vec<String>,
    #[serde(default)]
    protected_paths: Vec<String>,
    #[serde(default)]
    unconfined: bool,
}

impl RunShellCommand {
    /// `background` owns the background commands of one conversation. `confiner` limits commands to the approved
    /// access.
    pub fn new(
        options: ShellOptions,
        background: Arc<BackgroundProcesses>,
        confiner: Arc<dyn Confiner>,
    ) -> Self {
        Self { shell: Shell { options, background, confiner } }
    }
}

#[async_trait]
impl Tool for RunShellCommand {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn process_mark(&self) -> Option<String> {
        Some(fresh_id())
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let parsed = parse(input)?;
        let directory = directory(&parsed, context)?;
        let access = access(&parsed, context)?;
        let command = parsed.command;
        Ok(Proposal {
            input: input.clone(),
            effects: vec![Effect::Run { command: command.clone(), directory: directory.clone(), access }],
            shown: Preview::Exec { command, directory, programs: vec![] },
        })
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { is_background, delay_ms, .. } = parse(&proposal.input)?;
        if context.cancel.is_cancelled() {
            let message = "the call was cancelled before the command was started; nothing has run";
            return Err(ToolError::new(ToolErrorKind::ExecutionFailed, message));
        }
        // Runs the effect, because that is what was approved.
        let run = proposal.effects.iter().find_map(|effect| match effect {
            Effect::Run { command, directory, access } => Some((command, directory, access)),
            _ => None,
        });
        let (command, directory, access) =
            run.ok_or_else(|| ToolError::bad_input("the proposal runs nothing; propose the command again"))?;
        // The command starts in the folder opened here, even if its path changes later.
        let opened = workspace::locate_resolved(&context.workspace, directory)?.open_directory()?;
        let directory = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        if !is_background {
            return self.shell.run(command, &directory, access, context).await;
        }
        let delay = Duration::from_millis(delay_ms.unwrap_or(DEFAULT_DELAY));
        self.shell.run_in_background(command, &directory, delay, access, context).await
    }
}

fn parse(input: &ToolInput) -> Result<Input, ToolError> {
    let parsed: Input = serde_json::from_value(Value::Object(input.clone()))
        .map_err(|error| ToolError::bad_input(format!("{NAME}: {error}")))?;
    if parsed.command.trim().is_empty() {
        return Err(ToolError::bad_input("`command` is empty; give the command line to run"));
    }
    if parsed.command.contains('\0') {
        return Err(ToolError::bad_input("`command` contains a NUL character; leave it out"));
    }
    if parsed.delay_ms.is_some_and(|delay| delay > MAX_DELAY) {
        return Err(ToolError::bad_input(format!("`delay_ms` may be at most {MAX_DELAY}")));
    }
    Ok(parsed)
}

/// The real path of the command's folder, inside the workspace.
fn directory(input: &Input, context: &ToolContext) -> Result<PathBuf, ToolError> {
    let path = input.dir_path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
    let place = workspace::locate(&context.workspace, path)?;
    place.open_directory()?;
    place.resolve()
}

/// The requested access: level work, unless the input requests more.
fn access(input: &Input, context: &ToolContext) -> Result<Access, ToolError> {
    if input.unconfined {
        return Ok(Access::open());
    }
    if input.network.len() + input.protected_paths.len() > MAX_REQUESTED {
        let message = format!("`network` and `protected_paths` may name at most {MAX_REQUESTED} together");
        return Err(ToolError::bad_input(message));
    }
    if let Some(host) = input.network.iter().find(|host| !is_host(host)) {
        return Err(ToolError::bad_input(format!(
            "`network` has {host:?}; name hosts, such as \"example.com\" or \"*.example.com\", without scheme and path"
        )));
    }
    let path = |path: &String| Ok(workspace::locate(&context.workspace, path)?.path());
    Ok(Access {
        network: input.network.clone(),
        writes: input.protected_paths.iter().map(path).collect::<Result<_, ToolError>>()?,
        ..Access::new(AccessLevel::Work)
    })
}

/// A host name or address, or `*.` and a host name, without a port.
fn is_host(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    text == "*" || (!name.is_empty() && name.len() <= 253 && name.bytes().all(plain))
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(spec);

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.into(),
        title: "Shell".into(),
        description: "Runs a command line with `bash -c`. It is not interactive: its standard input is empty, so use \
            options that make programs ask nothing. The answer has the lines `Output:` (standard output and error \
            together), and where there is something to say `Exit Code:` (when not 0), `Signal:` and `Background \
            PIDs:`. A command that writes nothing for some minutes is ended. Start servers, watchers and whatever \
            is to go on running with `is_background`, never with `&`. Commands run confined: they read the workspace \
            and the system's programs, write the workspace except protected files (git's configuration and hooks, CI \
            and editor settings, .env), and have no network. When one fails for that, run it again with `network`, \
            `protected_paths` or `unconfined`: the user is asked."
            .into(),
        kind: ToolKind::Execute,
        parameters: json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "description": "The command line, as for `bash -c`." },
                "description": {
                    "type": "string",
                    "description": "What the command is for, in a short sentence for the user."
                },
                "dir_path": {
                    "type": "string",
                    "description": "The folder to run in, absolute or relative to the workspace; the workspace if left out."
                },
                "is_background": {
                    "type": "boolean",
                    "description": "Let the command go on in the background after `delay_ms`; its pid is returned."
                },
                "delay_ms": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MAX_DELAY,
                    "description": "With `is_background`, how long to wait for its first output; 200 if left out."
                },
                "network": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Hosts that the command has to reach, e.g. [\"example.com\"]; the user is asked."
                },
                "protected_paths": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Protected files that the command has to write, e.g. [\".git/config\"]; the user is asked."
                },
                "unconfined": {
                    "type": "boolean",
                    "description": "Run without any confinement; the user is asked. Only when a confined run has failed for it."
                }
            },
            "required": ["command"]
        }),
        repeatable: false,
        parallel: true,
        origin: None,
    }
}
