//! Every key that is known: what it takes, how several that say it go together, and who may say it.

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
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
    /// One alone needs no brackets.
    TextOrTexts,
    Servers,
}

/// What happens when several layers say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The strongest counts.
    Strongest,
    /// All count together.
    Together,
}

/// Who may say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Anyone,
    /// Those who answer for the machine, not those who wrote the project.
    NotProjects,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) merge: Merge,
    pub(crate) whose: Whose,
    /// As JSON.
    pub(crate) default: &'static str,
}

const fn key(name: &'static str, takes: Takes, default: &'static str) -> Key {
    Key { name, takes, merge: Merge::Strongest, whose: Whose::Anyone, default }
}

const fn together(name: &'static str) -> Key {
    Key { name, takes: Takes::Texts, merge: Merge::Together, whose: Whose::Anyone, default: "[]" }
}

const fn guarded(name: &'static str, takes: Takes, default: &'static str) -> Key {
    Key { whose: Whose::NotProjects, ..key(name, takes, default) }
}

const MANY: i64 = 1_000_000_000;

const fn whole(least: i64) -> Takes {
    Takes::Whole { least, most: MANY }
}

pub(crate) const MODES: &[&str] = &["default", "auto_edit", "autoEdit", "confined", "yolo", "plan"];

pub(crate) const KEYS: &[Key] = &[
    key("context.discoveryMaxDirs", whole(0), "200"),
    together("context.fileFiltering.customIgnoreFilePaths"),
    key("context.fileFiltering.respectGeminiIgnore", Takes::Bool, "true"),
    key("context.fileFiltering.respectGitIgnore", Takes::Bool, "true"),
    key("context.fileName", Takes::TextOrTexts, r#"["GEMINI.md", "AGENTS.md"]"#),
    together("context.includeDirectories"),
    key("context.includeDirectoryTree", Takes::Bool, "true"),
    key("context.loadMemoryFromIncludeDirectories", Takes::Bool, "false"),
    key("general.defaultApprovalMode", Takes::OneOf(MODES), r#""default""#),
    key("general.maxAttempts", Takes::Whole { least: 1, most: 100 }, "10"),
    key("general.retryFetchErrors", Takes::Bool, "true"),
    key("mcp.allowed", Takes::Texts, "null"),
    together("mcp.excluded"),
    key("mcpServers", Takes::Servers, "{}"),
    key("model.compressionThreshold", Takes::Share, "0.5"),
    key("model.disableLoopDetection", Takes::Bool, "false"),
    key("model.maxSessionTurns", whole(-1), "-1"),
    key("model.name", Takes::Text, "null"),
    key("output.format", Takes::OneOf(&["text", "json", "stream-json"]), r#""text""#),
    Key { whose: Whose::NotProjects, ..together("policyPaths") },
    guarded("security.disableAlwaysAllow", Takes::Bool, "false"),
    guarded("security.disableYoloMode", Takes::Bool, "false"),
    guarded("security.enablePermanentToolApproval", Takes::Bool, "false"),
    guarded("security.folderTrust.enabled", Takes::Bool, "null"),
    key("tools.allowed", Takes::Texts, "[]"),
    together("tools.confirmationRequired"),
    key("tools.core", Takes::Texts, "null"),
    together("tools.exclude"),
    key(
        "tools.shell.backgroundCompletionBehavior",
        Takes::OneOf(&["silent", "inject", "notify"]),
        r#""silent""#,
    ),
    key("tools.shell.enableInteractiveShell", Takes::Bool, "true"),
    key("tools.shell.inactivityTimeout", whole(0), "300"),
    key("tools.truncateToolOutputThreshold", whole(-1), "40000"),
    key("useWriteTodos", Takes::Bool, "true"),
];

/// Keys and whole sections that others read and we have no use for: no reason to warn.
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
    "general.proxy",
    "general.sessionRetention",
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

/// How keys were called when there were no sections yet.
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

pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether it is an unused key or inside an unused section.
pub(crate) fn is_unused(name: &str) -> bool {
    UNUSED
        .iter()
        .any(|unused| name.strip_prefix(unused).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// Whether known keys are inside it.
pub(crate) fn is_section(name: &str) -> bool {
    let inside = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().any(|key| inside(key.name)) || UNUSED.iter().any(|unused| inside(unused))
}

/// Every name that a warning can propose.
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
            let lists = matches!(key.takes, Takes::Texts);
            assert!(key.merge == Merge::Strongest || lists, "{}: only lists go together", key.name);
            assert_eq!(
                key.name.starts_with("security."),
                key.whose == Whose::NotProjects && key.name != "policyPaths"
            );
        }
        assert!(KEYS.is_sorted_by_key(|key| key.name));
    }
}
