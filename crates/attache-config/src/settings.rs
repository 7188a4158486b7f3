//! The operator's settings, checked.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use attache_domain::AnswerLocation;
use attache_domain::DuplicateWindow;

use crate::file::{CardFile, CardFormSetting, LimitsFile};
use crate::operator_agent::OperatorAgentSettings;
use crate::{ClientToken, ConfinementSettings, PushSettings, SettingEntry, SourcedValue};

#[derive(Debug, Clone)]
pub struct Settings {
    pub host: IpAddr,
    /// With zero, the system picks a free port.
    pub port: u16,
    /// The URL that clients use, if it differs from the address that the server listens on.
    pub public_url: Option<String>,
    pub workspace: PathBuf,
    /// Folders below which a client may choose a workspace, without links.
    pub allowed_roots: Vec<PathBuf>,
    /// Folders that the operator trusts with all below them, without links.
    pub trusted_folders: Vec<PathBuf>,
    /// The folder of attache's own data. It holds the default store and `scratch`.
    pub data_folder: PathBuf,
    /// The folder for files of tools that do not belong into the workspace.
    pub scratch: PathBuf,
    /// The environment of the programs that the agent starts.
    pub child_environment: Vec<(String, String)>,
    pub store: StoreChoice,
    pub synchronous: Synchronous,
    /// The model that the command line, the environment or the file names.
    pub model: Option<SourcedValue>,
    /// Whether a client may let its task run everything unasked.
    pub client_auto_execute: bool,
    pub default_dialect: DefaultDialect,
    pub token: Option<String>,
    /// The file that the token was read from, unless it came from the environment.
    pub token_file: Option<PathBuf>,
    /// The clients of the file of client tokens.
    pub clients: Vec<ClientToken>,
    pub a2a_token_file: Option<PathBuf>,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    /// Hosts, addresses and networks that pages may be fetched from although they are not public.
    pub allow_private_addresses: Vec<String>,
    /// The folder of the rules with the highest priority.
    pub admin_policies: PathBuf,
    /// A message without a task is the answer to the one task of its context that waits for input.
    pub answer_by_context: bool,
    /// How long a message that is sent again counts as the same.
    pub duplicate_sends: DuplicateWindow,
    /// Where clients of plain A2A read the answers of the tasks that they open.
    pub answers: AnswerLocation,
    /// Whether there is an additional interface that puts answers into status messages.
    pub answers_interface: bool,
    pub strict_version: bool,
    /// Whether the live endpoint is offered beside A2A.
    pub live: bool,
    /// Worker threads; by default one less than cores.
    pub worker_threads: Option<usize>,
    pub limits: LimitSettings,
    pub card: CardSettings,
    pub push: PushSettings,
    pub confinement: ConfinementSettings,
    pub log: LogSettings,
    /// Settings that were ignored, in sentences for people.
    pub warnings: Vec<String>,
    /// What the file says about the agent, unchecked.
    pub agent: OperatorAgentSettings,
    pub(crate) entries: Vec<SettingEntry>,
}

impl Settings {
    /// Whether every call needs a token.
    pub fn needs_token(&self) -> bool {
        self.token.is_some() || !self.clients.is_empty()
    }

    /// The hosts that requests may name: the configured ones, that of the public URL, and the address listened on.
    pub fn answered_hosts(&self) -> Vec<String> {
        let public = self.public_url.as_deref().and_then(|url| {
            let (_, rest) = url.split_once("://")?;
            rest.split('/').next().map(str::to_owned)
        });
        let own = match self.host {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        self.allowed_hosts.iter().cloned().chain(public).chain([own]).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    Memory,
    Sqlite(PathBuf),
}

/// The dialect for clients of A2A 0.3 that do not activate an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultDialect {
    /// A2A and nothing else.
    #[default]
    Plain,
    /// The dialect of Gemini CLI's server.
    Gemini,
    /// The RFC's dialect of the development-tool extension.
    Developer,
}

impl DefaultDialect {
    pub const ALL: [Self; 3] = [Self::Plain, Self::Gemini, Self::Developer];

    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gemini => "gemini",
            Self::Developer => "developer",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

/// When SQLite waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Synchronous {
    /// At every commit: a power failure loses nothing that was acknowledged.
    #[default]
    Full,
    /// At checkpoints: a power failure may lose the last moments; a crash of the program does not.
    Normal,
    /// Never: for tests.
    Off,
}

/// What the agent may do without approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalMode {
    /// Read.
    #[default]
    Default,
    /// Read, and edit inside the workspace.
    AutoEdit,
    /// Read, edit inside the workspace, and run confined commands.
    Confined,
    /// Everything that no rule denies.
    Yolo,
    /// Read, and write plans.
    Plan,
}

