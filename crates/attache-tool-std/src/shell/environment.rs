//! The environment of a command: what the workspace allows, and what keeps programs from asking questions.

use attache_tool::Workspace;

use super::mark::VARIABLE;

/// What the shell itself would obey before it reads the command.
const OBEYED_BY_THE_SHELL: &[&str] =
    &["BASH_ENV", "BASHOPTS", "SHELLOPTS", "ENV", "PROMPT_COMMAND", "CDPATH"];

/// Nobody is there to page, to edit or to type a password.
const FIXED: &[(&str, &str)] = &[
    ("ATTACHE", "1"),
    ("GEMINI_CLI", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    // Looking at a repository neither writes its index nor starts its file watcher or a helper with secrets.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "credential.helper"),
    ("GIT_CONFIG_VALUE_1", ""),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// The whole environment of the command with this id; nothing else is inherited.
pub(super) fn environment(workspace: &Workspace, terminal: bool, id: &str) -> Vec<(String, String)> {
    let allowed = workspace.environment.iter().filter(|(name, _)| {
        !OBEYED_BY_THE_SHELL.contains(&name.as_str()) && !name.starts_with("BASH_FUNC_") && name != "TERM"
    });
    let fixed = FIXED.iter().map(|(name, value)| (String::from(*name), String::from(*value)));
    let term = if terminal { "xterm-256color" } else { "dumb" };
    let ours = [(String::from("TERM"), term.into()), (VARIABLE.into(), id.into())];
    allowed.cloned().chain(fixed).chain(ours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_shell_would_obey_is_left_out_and_ours_wins() {
        let allowed = ["HOME", "BASH_ENV", "BASH_FUNC_ls%%", "PAGER", "TERM"];
        let workspace = Workspace {
            roots: vec![],
            scratch: "/".into(),
            environment: allowed.map(|name| (name.into(), "theirs".into())).into(),
            ignore: Default::default(),
        };
        let made = environment(&workspace, true, "id");
        let last =
            |name: &str| made.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(last("HOME"), Some("theirs"));
        assert_eq!(last("BASH_ENV"), None);
        assert_eq!(last("BASH_FUNC_ls%%"), None);
        assert_eq!(last("PAGER"), Some("cat"));
        assert_eq!(last("TERM"), Some("xterm-256color"));
        assert_eq!(last(VARIABLE), Some("id"));
    }
}
