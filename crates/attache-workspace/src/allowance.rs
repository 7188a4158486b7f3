//! Allowances: what a project's files let happen, such as programs to start, servers to reach and tools that run unasked.
//!
//! An allowance counts only in a trusted folder, and only after a person has seen and accepted exactly this one. The hash of
//! its content identifies it, so a changed one has to be accepted again. Its place in the file does not matter.

use std::collections::BTreeMap;
use std::path::Path;

use attache_config::{ApprovalMode, SecretText, SettingOrigin};
use attache_tool::policy::{PolicyRule, to_toml};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::FolderTrust;
use crate::settings::mcp::{McpServerSettings, McpTransport};
use crate::visible::visible;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllowanceKind {
    Setting,
    McpServer,
    Rule,
    Command,
    Agent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    pub kind: AllowanceKind,
    /// The file and the line.
    pub origin: SettingOrigin,
    /// What it lets happen, for people. Characters that could deceive are escaped.
    pub words: String,
    /// The hash of its content.
    pub digest: String,
}

impl Allowance {
    /// `canonical` is its content in a form that does not depend on blanks, order or place.
    pub fn new(kind: AllowanceKind, origin: SettingOrigin, words: &str, canonical: &str) -> Self {
        let digest = Sha256::digest(format!("{}\0{canonical}", kind.name()));
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { kind, origin, words: visible(words), digest }
    }

    /// A custom command that runs programs.
    pub fn command(name: &str, path: &Path, line: u32, programs: &[String]) -> Self {
        let words = format!("/{name} runs {}", quoted(programs));
        let canonical = Value::from(vec![name.to_owned(), Value::from(programs.to_vec()).to_string()]);
        let origin = SettingOrigin::File { path: path.into(), line };
        Self::new(AllowanceKind::Command, origin, &words, &canonical.to_string())
    }

    /// An agent of an agent file.
    pub(crate) fn agent(origin: SettingOrigin, words: &str, canonical: &str) -> Self {
        Self::new(AllowanceKind::Agent, origin, words, canonical)
    }

    pub(crate) fn setting(key: &str, value: &Value, origin: SettingOrigin) -> Self {
        let words = setting_words(key, value);
        Self::new(AllowanceKind::Setting, origin, &words, &format!("{key}={value}"))
    }

    pub(crate) fn server(name: &str, server: &McpServerSettings, canonical: &Value) -> Self {
        let words = server_words(name, server);
        let canonical = format!("{name}={canonical}");
        Self::new(AllowanceKind::McpServer, server.origin.clone(), &words, &canonical)
    }

    /// `path` is the file that the rule stands in.
    pub(crate) fn rule(rule: &PolicyRule, path: &Path) -> Self {
        let line = rule.source.rsplit(':').next().and_then(|line| line.parse().ok()).unwrap_or(0);
        let text = to_toml(std::slice::from_ref(rule));
        let fields: Vec<&str> = text.lines().filter(|line| !line.is_empty() && *line != "[[rule]]").collect();
        let words = format!("these calls run unasked: {}", fields.join(", "));
        let origin = SettingOrigin::File { path: path.into(), line };
        Self::new(AllowanceKind::Rule, origin, &words, &text)
    }
}

impl AllowanceKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::McpServer => "MCP server",
            Self::Rule => "rule",
            Self::Command => "command",
            Self::Agent => "agent",
        }
    }
}

fn setting_words(key: &str, value: &Value) -> String {
    let list = || match value {
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
            .join(", "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match key {
        "tools.allowed" => format!("these tools run unasked: {}", list()),
        "mcp.allowed" => format!("the tools of these MCP servers run unasked: {}", list()),
        "general.defaultApprovalMode" => {
            let mode = list();
            let what = match ApprovalMode::from_name(&mode) {
                Some(ApprovalMode::Confined) => "files are changed and confined commands run unasked",
                Some(ApprovalMode::Yolo) => "everything is done unasked, commands too",
                _ => "files are changed unasked",
            };
            format!("the approval mode is {mode}: {what}")
        }
        "model.name" => format!("the model {} answers and is sent the conversations", list()),
        "experimental.enableAgents" => "agents that agent files define can be given tasks".to_owned(),
        "context.fileName" => format!("files of these names are read as instructions: {}", list()),
        "context.includeDirectories" => format!("the agent works in these folders, too: {}", list()),
        "context.loadMemoryFromIncludeDirectories" => {
            "context files of the further folders are read as instructions".to_owned()
        }
        "context.fileFiltering.respectGitIgnore" => "the agent sees files that .gitignore hides".to_owned(),
        "context.fileFiltering.respectGeminiIgnore" => {
            "the agent sees files that .geminiignore hides".to_owned()
        }
        _ => format!("{key} is {value}"),
    }
}

fn server_words(name: &str, server: &McpServerSettings) -> String {
    let pairs = |what: &str, values: &BTreeMap<String, SecretText>| match values.is_empty() {
        true => String::new(),
        false => {
            let pairs: Vec<String> =
                values.iter().map(|(name, value)| format!("{name}={}", value.expose())).collect();
            format!(", {what} {}", pairs.join(" "))
        }
    };
    let unasked = if server.trust { "; its tools run unasked" } else { "" };
    match &server.transport {
        McpTransport::Stdio { command, arguments, environment, folder } => {
            let line: Vec<String> = std::iter::once(command).chain(arguments).cloned().collect();
            let folder =
                folder.as_ref().map_or_else(String::new, |it| format!(", in the folder {}", it.display()));
            format!(
                "starts the program {} as the MCP server {name}{}{folder}{unasked}",
                quoted(&line),
                pairs("with the variables", environment)
            )
        }
        McpTransport::Http { url, headers, .. } => {
            format!(
                "connects to {url} as the MCP server {name}{}{unasked}",
                pairs("with the headers", headers)
            )
        }
    }
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" ")
}

/// What a project's files allow, and what is ignored of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectReport {
    /// Every allowance, and whether it counts.
    pub allowances: Vec<(Allowance, bool)>,
    /// What else is ignored because the folder is not trusted: place and name.
    pub ignored: Vec<(SettingOrigin, String)>,
}

