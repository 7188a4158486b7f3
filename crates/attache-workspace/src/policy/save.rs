//! Saves permanent approvals.

use std::path::Path;

use attache_config::ConfigError;
use attache_tool::policy::{PolicyRule, PolicyTier, read, to_toml};

use super::rule_files::rules_in;
use crate::write_file::rewrite;

const MAX_BYTES: u64 = 1 << 20;

/// Adds `rules` to the file, and creates it if it is missing. Readers see the old file or the new one. Existing rules and
/// comments stay; rules that exist already are not added again.
pub(crate) fn save_rules(path: &Path, rules: &[PolicyRule]) -> Result<(), ConfigError> {
    rewrite(path, MAX_BYTES, |text| with(path, text, rules))
}

fn with(path: &Path, text: &str, rules: &[PolicyRule]) -> Result<String, ConfigError> {
    let name = path.display().to_string();
    let mut known = rules_in(path, text, PolicyTier::User)?;
    let new: Vec<PolicyRule> = rules
        .iter()
        .map(|rule| PolicyRule { tier: PolicyTier::User, ..rule.clone() })
        .filter(|rule| !known.contains(rule))
        .fold(Vec::new(), |mut new, rule| {
            if !new.contains(&rule) {
                new.push(rule);
            }
            new
        });
    if new.is_empty() {
        return Ok(text.to_owned());
    }
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let appended = format!("{text}{gap}{}", to_toml(&new));
    known.extend(new);
    // An inline list cannot be extended in place.
    match read(&name, &appended, PolicyTier::User) {
        Ok(read) if read == known => Ok(appended),
        _ => Ok(to_toml(&known)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use attache_tool::policy::PolicyDecision;

    use super::*;

    fn rule(tool: &str) -> PolicyRule {
        PolicyRule {
            tools: vec![tool.to_owned()],
            priority: 950,
            ..PolicyRule::new(PolicyDecision::Allow, PolicyTier::Workspace, "answer")
        }
    }

    fn tools(path: &Path) -> Vec<String> {
        let rules = read("x", &fs::read_to_string(path).unwrap(), PolicyTier::User).unwrap();
        rules.into_iter().map(|rule| rule.tools.join("+")).collect()
    }

    #[test]
    fn rules_are_added_to_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".gemini/policies/auto-saved.toml");
        save_rules(&path, &[rule("a")]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        save_rules(&path, &[rule("a"), rule("b"), rule("b")]).unwrap();
        assert_eq!(tools(&path), ["a", "b"]);
        fs::write(&path, "# mine\n[[rule]]\ntoolName = \"c\"\ndecision = \"deny\" # never\n").unwrap();
        save_rules(&path, &[rule("d")]).unwrap();
        assert_eq!(tools(&path), ["c", "d"]);
        assert!(fs::read_to_string(&path).unwrap().starts_with("# mine\n"));
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing is left behind: {left:?}");
    }

    #[test]
    fn rules_in_one_line_are_kept_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auto-saved.toml");
        fs::write(&path, "rule = [{ toolName = \"c\", decision = \"deny\" }]").unwrap();
        save_rules(&path, &[rule("d")]).unwrap();
        assert_eq!(tools(&path), ["c", "d"]);
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auto-saved.toml");
        fs::write(&path, "[[rule]]\ndecision = \"perhaps\"\n").unwrap();
        let error = save_rules(&path, &[rule("d")]).unwrap_err();
        assert!(error.to_string().contains(":2: decision"), "{error}");
        assert!(fs::read_to_string(&path).unwrap().contains("perhaps"));
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auto-saved.toml");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || save_rules(path, &[rule(&format!("tool{number}"))]).unwrap());
            }
        });
        let mut found = tools(&path);
        found.sort();
        assert_eq!(found.len(), 8, "{found:?}");
    }
}
