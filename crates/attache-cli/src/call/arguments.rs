//! The flags of `attache call`.

use std::path::PathBuf;

use anyhow::bail;
use attache_client::{Binding, DEVELOPMENT_TOOL, Origin, SignaturePolicy, Version};
use clap::{Args, ValueEnum};

use crate::message_input;

#[derive(Debug, Args)]
pub struct CallArguments {
    /// The agent's address, the URL of its card, or its name in an agent file; with --card, a word that stands for it
    #[arg(value_name = "URL|NAME")]
    pub(super) url: String,
    /// What to say; without any words, what is piped in
    pub(super) text: Vec<String>,
    /// Send the message to this task; without a message, show the task
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<String>,
    /// Send the message in this conversation
    #[arg(long, value_name = "ID")]
    pub(super) context: Option<String>,
    /// A file to send along; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(super) file: Vec<PathBuf>,
    /// An answer to what the agent asks, the first for the first question; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(super) answer: Vec<String>,
    /// Follow the task of --task; and after a question that is not answered here, wait until it goes on
    #[arg(long)]
    pub(super) follow: bool,
    /// Return as soon as the task exists
    #[arg(long, conflicts_with_all = ["follow", "answer"])]
    pub(super) detach: bool,
    /// Cancel the task of --task
    #[arg(long, requires = "task", conflicts_with_all = ["follow", "detach", "text"])]
    pub(super) cancel: bool,
    /// Have the agent send what happens to the task of --task to this URL
    #[arg(long, value_name = "URL", requires = "task", conflicts_with_all = ["follow", "detach", "cancel", "text"])]
    pub(super) push: Option<String>,
    /// List where the agent sends what happens to the task of --task
    #[arg(long, requires = "task", conflicts_with_all = ["push", "text"])]
    pub(super) list_pushes: bool,
    /// Delete one of these push notification configurations, by its id
    #[arg(long, value_name = "ID", requires = "task", conflicts_with_all = ["push", "list_pushes", "text"])]
    pub(super) delete_push: Option<String>,
    /// List the tasks that the agent has for you, the latest first; with --context, of that conversation
    #[arg(long, conflicts_with_all = ["task", "text"])]
    pub(super) list: bool,
    /// Print the card for callers that the agent knows
    #[arg(long, conflicts_with_all = ["task", "text", "list"])]
    pub(super) extended_card: bool,
    /// Run a command of the agent, such as "memory add", with the text as its arguments
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "extended_card", "cancel", "detach", "file"])]
    pub(super) command: Option<String>,
    /// List the commands that the agent takes
    #[arg(long, conflicts_with_all = ["task", "text", "list", "extended_card", "command"])]
    pub(super) commands: bool,
    /// Show thoughts and tool calls too, if the agent offers the development-tool extension
    #[arg(long)]
    pub(super) development: bool,
    /// Print each event as a line of JSON, in the form of A2A 1.0
    #[arg(long)]
    pub(super) json: bool,
    /// Only this binding [default: the one that the agent prefers]
    #[arg(long)]
    pub(super) binding: Option<BindingName>,
    /// Only this version of A2A [default: the agent's]
    #[arg(long = "version", alias = "a2a-version", id = "a2a_version", value_name = "VERSION")]
    pub(super) version: Option<VersionName>,
    /// File with a card to use instead of the agent's own; its origin has to be allowed
    #[arg(long, value_name = "FILE")]
    pub(super) card: Option<PathBuf>,
    /// Another origin that the card may lead to, and that may have the credential; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin)]
    pub(super) allow_origin: Vec<Origin>,
    /// Call the host in the URL, whichever host the card names
    #[arg(long)]
    pub(super) same_host: bool,
    /// File that holds a bearer token; without one, ATTACHE_CALL_TOKEN counts
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// File that holds an API key
    #[arg(long, value_name = "FILE", conflicts_with = "token_file")]
    pub(super) api_key_file: Option<PathBuf>,
    /// The header that the API key goes into
    #[arg(long, value_name = "NAME", default_value = "X-API-Key", requires = "api_key_file")]
    pub(super) api_key_header: String,
    /// File with certificates (PEM) of authorities to trust besides the system's; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Vec<PathBuf>,
    /// File with the certificate (PEM) that proves to the agent who calls
    #[arg(long, value_name = "FILE")]
    pub(super) client_cert: Option<PathBuf>,
    /// File with the private key (PEM) of --client-cert [default: the same file]
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(super) client_key: Option<PathBuf>,
    /// The URI of an extension to activate; may be repeated
    #[arg(long, value_name = "URI")]
    pub(super) extension: Vec<String>,
    /// What to do with a card that no key of --keys has signed [default: as the settings say, else ignore]
    #[arg(long, value_name = "WHAT")]
    pub(super) signatures: Option<SignatureWord>,
    /// File with public keys (a JWK set) whose signatures count; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(super) keys: Vec<PathBuf>,
    /// Give up after so many seconds; the task goes on
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BindingName {
    #[value(name = "jsonrpc", alias = "JSONRPC")]
    JsonRpc,
    #[value(name = "http", aliases = ["http+json", "rest", "HTTP+JSON"])]
    Http,
    #[value(name = "grpc", alias = "GRPC")]
    Grpc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VersionName {
    #[value(name = "0.3", alias = "0.3.0")]
    V0_3,
    #[value(name = "1.0", alias = "1")]
    V1_0,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SignatureWord {
    Ignore,
    Warn,
    Require,
}

impl From<BindingName> for Binding {
    fn from(name: BindingName) -> Self {
        match name {
            BindingName::JsonRpc => Self::JsonRpc,
            BindingName::Http => Self::HttpJson,
            BindingName::Grpc => Self::Grpc,
        }
    }
}

impl From<VersionName> for Version {
    fn from(name: VersionName) -> Self {
        match name {
            VersionName::V0_3 => Self::V0_3,
            VersionName::V1_0 => Self::V1_0,
        }
    }
}

impl From<SignatureWord> for SignaturePolicy {
    fn from(word: SignatureWord) -> Self {
        match word {
            SignatureWord::Ignore => Self::Ignore,
            SignatureWord::Warn => Self::Warn,
            SignatureWord::Require => Self::Require,
        }
    }
}

fn parse_origin(text: &str) -> Result<Origin, String> {
    Origin::parse(text).map_err(|error| error.to_string())
}

/// The words of a command's name, such as `memory add`.
pub(crate) fn command_path(name: &str) -> anyhow::Result<Vec<String>> {
    let path: Vec<String> =
        name.trim().trim_start_matches('/').split_whitespace().map(str::to_owned).collect();
    if path.is_empty() {
        bail!("--command needs the name of a command, such as \"memory add\"");
    }
    Ok(path)
}

/// What the flags ask for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Send { text: String },
    Command { path: Vec<String>, arguments: String },
    Commands,
    Follow { task: String },
    Show { task: String },
    Cancel { task: String },
    ExtendedCard,
    List,
    Push { task: String, url: String },
    ListPushes { task: String },
    DeletePush { task: String, id: String },
}

impl CallArguments {
    /// The extensions to activate.
    pub(super) fn extensions(&self) -> Vec<String> {
        let mut extensions = self.extension.clone();
        if self.development || self.command.is_some() {
            extensions.push(DEVELOPMENT_TOOL.to_owned());
        }
        extensions
    }

    pub(super) fn request(&self) -> anyhow::Result<Request> {
        if self.extended_card {
            return Ok(Request::ExtendedCard);
        }
        if self.list {
            return Ok(Request::List);
        }
        if self.commands {
            return Ok(Request::Commands);
        }
        if let Some(name) = &self.command {
            return Ok(Request::Command { path: command_path(name)?, arguments: self.text.join(" ") });
        }
        let task = self.task.clone();
        if let Some(task) = task.clone() {
            if let Some(url) = self.push.clone() {
                return Ok(Request::Push { task, url });
            }
            if let Some(id) = self.delete_push.clone() {
                return Ok(Request::DeletePush { task, id });
            }
            if self.list_pushes {
                return Ok(Request::ListPushes { task });
            }
        }
        if let Some(task) = task.clone().filter(|_| self.cancel) {
            return Ok(Request::Cancel { task });
        }
        let text = self.text.join(" ");
        if !text.trim().is_empty() || !self.file.is_empty() {
            return Ok(Request::Send { text });
        }
        match task {
            Some(task) if self.follow => Ok(Request::Follow { task }),
            Some(task) => Ok(Request::Show { task }),
            None => {
                let text = message_input::piped()?;
                if text.trim().is_empty() {
                    return Err(super::nothing_to_say());
                }
                Ok(Request::Send { text })
            }
        }
    }
}
