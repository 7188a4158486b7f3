//! The settings, trust, context files and commands of a folder and its user.
//!
//! The agent's settings, trust, context files, rules, ignore files, `.env` files and custom commands. A project that
//! is not trusted can only restrict. The permissions of a trusted project apply once a person has accepted them. The
//! operator's own settings are in `attache-config`.
//!
//! [`SetupBuilder`] builds the setup of a conversation from these, and [`WorkspaceConversations`] implements the
//! agent's `Conversations`. The binary provides models, tools, MCP connections and remote agents through the trait
//! [`Implementations`].

mod accepted_allowances;
mod agent_directory;
pub mod agent_files;
mod agent_mentions;
mod agent_switches;
mod allowance;
mod brought_servers;
mod built_in_agents;
mod client_permissions;
mod command_context;
mod configure_agent;
mod connect_tool;
mod context;
mod context_files;
mod conversation_tools;
mod conversations;
mod credentials;
mod env_file;
mod extensions;
mod file_stamps;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod home_folders;
mod implementations;
mod model_choice;
mod operator;
mod policy;
mod project;
mod project_root;
mod project_trust;
mod proxy_setting;
mod read_file;
mod remote_agents;
mod settings;
mod settings_file;
mod setup_builder;
mod trust;
mod visible;
mod write_file;

pub use accepted_allowances::accept_allowances;
pub use allowance::{Allowance, AllowanceKind, ProjectReport};
/// Commands that show servers need no seam to tools.
pub use attache_tool::{ServerState, ServerStatus};
pub use conversations::WorkspaceConversations;
pub use credentials::ModelCredentials;
pub use env_file::EnvFile;
pub use home_folders::HomeFolders;
pub use implementations::{Implementations, ServerGroup, ServerSource, ToolServers};
pub use model_choice::ALIASES as MODEL_ALIASES;
pub use model_choice::{
    AnthropicSettings, GeminiSettings, ModelChoice, ModelProvider, OpenAiSettings, VertexAccess,
    VertexSettings,
};
pub use operator::load_operator;
pub use policy::LoadedRules;
pub use project::{Project, ProjectQuery, TrustSummary, accept_for_this_run};
pub use project_trust::ProjectTrust;
pub use proxy_setting::{ProxySetting, user_proxy};
pub use remote_agents::{AgentGroup, RemoteAgents};
pub use settings::agent_overrides::AgentOverrides;
pub use settings::agent_signatures::{AgentSignaturePolicy, AgentSignatures};
pub use settings::agent_tls::AgentTls;
pub use settings::mcp::{HttpKind, McpServerSettings, McpTransport};
pub use settings::typed::{
    ContextKeys, GeneralKeys, ModelKeys, OutputFormat, SecurityKeys, SessionRetention, ShellKeys, ToolKeys,
    WorkspaceSettings,
};
pub use settings::{AgentFlags, SettingsSources};
pub use settings_file::{SettingsFile, SettingsFileError, SettingsScope};
pub use setup_builder::{Interactivity, SetupBuilder, SetupOptions};
pub use trust::{ChosenBy, FolderTrust, TrustQuestion, TrustedFolders, look_up_trust, trust_of};
pub use visible::visible;
