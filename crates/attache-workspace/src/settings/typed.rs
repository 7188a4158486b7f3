//! The typed settings of a workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use attache_agent::DEFAULT_COMPACTION_THRESHOLD;
use attache_config::ApprovalMode;

use super::age;
use super::agent_overrides::AgentOverrides;
use super::mcp::McpServerSettings;
use super::resolve::ResolvedSettings;
use crate::file_stamps;
use crate::settings::layer::Layer;
use crate::{EnvFile, HomeFolders, ModelCredentials, ProjectReport, ProjectTrust, ProxySetting};

/// The settings of the agent in one workspace.
#[derive(Debug, Clone)]
pub struct WorkspaceSettings {
    pub model: ModelKeys,
    pub general: GeneralKeys,
    pub tools: ToolKeys,
    pub context: ContextKeys,
    /// The servers that `mcp.allowed` and `mcp.excluded` leave.
    pub mcp_servers: BTreeMap<String, McpServerSettings>,
    pub mcp_allowed: Option<Vec<String>>,
    pub mcp_excluded: Vec<String>,
    pub security: SecurityKeys,
    pub policy_paths: Vec<PathBuf>,
    pub output_format: OutputFormat,
    /// Whether agent files are used.
    pub enable_agents: bool,
    /// The disabled agents.
    pub agent_overrides: AgentOverrides,
    /// Whether the folder is trusted.
    pub trusted: bool,
    /// What the folder's own files can do.
    pub project_trust: ProjectTrust,
    /// The permissions in its settings files, and which of them are ignored.
    pub project: ProjectReport,
    /// Credentials from the environment and the user's `.env` file, for models chosen by name.
    pub keys: ModelCredentials,
    /// The user's `.env` file.
    pub env_file: Option<EnvFile>,
    pub homes: HomeFolders,
    /// Ignored settings, in sentences for people.
    pub warnings: Vec<String>,
    pub(crate) resolved: ResolvedSettings,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelKeys {
    pub name: Option<String>,
    /// None: unlimited.
    pub max_session_turns: Option<u32>,
    /// The share of the window that triggers compaction, from 0 to 1.
    pub compression_threshold: f64,
    pub disable_loop_detection: bool,
    /// The context window of a model on another server than its vendor's. None: the provider's default.
    pub context_window: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneralKeys {
    /// Already limited by trust and `security.disableYoloMode`.
    pub approval_mode: ApprovalMode,
    /// The timeout in seconds until a model's answer begins.
    pub first_byte_timeout: u32,
    pub max_attempts: u32,
    pub retry_fetch_errors: bool,
    pub proxy: Option<ProxySetting>,
    pub session_retention: SessionRetention,
}

/// Which terminal sessions are kept. Without a limit, all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionRetention {
    /// Sessions used within this time.
    pub max_age: Option<Duration>,
    /// The maximum number in each folder.
    pub max_count: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolKeys {
    /// Only these built-in tools; empty: all.
    pub core: Option<Vec<String>>,
    pub allowed: Vec<String>,
    pub exclude: Vec<String>,
    pub confirmation_required: Vec<String>,
    /// Characters of output beyond which it is saved to a file. None: never.
    pub truncate_output_threshold: Option<usize>,
    pub shell: ShellKeys,
    pub write_todos: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellKeys {
    pub interactive: bool,
    /// The timeout without output. None: unlimited.
    pub inactivity_timeout: Option<Duration>,
    /// The limit of a command's output. None: unlimited.
    pub max_output_bytes: Option<u64>,
    pub background_completion: BackgroundCompletion,
}

/// The notification when a background command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackgroundCompletion {
    #[default]
    Silent,
    /// Notify the model.
    Inject,
    /// Notify the person.
    Notify,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextKeys {
    pub file_names: Vec<String>,
    /// Absolute.
    pub include_directories: Vec<PathBuf>,
    /// Whether context files are also loaded from there.
    pub load_memory_from_include_directories: bool,
    pub include_directory_tree: bool,
    pub discovery_max_dirs: usize,
    pub respect_git_ignore: bool,
    pub respect_gemini_ignore: bool,
    /// Absolute.
    pub custom_ignore_file_paths: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityKeys {
    /// None if it is not set.
    pub folder_trust: Option<bool>,
    pub disable_yolo_mode: bool,
    pub disable_always_allow: bool,
    pub enable_permanent_tool_approval: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    #[default]
    Text,
    Json,
    StreamJson,
}

impl ToolKeys {
    /// Whether a built-in tool is offered. Not for MCP tools.
    pub fn offers(&self, tool: &str) -> bool {
        let named = |entry: &String| tool_of_entry(entry).0 == tool;
        let excluded = |entry: &String| tool_of_entry(entry) == (tool, false);
        self.core.as_ref().is_none_or(|core| core.iter().any(named)) && !self.exclude.iter().any(excluded)
    }
}

/// The tool of a short rule, and whether the rule is limited to some commands.
pub(crate) fn tool_of_entry(entry: &str) -> (&str, bool) {
    let (tool, narrowed) = match entry.split_once('(') {
        Some((tool, _)) => (tool.trim(), true),
        None => (entry.trim(), false),
    };
    (if tool == "ShellTool" { "run_shell_command" } else { tool }, narrowed)
}

/// The inputs of the conversion.
pub(crate) struct SettingsReader<'a> {
    pub(crate) resolved: &'a ResolvedSettings,
    pub(crate) workspace: &'a Path,
    pub(crate) homes: &'a HomeFolders,
    pub(crate) trusted: bool,
    pub(crate) warnings: &'a mut Vec<String>,
}

impl SettingsReader<'_> {
    pub(crate) fn model(&self) -> ModelKeys {
        let threshold = self.resolved.get("model.compressionThreshold");
        ModelKeys {
            name: self.resolved.text("model.name"),
            max_session_turns: u32::try_from(self.resolved.whole("model.maxSessionTurns")).ok(),
            compression_threshold: threshold
                .and_then(|it| it.value.as_f64())
                .unwrap_or(DEFAULT_COMPACTION_THRESHOLD),
            disable_loop_detection: self.resolved.bool("model.disableLoopDetection"),
            context_window: self.resolved.get("model.contextWindow").and_then(|it| it.value.as_u64()),
        }
    }

    pub(crate) fn general(&mut self) -> GeneralKeys {
        GeneralKeys {
            approval_mode: self.approval_mode(),
            first_byte_timeout: u32::try_from(self.resolved.whole("general.firstByteTimeout")).unwrap_or(120),
            max_attempts: u32::try_from(self.resolved.whole("general.maxAttempts")).unwrap_or(1).max(1),
            retry_fetch_errors: self.resolved.bool("general.retryFetchErrors"),
            proxy: ProxySetting::of(self.resolved),
            session_retention: self.session_retention(),
        }
    }

    fn session_retention(&self) -> SessionRetention {
        if !self.resolved.bool("general.sessionRetention.enabled") {
            return SessionRetention::default();
        }
        let count = self.resolved.get("general.sessionRetention.maxCount").and_then(|it| it.value.as_u64());
        SessionRetention {
            max_age: self.resolved.text("general.sessionRetention.maxAge").as_deref().and_then(age::parse),
            max_count: count.and_then(|count| usize::try_from(count).ok()),
        }
    }

    fn approval_mode(&mut self) -> ApprovalMode {
        let mode_text = self.resolved.text("general.defaultApprovalMode").unwrap_or_default();
        let mode = ApprovalMode::from_name(&mode_text).unwrap_or_default();
        let why = match mode {
            ApprovalMode::Yolo if self.resolved.bool("security.disableYoloMode") => {
                "security.disableYoloMode forbids yolo"
            }
            ApprovalMode::Yolo | ApprovalMode::Confined | ApprovalMode::AutoEdit if !self.trusted => {
                "the folder is not trusted; --trust trusts it for this run, `attache trust` for good"
            }
            _ => return mode,
        };
        self.warnings.push(format!("the approval mode is default and not {mode_text}: {why}"));
        ApprovalMode::Default
    }

    pub(crate) fn tools(&self) -> ToolKeys {
        let texts = |name: &str| self.resolved.texts(name).unwrap_or_default();
        let seconds = u64::try_from(self.resolved.whole("tools.shell.inactivityTimeout")).unwrap_or(0);
        let megabytes = u64::try_from(self.resolved.whole("tools.shell.maxOutputMegabytes")).unwrap_or(0);
        let threshold = usize::try_from(self.resolved.whole("tools.truncateToolOutputThreshold"));
        ToolKeys {
            core: self.resolved.texts("tools.core"),
            allowed: texts("tools.allowed"),
            exclude: texts("tools.exclude"),
            confirmation_required: texts("tools.confirmationRequired"),
            truncate_output_threshold: threshold.ok().filter(|threshold| *threshold > 0),
            shell: ShellKeys {
                interactive: self.resolved.bool("tools.shell.enableInteractiveShell"),
                inactivity_timeout: (seconds > 0).then(|| Duration::from_secs(seconds)),
                max_output_bytes: (megabytes > 0).then_some(megabytes << 20),
                background_completion: match self
                    .resolved
                    .text("tools.shell.backgroundCompletionBehavior")
                    .as_deref()
                {
                    Some("inject") => BackgroundCompletion::Inject,
                    Some("notify") => BackgroundCompletion::Notify,
                    _ => BackgroundCompletion::Silent,
                },
            },
            write_todos: self.resolved.bool("useWriteTodos"),
        }
    }

    /// `allowed`: the folders that a project's paths must be in.
    pub(crate) fn context(&mut self, allowed: &[PathBuf]) -> ContextKeys {
        let names = self.resolved.texts("context.fileName").unwrap_or_default();
        ContextKeys {
            file_names: names.into_iter().filter(|name| self.is_file_name(name)).collect(),
            include_directories: self.include_directories(allowed),
            load_memory_from_include_directories: self
                .resolved
                .bool("context.loadMemoryFromIncludeDirectories"),
            include_directory_tree: self.resolved.bool("context.includeDirectoryTree"),
            discovery_max_dirs: usize::try_from(self.resolved.whole("context.discoveryMaxDirs")).unwrap_or(0),
            respect_git_ignore: self.resolved.bool("context.fileFiltering.respectGitIgnore"),
            respect_gemini_ignore: self.resolved.bool("context.fileFiltering.respectGeminiIgnore"),
            custom_ignore_file_paths: self.ignore_files(),
        }
    }

    /// A file name that is searched in every folder must not contain folders.
    fn is_file_name(&mut self, name: &str) -> bool {
        let mut parts = Path::new(name).components();
        let plain = matches!(parts.next(), Some(std::path::Component::Normal(_))) && parts.next().is_none();
        if !plain {
            self.warnings.push(format!("context.fileName: {name:?} is no name of a file and is left out"));
        }
        plain
    }

    fn include_directories(&mut self, allowed: &[PathBuf]) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let items = self.resolved.get("context.includeDirectories").map(|it| it.items.clone());
        for (text, layer, origin) in items.unwrap_or_default() {
            let path = self.absolute(&text);
            file_stamps::location(&path);
            let Some(path) = path.canonicalize().ok().filter(|path| path.is_dir()) else {
                self.warnings.push(format!("{origin}: context.includeDirectories: {text:?} is no folder"));
                continue;
            };
            // What is done in a folder is recorded with its path.
            if path.to_str().is_none() {
                self.warnings.push(format!(
                    "{origin}: context.includeDirectories: {text:?} leads to a path that is not text in UTF-8 and is left out"
                ));
                continue;
            }
            let inside = |root: &PathBuf| path.starts_with(root);
            if layer.is_project() && !path.starts_with(self.workspace) && !allowed.iter().any(inside) {
                self.warnings.push(format!(
                    "{origin}: context.includeDirectories: {text:?} is not below an allowed root and is left out"
                ));
                continue;
            }
            folders.push(path);
        }
        folders
    }

    /// A project can name only its own plain files: others may never end, or be private.
    fn ignore_files(&self) -> Vec<PathBuf> {
        let items =
            self.resolved.get("context.fileFiltering.customIgnoreFilePaths").map(|it| it.items.as_slice());
        let fine = |(text, layer, _): &(String, Layer, attache_config::SettingOrigin)| {
            let path = self.absolute(text);
            file_stamps::location(&path);
            let inside =
                || path.canonicalize().is_ok_and(|it| it.starts_with(self.workspace) && it.is_file());
            (!layer.is_project() || inside()).then_some(path)
        };
        items.unwrap_or_default().iter().filter_map(fine).collect()
    }

    pub(crate) fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.resolved.texts(name).unwrap_or_default().iter().map(|text| self.absolute(text)).collect()
    }

