//! The shape of `attache.toml`. Every key has a default; an unknown key is an error.

use std::collections::BTreeMap;
use std::path::PathBuf;

use attache_domain::default_limits as limits;
use serde::{Deserialize, Serialize};

use crate::Synchronous;
use crate::confinement::ConfinementFile;
use crate::push::PushFile;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigFile {
    pub(crate) host: Option<String>,
    pub(crate) port: Option<u16>,
    pub(crate) public_url: Option<String>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) store: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) approval_mode: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) a2a_token_file: Option<PathBuf>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) allowed_roots: Vec<PathBuf>,
    /// Folders that are trusted, with all folders below them.
    pub(crate) trusted_folders: Vec<PathBuf>,
    pub(crate) allow_private_addresses: Vec<String>,
    pub(crate) client_auto_execute: bool,
    pub(crate) default_dialect: Option<String>,
    pub(crate) admin_policies: Option<PathBuf>,
    pub(crate) answer_by_context: Option<bool>,
    pub(crate) duplicate_sends: Option<String>,
    pub(crate) answers: Option<String>,
    pub(crate) answers_interface: bool,
    pub(crate) live: bool,
    pub(crate) strict_version: bool,
    pub(crate) worker_threads: Option<usize>,
    pub(crate) log: Option<String>,
    pub(crate) log_format: Option<String>,
    pub(crate) sqlite: SqliteFile,
    pub(crate) limits: LimitsFile,
    pub(crate) card: CardFile,
    pub(crate) push: PushFile,
    pub(crate) confinement: ConfinementFile,
    /// Keys of the agent that users and projects cannot change. They are read again with their lines.
    pub(crate) enforced: toml::Table,
    /// Defaults for keys of the agent. They are read again with their lines.
    pub(crate) defaults: toml::Table,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SqliteFile {
    pub(crate) synchronous: Synchronous,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsFile {
    pub(crate) answer_room_bytes: usize,
    pub(crate) body_bytes: usize,
    pub(crate) body_room_bytes: usize,
    pub(crate) header_bytes: usize,
    pub(crate) json_depth: usize,
    pub(crate) connections: usize,
    pub(crate) connections_per_address: usize,
    pub(crate) streams_per_address: usize,
    pub(crate) streams_per_caller: usize,
    pub(crate) streams_per_connection: u32,
    pub(crate) header_timeout_seconds: u64,
    pub(crate) body_timeout_seconds: u64,
    pub(crate) idle_timeout_seconds: u64,
    pub(crate) stall_timeout_seconds: u64,
    pub(crate) heartbeat_seconds: u64,
    pub(crate) shutdown_seconds: u64,
    pub(crate) task_events: usize,
    pub(crate) task_megabytes: usize,
}

impl Default for LimitsFile {
    fn default() -> Self {
        Self {
            answer_room_bytes: limits::MAX_RESPONSE_BUDGET_BYTES,
            body_bytes: limits::MAX_BODY_BYTES,
            body_room_bytes: limits::MAX_BODY_BUDGET_BYTES,
            header_bytes: limits::MAX_HEADER_BYTES,
            json_depth: limits::MAX_JSON_DEPTH,
            connections: limits::MAX_CONNECTIONS,
            connections_per_address: limits::MAX_CONNECTIONS_PER_ADDRESS,
            streams_per_address: limits::MAX_STREAMS_PER_ADDRESS,
            streams_per_caller: limits::MAX_STREAMS_PER_CALLER,
            streams_per_connection: limits::MAX_STREAMS_PER_CONNECTION,
            header_timeout_seconds: limits::DEFAULT_HEADER_TIMEOUT.as_secs(),
            body_timeout_seconds: limits::DEFAULT_BODY_TIMEOUT.as_secs(),
            idle_timeout_seconds: limits::DEFAULT_IDLE_TIMEOUT.as_secs(),
            stall_timeout_seconds: limits::DEFAULT_STALL_TIMEOUT.as_secs(),
            heartbeat_seconds: limits::DEFAULT_HEARTBEAT_INTERVAL.as_secs(),
            shutdown_seconds: limits::DEFAULT_SHUTDOWN_TIMEOUT.as_secs(),
            task_events: limits::MAX_TASK_EVENTS,
            task_megabytes: limits::MAX_TASK_MEGABYTES,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CardFile {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) version: String,
    pub(crate) documentation_url: Option<String>,
    pub(crate) icon_url: Option<String>,
    pub(crate) max_age_seconds: u64,
    pub(crate) streaming: bool,
    pub(crate) provider: Option<ProviderFile>,
    pub(crate) default_input_modes: Vec<String>,
    pub(crate) default_output_modes: Vec<String>,
    pub(crate) skills: Vec<SkillFile>,
    pub(crate) extensions: Vec<ExtensionFile>,
    /// Only clients that know the development-tool extension are served.
    pub(crate) require_development_tool: bool,
    pub(crate) security_schemes: BTreeMap<String, SchemeFile>,
    pub(crate) security: Vec<BTreeMap<String, Vec<String>>>,
    /// Interfaces for these tenants are listed beside those without a tenant.
    pub(crate) tenants: Vec<String>,
    /// What the card adds for callers with the token.
    pub(crate) extended: Option<ExtendedFile>,
    /// Files with private keys; each of them signs the card.
    pub(crate) signing_keys: Vec<PathBuf>,
    /// The URL of the public keys; empty for none.
    pub(crate) jku: Option<String>,
    /// Whether and how the gRPC interfaces are listed.
    pub(crate) grpc: GrpcListing,
    /// Which document is served.
    pub(crate) form: CardFormSetting,
}

/// How the card lists the gRPC interfaces. They are served in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GrpcListing {
    #[default]
    Off,
    /// As `host:port`, the only form that grpcio and grpc-js can dial.
    Authority,
    /// As a URL with a port.
    Url,
}

/// Which members the card has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
pub enum CardFormSetting {
    /// Members of both versions, for clients that do not ask for 1.0.
    #[default]
    #[serde(rename = "superset")]
    Superset,
    #[serde(rename = "1.0")]
    V1_0,
    #[serde(rename = "0.3")]
    V0_3,
}

impl Default for CardFile {
    fn default() -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            name: "attache".into(),
            description: "A coding agent: it reads, edits and runs code in a workspace, asks before it acts, and can be \
                          followed while it works."
                .into(),
            version: env!("CARGO_PKG_VERSION").into(),
            documentation_url: None,
            icon_url: None,
            max_age_seconds: 3600,
            streaming: true,
            provider: None,
            default_input_modes: texts(&[
                "text/plain",
                "text/markdown",
                "text/*",
                "application/json",
                "application/*+json",
                "application/pdf",
                "application/octet-stream",
                "image/*",
            ]),
            // Not `text/x-diff`: a client that accepts every mode listed here would get diffs that it did not ask for.
            default_output_modes: texts(&[
                "text/plain",
                "text/markdown",
                "application/json",
                "application/octet-stream",
                "image/*",
            ]),
            skills: vec![SkillFile {
                id: "coding".into(),
                name: "Coding".into(),
                description: "Reads, searches, edits and runs code in its workspace; changes and commands wait for \
                              approval. Ask it for help to see what it understands without a language model."
                    .into(),
                tags: texts(&["code", "files", "shell"]),
                examples: texts(&["help", "list files", "find *.toml", "run `git status`"]),
                input_modes: Vec::new(),
                output_modes: Vec::new(),
                security: Vec::new(),
            }],
            extensions: Vec::new(),
            require_development_tool: false,
            security_schemes: BTreeMap::new(),
            security: Vec::new(),
            tenants: Vec::new(),
            extended: None,
            signing_keys: Vec::new(),
            jku: None,
            grpc: GrpcListing::default(),
            form: CardFormSetting::default(),
        }
    }
}