impl ApprovalMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AutoEdit => "auto_edit",
            Self::Confined => "confined",
            Self::Yolo => "yolo",
            Self::Plan => "plan",
        }
    }

    /// The permissiveness of this mode: a higher number allows more.
    pub fn freedom(self) -> u8 {
        match self {
            Self::Plan => 0,
            Self::Default => 1,
            Self::AutoEdit => 2,
            Self::Confined => 3,
            Self::Yolo => 4,
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::Default),
            "auto_edit" | "autoEdit" => Some(Self::AutoEdit),
            "confined" => Some(Self::Confined),
            "yolo" => Some(Self::Yolo),
            "plan" => Some(Self::Plan),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// A `tracing` filter.
    pub filter: String,
    pub format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitSettings {
    pub answer_room_bytes: usize,
    pub body_bytes: usize,
    pub body_room_bytes: usize,
    pub header_bytes: usize,
    pub json_depth: usize,
    pub connections: usize,
    pub connections_per_address: usize,
    pub streams_per_address: usize,
    pub streams_per_caller: usize,
    pub streams_per_connection: u32,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    pub idle_timeout: Duration,
    pub stall_timeout: Duration,
    pub heartbeat_interval: Duration,
    pub shutdown_timeout: Duration,
    /// How many events the history of one task may have.
    pub task_events: usize,
    /// How many megabytes it may take in the log.
    pub task_megabytes: usize,
}

impl LimitSettings {
    pub(crate) fn of(file: &LimitsFile) -> Self {
        Self {
            answer_room_bytes: file.answer_room_bytes,
            body_bytes: file.body_bytes,
            body_room_bytes: file.body_room_bytes,
            header_bytes: file.header_bytes,
            json_depth: file.json_depth,
            connections: file.connections,
            connections_per_address: file.connections_per_address,
            streams_per_address: file.streams_per_address,
            streams_per_caller: file.streams_per_caller,
            streams_per_connection: file.streams_per_connection,
            header_timeout: Duration::from_secs(file.header_timeout_seconds),
            body_timeout: Duration::from_secs(file.body_timeout_seconds),
            idle_timeout: Duration::from_secs(file.idle_timeout_seconds),
            stall_timeout: Duration::from_secs(file.stall_timeout_seconds),
            heartbeat_interval: Duration::from_secs(file.heartbeat_seconds),
            shutdown_timeout: Duration::from_secs(file.shutdown_seconds),
            task_events: file.task_events,
            task_megabytes: file.task_megabytes,
        }
    }
}

/// The settings of the card, as in the file. [`card_of`](crate::card_of) makes the card.
#[derive(Debug, Clone)]
pub struct CardSettings {
    pub(crate) file: CardFile,
    pub max_age: Duration,
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
    /// Only clients that know the development-tool extension are served.
    pub require_development_tool: bool,
    /// Files with private keys; each of them signs the card.
    pub signing_keys: Vec<PathBuf>,
    /// The URL of the public keys; empty for none, unset for the server's own.
    pub jku: Option<String>,
    pub form: CardFormSetting,
}

impl CardSettings {
    /// The tenants that the cards list. If there is any, no others are served.
    pub fn tenants(&self) -> impl Iterator<Item = &String> {
        let extended = self.file.extended.iter().flat_map(|extended| &extended.tenants);
        self.file.tenants.iter().chain(extended)
    }

    pub(crate) fn of(file: CardFile) -> Self {
        Self {
            max_age: Duration::from_secs(file.max_age_seconds),
            input_modes: file.default_input_modes.clone(),
            output_modes: file.default_output_modes.clone(),
            require_development_tool: file.require_development_tool,
            signing_keys: file.signing_keys.clone(),
            jku: file.jku.clone(),
            form: file.form,
            file,
        }
    }
}