    fn absolute(&self, text: &str) -> PathBuf {
        let home = self.homes.home.as_deref();
        match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            (None, Some(home)) if text == "~" => home.to_owned(),
            _ => self.workspace.join(text),
        }
    }

    pub(crate) fn security(&self) -> SecurityKeys {
        let trust = self.resolved.get("security.folderTrust.enabled");
        SecurityKeys {
            folder_trust: trust.and_then(|it| it.value.as_bool()),
            disable_yolo_mode: self.resolved.bool("security.disableYoloMode"),
            disable_always_allow: self.resolved.bool("security.disableAlwaysAllow"),
            enable_permanent_tool_approval: self.resolved.bool("security.enablePermanentToolApproval"),
        }
    }

    pub(crate) fn output_format(&self) -> OutputFormat {
        match self.resolved.text("output.format").as_deref() {
            Some("json") => OutputFormat::Json,
            Some("stream-json") => OutputFormat::StreamJson,
            _ => OutputFormat::Text,
        }
    }

    /// Removes excluded and not allowed servers, and limits their trust to that of the folder.
    pub(crate) fn servers(&self) -> BTreeMap<String, McpServerSettings> {
        let allowed = self.resolved.texts("mcp.allowed");
        let excluded = self.resolved.texts("mcp.excluded").unwrap_or_default();
        let offered = |name: &String| {
            allowed.as_ref().is_none_or(|allowed| allowed.contains(name)) && !excluded.contains(name)
        };
        let servers = self.resolved.servers.iter().filter(|(name, _)| offered(name));
        let servers = servers.map(|(name, (_, server))| {
            (name.clone(), McpServerSettings { trust: server.trust && self.trusted, ..server.clone() })
        });
        servers.collect()
    }
}

impl WorkspaceSettings {
    /// Whether the strongest layer of the key is the project's.
    pub(crate) fn is_said_by_project(&self, name: &str) -> bool {
        self.resolved.get(name).is_some_and(|effective| effective.layer.is_project())
    }

    /// Whether the project added this entry of a list.
    pub(crate) fn item_is_project(&self, name: &str, text: &str) -> bool {
        let items = self.resolved.get(name).map(|effective| effective.items.as_slice()).unwrap_or_default();
        items.iter().any(|(item, layer, _)| item == text && layer.is_project())
    }

    pub(crate) fn origin(&self, name: &str) -> String {
        let origins = self.resolved.get(name).map(|effective| effective.origins.clone()).unwrap_or_default();
        origins.first().map_or_else(|| name.to_owned(), |origin| format!("{name} in {origin}"))
    }

    pub(crate) fn server_is_project(&self, name: &str) -> bool {
        self.resolved.servers.get(name).is_some_and(|(layer, _)| Layer::is_project(*layer))
    }
}
