//! Files, environment and flags become checked values.
//!
//! Two families. The operator's settings (where to listen, who may call, what is kept) come from flags, the environment
//! and `attache.toml` alone. The agent's settings, its context files and its rules come from many places, of which a
//! project's own is one; one that is not trusted may only restrict, and what a trusted one allows has to be accepted. The
//! environment is handed in, so tests and other callers decide what is in it.

mod accepted_allowances;
mod agent;
mod allowance;
mod card;
mod confinement;
pub mod context;
mod credentials;
mod data_folder;
mod env_file;
mod environment;
mod error;
mod extensions;
mod file;
mod file_stamps;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod home_folders;
mod layers;
mod model;
mod operator;
mod origin;
pub mod policy;
mod project;
mod project_trust;
mod push;
mod read_file;
mod requested;
mod secret_text;
mod setting_entry;
mod settings;
mod token;
mod tree;
mod trust;
mod visible;
mod write_file;

pub use accepted_allowances::accept_allowances;
pub use agent::mcp::{HttpKind, McpServerSettings, McpTransport};
pub use agent::typed::{
    BackgroundCompletion, ContextKeys, GeneralKeys, ModelKeys, OutputFormat, SecurityKeys, ShellKeys,
    ToolKeys, WorkspaceSettings,
};
pub use agent::{AgentFlags, SettingsSources};
pub use allowance::{Allowance, AllowanceKind, ProjectReport};
pub use card::{answers_card_of, card_of, extended_card_of};
pub use confinement::ConfinementSettings;
pub use credentials::ModelCredentials;
pub use env_file::EnvFile;
pub use environment::{Environment, VARIABLES};
pub use error::ConfigError;
pub use extensions::{InstalledExtension, installed as installed_extensions};
pub use file::CardFormSetting;
pub use file_stamps::{FileStamps, record_stamps};
pub use home_folders::HomeFolders;
pub use layers::{Flags, load};
pub use model::ALIASES as MODEL_ALIASES;
pub use model::{
    AnthropicSettings, GeminiSettings, ModelChoice, OpenAiSettings, VertexAccess, VertexSettings,
};
pub use origin::Origin;
pub use project_trust::ProjectTrust;
pub use push::PushSettings;
pub use secret_text::SecretText;
pub use setting_entry::SettingEntry;
pub use settings::{
    ApprovalMode, CardSettings, DefaultDialect, LimitSettings, LogFormat, LogSettings, Settings, StoreChoice,
    Synchronous,
};
pub use trust::{ChosenBy, FolderTrust, TrustQuestion, TrustedFolders, look_up_trust, trust_of};
pub use visible::visible;
