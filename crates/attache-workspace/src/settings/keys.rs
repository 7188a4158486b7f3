//! All known keys: their types, how layers are merged, and what a project can set.

use attache_document::{Node, NodeKind};

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    Bool,
    Whole {
        least: i64,
        most: i64,
    },
    /// A number from 0 to 1.
    Share,
    Text,
    OneOf(&'static [&'static str]),
    Texts,
    /// A single value needs no brackets.
    TextOrTexts,
    /// Such as `30d`.
    Age,
    Servers,
    /// Overrides of agents, by name.
    Agents,
}

/// How the values of several layers are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The strongest layer wins.
    Strongest,
    /// The lists are joined.
    Together,
    /// The strongest layer wins, but a project can only remove entries of the other layers.
    Narrower,
}

/// What a project's value of a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectEffect {
    /// A project cannot set it.
    Nothing,
    /// It can only deny or hide, so it applies in every folder.
    Restricts,
    /// It changes how the agent works, but grants nothing: it applies in a trusted folder.
    Configures,
    /// It lets the agent run, read or send something: it applies once a person has accepted it.
    Allows,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettingKey {
    pub(crate) name: &'static str,
    pub(crate) value_type: ValueType,
    pub(crate) merge: Merge,
    /// The general case; [`project_effect`] also looks at the value.
    pub(crate) project: ProjectEffect,
    /// As JSON.
    pub(crate) default: &'static str,
}

const fn key(name: &'static str, takes: ValueType, default: &'static str) -> SettingKey {
    SettingKey {
        name,
        value_type: takes,
        merge: Merge::Strongest,
        project: ProjectEffect::Configures,
        default,
    }
}

const fn allows(name: &'static str, takes: ValueType, default: &'static str) -> SettingKey {
    SettingKey { project: ProjectEffect::Allows, ..key(name, takes, default) }
}

const fn together(name: &'static str) -> SettingKey {
    SettingKey {
        merge: Merge::Together,
        project: ProjectEffect::Restricts,
        ..key(name, ValueType::Texts, "[]")
    }
}

const fn narrowing(name: &'static str, takes: ValueType, default: &'static str) -> SettingKey {
    SettingKey { merge: Merge::Narrower, project: ProjectEffect::Restricts, ..key(name, takes, default) }
}

const fn guarded(name: &'static str, takes: ValueType, default: &'static str) -> SettingKey {
    SettingKey { project: ProjectEffect::Nothing, ..key(name, takes, default) }
}

/// What a project's value of a key can do, depending on the value.
pub(crate) fn project_effect(key: &SettingKey, node: &Node) -> ProjectEffect {
    match (key.name, &node.kind) {
        ("general.defaultApprovalMode", NodeKind::Text(mode)) => match mode.as_str() {
            "plan" | "default" => ProjectEffect::Restricts,
            "yolo" => ProjectEffect::Nothing,
            _ => ProjectEffect::Allows,
        },
        (
            "context.fileFiltering.respectGitIgnore" | "context.fileFiltering.respectGeminiIgnore",
            NodeKind::Bool(true),
        ) => ProjectEffect::Restricts,
        _ => key.project,
    }
}

const MANY: i64 = 1_000_000_000;

const fn whole(least: i64) -> ValueType {
    ValueType::Whole { least, most: MANY }
}

pub(crate) const MODES: &[&str] = &["default", "auto_edit", "autoEdit", "confined", "yolo", "plan"];