/// Changes and additions to the public card, for authenticated callers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExtendedFile {
    pub(crate) description: Option<String>,
    pub(crate) documentation_url: Option<String>,
    pub(crate) skills: Vec<SkillFile>,
    pub(crate) interfaces: Vec<InterfaceFile>,
    pub(crate) extensions: Vec<ExtensionFile>,
    /// Tenants that only the extended card lists.
    pub(crate) tenants: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterfaceFile {
    pub(crate) url: String,
    pub(crate) binding: BindingFile,
    #[serde(default)]
    pub(crate) version: VersionFile,
    pub(crate) tenant: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) enum BindingFile {
    #[serde(rename = "JSONRPC")]
    JsonRpc,
    #[serde(rename = "HTTP+JSON")]
    HttpJson,
    #[serde(rename = "GRPC")]
    Grpc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(crate) enum VersionFile {
    #[serde(rename = "0.3")]
    V0_3,
    #[default]
    #[serde(rename = "1.0")]
    V1_0,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderFile {
    pub(crate) organization: String,
    pub(crate) url: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillFile {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) examples: Vec<String>,
    #[serde(default)]
    pub(crate) input_modes: Vec<String>,
    #[serde(default)]
    pub(crate) output_modes: Vec<String>,
    #[serde(default)]
    pub(crate) security: Vec<BTreeMap<String, Vec<String>>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtensionFile {
    pub(crate) uri: String,
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) required: bool,
    pub(crate) params: Option<serde_json::Value>,
}

/// A security scheme, told apart by `type`.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum SchemeFile {
    ApiKey { description: Option<String>, location: LocationFile, name: String },
    Http { description: Option<String>, scheme: String, bearer_format: Option<String> },
    Oauth2 { description: Option<String>, metadata_url: Option<String>, flow: FlowFile },
    OpenIdConnect { description: Option<String>, url: String },
    MutualTls { description: Option<String> },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LocationFile {
    Header,
    Query,
    Cookie,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FlowFile {
    AuthorizationCode {
        authorization_url: String,
        token_url: String,
        refresh_url: Option<String>,
        #[serde(default)]
        scopes: BTreeMap<String, String>,
        #[serde(default)]
        pkce_required: bool,
    },
    ClientCredentials {
        token_url: String,
        refresh_url: Option<String>,
        #[serde(default)]
        scopes: BTreeMap<String, String>,
    },
    Implicit {
        authorization_url: String,
        refresh_url: Option<String>,
        #[serde(default)]
        scopes: BTreeMap<String, String>,
    },
    Password {
        token_url: String,
        refresh_url: Option<String>,
        #[serde(default)]
        scopes: BTreeMap<String, String>,
    },
    DeviceCode {
        device_authorization_url: String,
        token_url: String,
        refresh_url: Option<String>,
        #[serde(default)]
        scopes: BTreeMap<String, String>,
    },
}
