//! Names of tools that every provider accepts.
//!
//! Tools of MCP servers may have any name. A name that providers refuse is replaced in requests, and calls are mapped
//! back to the tool.

use std::collections::HashMap;

use attache_model::Prompt;

/// Maps the names of a prompt's tools to the names in requests, and back.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    sent: HashMap<String, String>,
    tools: HashMap<String, String>,
}

/// The characters that all providers accept.
pub(crate) const MAX_NAME_LENGTH: usize = 64;

impl ToolNames {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        let mut names = Self::default();
        // Valid names stay unchanged, in any order of the tools.
        let (fitting, others): (Vec<_>, Vec<_>) =
            prompt.tools.iter().map(|tool| tool.name.as_str()).partition(|name| fits(name));
        for name in fitting.into_iter().chain(others) {
            let sent = (0..)
                .map(|count| plain_name(name, count))
                .find(|sent| names.tools.get(sent).is_none_or(|tool| tool == name));
            let sent = sent.unwrap_or_default();
            names.tools.insert(sent.clone(), name.to_owned());
            names.sent.insert(name.to_owned(), sent);
        }
        names
    }

    /// The name in requests. Also covers removed tools that the history calls.
    pub(crate) fn sent_name(&self, name: &str) -> String {
        self.sent.get(name).cloned().unwrap_or_else(|| plain_name(name, 0))
    }

    /// The tool that a model calls as `sent`.
    pub(crate) fn tool_name(&self, sent: String) -> String {
        self.tools.get(&sent).cloned().unwrap_or(sent)
    }
}

fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_LENGTH && name.chars().all(is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

/// The `count`th candidate for a name.
fn plain_name(name: &str, count: usize) -> String {
    let plain = |character: char| if is_plain(character) { character } else { '_' };
    let tail = if count == 0 { String::new() } else { format!("_{count}") };
    let mut plain_name: String = name.chars().map(plain).take(MAX_NAME_LENGTH - tail.len()).collect();
    if plain_name.is_empty() {
        plain_name.push('_');
    }
    plain_name + &tail
}

#[cfg(test)]
mod tests {
    use attache_model::ToolDeclaration;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[&str]) {
        let tool = |name: &&str| ToolDeclaration {
            name: (*name).into(),
            description: String::new(),
            parameters: json!({}),
        };
        let tools = names.iter().map(tool).collect();
        let found = ToolNames::of(&Prompt { tools, ..Prompt::default() });
        let sent: Vec<_> = names.iter().map(|name| found.sent_name(name)).collect();
        assert_eq!(sent, expected);
        for (name, sent) in names.iter().zip(sent) {
            assert_eq!(&found.tool_name(sent), name);
        }
    }

    #[test]
    fn names_that_fit_stay_and_others_do_not_take_their_place() {
        check(&["read_file", "a-1"], &["read_file", "a-1"]);
        check(&["git.log", "git_log", "git:log"], &["git_log_1", "git_log", "git_log_2"]);
        check(&["größe", ""], &["gr__e", "_"]);
        let long = "x".repeat(70);
        check(&[&long], &[&long[..64]]);
        assert_eq!(ToolNames::default().sent_name("gone.tool"), "gone_tool");
        assert_eq!(ToolNames::default().tool_name("unheard".into()), "unheard");
    }
}
