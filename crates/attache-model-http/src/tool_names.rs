//! Tools under names that a provider takes.
//!
//! Tools of others come under any name. One that does not fit is spelled otherwise on the way out, and a call by
//! that spelling is a call of the tool it stands for.

use std::collections::HashMap;

use attache_model::Prompt;

/// Both ways between the names of a prompt's tools and their spelling.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    spelled: HashMap<String, String>,
    meant: HashMap<String, String>,
}

/// What all providers take.
pub(crate) const MAX_NAME_LENGTH: usize = 64;

impl ToolNames {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        let mut names = Self::default();
        // Valid names stay, in whichever order the tools come.
        let (fitting, others): (Vec<_>, Vec<_>) =
            prompt.tools.iter().map(|tool| tool.name.as_str()).partition(|name| fits(name));
        for name in fitting.into_iter().chain(others) {
            let spelling = (0..)
                .map(|count| spelling(name, count))
                .find(|spelling| names.meant.get(spelling).is_none_or(|meant| meant == name));
            let spelling = spelling.unwrap_or_default();
            names.meant.insert(spelling.clone(), name.to_owned());
            names.spelled.insert(name.to_owned(), spelling);
        }
        names
    }

    /// As it is sent. A tool that is no longer there, but was called once, needs a name too.
    pub(crate) fn spell(&self, name: &str) -> String {
        self.spelled.get(name).cloned().unwrap_or_else(|| spelling(name, 0))
    }

    /// The tool that a model calls by `spelled`.
    pub(crate) fn meant(&self, spelled: String) -> String {
        self.meant.get(&spelled).cloned().unwrap_or(spelled)
    }
}

fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_LENGTH && name.chars().all(is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

/// The `count`th attempt at spelling a name.
fn spelling(name: &str, count: usize) -> String {
    let plain = |character: char| if is_plain(character) { character } else { '_' };
    let tail = if count == 0 { String::new() } else { format!("_{count}") };
    let mut spelled: String = name.chars().map(plain).take(MAX_NAME_LENGTH - tail.len()).collect();
    if spelled.is_empty() {
        spelled.push('_');
    }
    spelled + &tail
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
        let spelled: Vec<_> = names.iter().map(|name| found.spell(name)).collect();
        assert_eq!(spelled, expected);
        for (name, spelled) in names.iter().zip(spelled) {
            assert_eq!(&found.meant(spelled), name);
        }
    }

    #[test]
    fn names_that_fit_stay_and_others_do_not_take_their_place() {
        check(&["read_file", "a-1"], &["read_file", "a-1"]);
        check(&["git.log", "git_log", "git:log"], &["git_log_1", "git_log", "git_log_2"]);
        check(&["größe", ""], &["gr__e", "_"]);
        let long = "x".repeat(70);
        check(&[&long], &[&long[..64]]);
        assert_eq!(ToolNames::default().spell("gone.tool"), "gone_tool");
        assert_eq!(ToolNames::default().meant("unheard".into()), "unheard");
    }
}