pub(crate) const KEYS: &[SettingKey] = &[
    SettingKey { project: ProjectEffect::Restricts, ..key("agents.overrides", ValueType::Agents, "{}") },
    key("context.discoveryMaxDirs", whole(0), "200"),
    together("context.fileFiltering.customIgnoreFilePaths"),
    allows("context.fileFiltering.respectGeminiIgnore", ValueType::Bool, "true"),
    allows("context.fileFiltering.respectGitIgnore", ValueType::Bool, "true"),
    allows("context.fileName", ValueType::TextOrTexts, r#"["GEMINI.md", "AGENTS.md"]"#),
    SettingKey { project: ProjectEffect::Allows, ..together("context.includeDirectories") },
    key("context.includeDirectoryTree", ValueType::Bool, "true"),
    allows("context.loadMemoryFromIncludeDirectories", ValueType::Bool, "false"),
    allows("experimental.enableAgents", ValueType::Bool, "false"),
    narrowing("general.defaultApprovalMode", ValueType::OneOf(MODES), r#""default""#),
    key("general.firstByteTimeout", ValueType::Whole { least: 1, most: 300 }, "120"),
    key("general.maxAttempts", ValueType::Whole { least: 1, most: 100 }, "10"),
    guarded("general.proxy", ValueType::Text, "null"),
    key("general.retryFetchErrors", ValueType::Bool, "true"),
    guarded("general.sessionRetention.enabled", ValueType::Bool, "true"),
    guarded("general.sessionRetention.maxAge", ValueType::Age, r#""30d""#),
    guarded("general.sessionRetention.maxCount", whole(1), "null"),
    narrowing("mcp.allowed", ValueType::Texts, "null"),
    together("mcp.excluded"),
    allows("mcpServers", ValueType::Servers, "{}"),
    // A test holds it equal to `attache_agent::DEFAULT_COMPACTION_THRESHOLD`.
    key("model.compressionThreshold", ValueType::Share, "0.5"),
    key("model.contextWindow", whole(1000), "null"),
    key("model.disableLoopDetection", ValueType::Bool, "false"),
    key("model.maxSessionTurns", whole(-1), "-1"),
    allows("model.name", ValueType::Text, "null"),
    key("output.format", ValueType::OneOf(&["text", "json", "stream-json"]), r#""text""#),
    SettingKey { project: ProjectEffect::Nothing, ..together("policyPaths") },
    guarded("security.disableAlwaysAllow", ValueType::Bool, "false"),
    guarded("security.disableYoloMode", ValueType::Bool, "false"),
    guarded("security.enablePermanentToolApproval", ValueType::Bool, "false"),
    guarded("security.folderTrust.enabled", ValueType::Bool, "null"),
    SettingKey { project: ProjectEffect::Nothing, ..together("security.projectVariables") },
    allows("tools.allowed", ValueType::Texts, "[]"),
    together("tools.confirmationRequired"),
    narrowing("tools.core", ValueType::Texts, "null"),
    together("tools.exclude"),
    key(
        "tools.shell.backgroundCompletionBehavior",
        ValueType::OneOf(&["silent", "inject", "notify"]),
        r#""silent""#,
    ),
    key("tools.shell.enableInteractiveShell", ValueType::Bool, "true"),
    key("tools.shell.inactivityTimeout", whole(0), "300"),
    guarded("tools.shell.maxOutputMegabytes", whole(0), "256"),
    key("tools.truncateToolOutputThreshold", whole(-1), "40000"),
    key("useWriteTodos", ValueType::Bool, "true"),
];

/// Keys and whole sections of other programs, which cause no warning.
pub(crate) const UNUSED: &[&str] = &[
    "$schema",
    "admin",
    "adminPolicyPaths",
    "advanced",
    "agents",
    "billing",
    "context.fileFiltering.disableFuzzySearch",
    "context.fileFiltering.enableFuzzySearch",
    "context.fileFiltering.enableRecursiveFileSearch",
    "context.fileFiltering.enableFileWatcher",
    "context.importFormat",
    "context.loadFromIncludeDirectories",
    "context.memoryBoundaryMarkers",
    "experimental",
    "extensions",
    "general.checkpointing",
    "general.debugKeystrokeLogging",
    "general.devtools",
    "general.disableAutoUpdate",
    "general.disableUpdateNag",
    "general.enableAutoUpdate",
    "general.enableAutoUpdateNotification",
    "general.enableNotifications",
    "general.enablePromptCompletion",
    "general.plan",
    "general.preferredEditor",
    "general.previewFeatures",
    "general.sessionRetention.minRetention",
    "general.sessionRetention.warningAcknowledged",
    "general.vimMode",
    "hooks",
    "hooksConfig",
    "ide",
    "mcp.serverCommand",
    "model.chatCompression",
    "model.enableShellOutputEfficiency",
    "model.skipNextSpeakerCheck",
    "model.summarizeToolOutput",
    "modelConfigs",
    "privacy",
    "security.allowedExtensions",
    "security.auth",
    "security.autoAddToPolicyByDefault",
    "security.blockGitExtensions",
    "security.enableConseca",
    "security.environmentVariableRedaction",
    "security.folderTrust.featureEnabled",
    "security.toolSandboxing",
    "skills",
    "telemetry",
    "tools.autoAccept",
    "tools.callCommand",
    "tools.disableLLMCorrection",
    "tools.discoveryCommand",
    "tools.enableHooks",
    "tools.enableMessageBusIntegration",
    "tools.enableToolOutputTruncation",
    "tools.sandbox",
    "tools.sandboxAllowedPaths",
    "tools.sandboxNetworkAccess",
    "tools.shell.enableShellOutputEfficiency",
    "tools.shell.pager",
    "tools.shell.showColor",
    "tools.truncateToolOutputLines",
    "tools.useRipgrep",
    "ui",
];

/// The names of keys from before sections existed.
pub(crate) const FLAT: &[(&str, &str)] = &[
    ("accessibility", "ui"),
    ("allowMCPServers", "mcp.allowed"),
    ("allowedTools", "tools.allowed"),
    ("autoAccept", "tools.autoAccept"),
    ("bugCommand", "advanced"),
    ("chatCompression", "model.chatCompression"),
    ("checkpointing", "general.checkpointing"),
    ("contextFileName", "context.fileName"),
    ("coreTools", "tools.core"),
    ("customThemes", "ui"),
    ("disableAutoUpdate", "general.disableAutoUpdate"),
    ("enforcedAuthType", "security.auth"),
    ("excludeMCPServers", "mcp.excluded"),
    ("excludeTools", "tools.exclude"),
    ("excludedProjectEnvVars", "advanced"),
    ("fileFiltering", "context.fileFiltering"),
    ("folderTrust", "security.folderTrust.enabled"),
    ("folderTrustFeature", "security.folderTrust.featureEnabled"),
    ("hasSeenIdeIntegrationNudge", "ide"),
    ("hideBanner", "ui"),
    ("hideFooter", "ui"),
    ("hideTips", "ui"),
    ("hideWindowTitle", "ui"),
    ("ideMode", "ide"),
    ("includeDirectories", "context.includeDirectories"),
    ("loadMemoryFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories"),
    ("maxSessionTurns", "model.maxSessionTurns"),
    ("mcpServerCommand", "mcp.serverCommand"),
    ("memoryDiscoveryMaxDirs", "context.discoveryMaxDirs"),
    ("memoryImportFormat", "context.importFormat"),
    ("model", "model.name"),
    ("preferredEditor", "general.preferredEditor"),
    ("sandbox", "tools.sandbox"),
    ("selectedAuthType", "security.auth"),
    ("shouldUseNodePtyShell", "tools.shell.enableInteractiveShell"),
    ("skipNextSpeakerCheck", "model.skipNextSpeakerCheck"),
    ("summarizeToolOutput", "model.summarizeToolOutput"),
    ("theme", "ui"),
    ("toolCallCommand", "tools.callCommand"),
    ("toolDiscoveryCommand", "tools.discoveryCommand"),
    ("usageStatisticsEnabled", "privacy"),
    ("useRipgrep", "tools.useRipgrep"),
    ("vimMode", "general.vimMode"),
];

pub(crate) fn find(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether the key is unused, or unknown inside an unused section.
pub(crate) fn is_unused(name: &str) -> bool {
    let mut unused = UNUSED.iter();
    find(name).is_none()
        && unused.any(|it| name.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// Whether there are known keys inside it.
pub(crate) fn is_section(name: &str) -> bool {
    let inside = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().any(|key| inside(key.name)) || UNUSED.iter().any(|unused| inside(unused))
}

/// Every name that a warning can suggest.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name).chain(UNUSED.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_agree_with_themselves() {
        for (old, new) in FLAT {
            assert!(find(new).is_some() || is_unused(new) || is_section(new), "{old} becomes {new}");
            assert!(find(old).is_none() && !is_unused(old), "{old}");
        }
        for key in KEYS {
            assert!(!is_unused(key.name) && !is_section(key.name), "{}", key.name);
            assert!(serde_json::from_str::<serde_json::Value>(key.default).is_ok(), "{}", key.name);
            let lists = matches!(key.value_type, ValueType::Texts);
            assert!(key.merge != Merge::Together || lists, "{}: only lists go together", key.name);
            let not_projects = ["general.proxy", "policyPaths", "tools.shell.maxOutputMegabytes"];
            let starts = ["security.", "general.sessionRetention."];
            let guarded =
                starts.iter().any(|start| key.name.starts_with(start)) || not_projects.contains(&key.name);
            assert_eq!(guarded, key.project == ProjectEffect::Nothing, "{}", key.name);
        }
        assert!(KEYS.is_sorted_by_key(|key| key.name));
    }

    /// A new key has to be put into one of these lists: what could a hostile project do with it?
    #[test]
    fn every_key_that_lets_something_happen_has_to_be_accepted() {
        let of = |say: ProjectEffect| -> Vec<&str> {
            KEYS.iter().filter(|key| key.project == say).map(|key| key.name).collect()
        };
        assert_eq!(
            of(ProjectEffect::Allows),
            [
                "context.fileFiltering.respectGeminiIgnore",
                "context.fileFiltering.respectGitIgnore",
                "context.fileName",
                "context.includeDirectories",
                "context.loadMemoryFromIncludeDirectories",
                "experimental.enableAgents",
                "mcpServers",
                "model.name",
                "tools.allowed",
            ]
        );
        assert_eq!(
            of(ProjectEffect::Restricts),
            [
                "agents.overrides",
                "context.fileFiltering.customIgnoreFilePaths",
                "general.defaultApprovalMode",
                "mcp.allowed",
                "mcp.excluded",
                "tools.confirmationRequired",
                "tools.core",
                "tools.exclude",
            ]
        );
        let configures = of(ProjectEffect::Configures);
        let harmless = ["context.", "general.", "model.", "output.", "tools.", "useWriteTodos"];
        assert!(configures.iter().all(|name| harmless.iter().any(|start| name.starts_with(start))));
        assert_eq!(configures.len(), 15, "{configures:?}");
    }
}