impl ProjectReport {
    /// Whether the project allows the same as `allowance`, and no person has accepted it.
    pub(crate) fn is_pending(&self, allowance: &Allowance) -> bool {
        self.allowances.iter().any(|(known, counts)| known.digest == allowance.digest && !counts)
    }

    pub fn extend(&mut self, other: Self) {
        self.allowances.extend(other.allowances);
        self.ignored.extend(other.ignored);
    }

    /// Nothing is ignored.
    pub fn is_quiet(&self) -> bool {
        self.ignored.is_empty() && self.allowances.iter().all(|(_, counts)| *counts)
    }

    /// How much is ignored, and in which files.
    pub fn summary(&self) -> Option<String> {
        (!self.is_quiet()).then(|| format!("{} in {}", self.counted(), self.files()))
    }

    /// One line that says what is ignored and how to change that.
    pub fn notice(&self, folder: &Path, trust: &FolderTrust) -> Option<String> {
        let summary = self.summary()?;
        let folder = visible(&folder.display().to_string());
        let why = match trust {
            FolderTrust::Trusted { .. } => "it is not accepted yet".to_owned(),
            FolderTrust::Untrusted { why, .. } => format!("the folder is not trusted: {why}"),
        };
        Some(format!(
            "ignored in {folder}: {summary} ({why}); `attache trust` shows and accepts it, --trust accepts it for one run"
        ))
    }

    /// `2 MCP servers, 1 rule and 3 settings`.
    fn counted(&self) -> String {
        let of = |kind: AllowanceKind| {
            self.allowances.iter().filter(|(allowance, counts)| !counts && allowance.kind == kind).count()
        };
        let numbers = [
            (of(AllowanceKind::McpServer), "MCP server"),
            (of(AllowanceKind::Rule), "rule"),
            (of(AllowanceKind::Command), "command"),
            (of(AllowanceKind::Agent), "agent"),
            (of(AllowanceKind::Setting) + self.ignored.len(), "setting"),
        ];
        let parts = numbers.into_iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts
            .map(|(number, name)| format!("{number} {name}{}", if number == 1 { "" } else { "s" }))
            .collect();
        parts.join(", ")
    }

    fn files(&self) -> String {
        const MAX_NAMED: usize = 4;
        let ignored = self.allowances.iter().filter(|(_, counts)| !counts).map(|(it, _)| &it.origin);
        let mut names: Vec<String> = Vec::new();
        for path in
            ignored.chain(self.ignored.iter().map(|(origin, _)| origin)).filter_map(SettingOrigin::file)
        {
            let parts: Vec<_> = path.components().rev().take(2).collect();
            let short: std::path::PathBuf = parts.into_iter().rev().collect();
            let name = visible(&short.display().to_string());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more = names.len().saturating_sub(MAX_NAMED);
        names.truncate(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
        format!("{}{more}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(line: u32) -> SettingOrigin {
        SettingOrigin::File { path: Path::new("/w/.gemini/settings.json").into(), line }
    }

    #[test]
    fn the_place_does_not_matter_and_the_value_does() {
        let allowance = |value: Value, line| Allowance::setting("tools.allowed", &value, at(line));
        assert_eq!(allowance(json!(["a"]), 1).digest, allowance(json!(["a"]), 9).digest);
        assert_ne!(allowance(json!(["a"]), 1).digest, allowance(json!(["a", "b"]), 1).digest);
        assert_ne!(
            Allowance::command("x", Path::new("/x"), 1, &["a b".into()]).digest,
            Allowance::command("x", Path::new("/x"), 1, &["a".into(), "b".into()]).digest
        );
    }

    #[test]
    fn a_mode_says_whether_commands_run_unasked() {
        for (mode, expected) in [
            ("auto_edit", "the approval mode is auto_edit: files are changed unasked"),
            (
                "confined",
                "the approval mode is confined: files are changed and confined commands run unasked",
            ),
            ("yolo", "the approval mode is yolo: everything is done unasked, commands too"),
        ] {
            let words = Allowance::setting("general.defaultApprovalMode", &json!(mode), at(1)).words;
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn what_would_deceive_is_escaped() {
        let value = json!(["run_shell_command(ls \u{202e}\u{1b}]x\u{7})"]);
        let words = Allowance::setting("tools.allowed", &value, at(1)).words;
        assert_eq!(words, "these tools run unasked: run_shell_command(ls \\u{202e}\\u{1b}]x\\u{7})");
    }

    #[test]
    fn the_notice_is_one_line_with_numbers_files_and_a_way_out() {
        let mut report = ProjectReport::default();
        let no = FolderTrust::Untrusted { why: "nobody said so".into(), decided: false };
        assert_eq!(report.notice(Path::new("/w"), &no), None);
        report.allowances.push((Allowance::setting("tools.allowed", &json!(["a"]), at(1)), false));
        report.ignored.push((at(2), "useWriteTodos".into()));
        report
            .allowances
            .push((Allowance::command("x", Path::new("/w/.gemini/commands/x.toml"), 1, &[]), false));
        let notice = report.notice(Path::new("/w\n"), &no).unwrap();
        assert_eq!(
            notice,
            "ignored in /w\\n: 1 command, 2 settings in .gemini/settings.json, commands/x.toml (the folder is not trusted: \
             nobody said so); `attache trust` shows and accepts it, --trust accepts it for one run"
        );
    }
}
