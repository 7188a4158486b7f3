//! The environment of a command: what the workspace allows, and settings that keep programs from asking questions.

use attache_tool::{AccessLevel, MARK_VARIABLE, Workspace};

/// Variables that affect the shell before it reads the command.
const OBEYED_BY_THE_SHELL: &[&str] =
    &["BASH_ENV", "BASHOPTS", "SHELLOPTS", "ENV", "PROMPT_COMMAND", "CDPATH"];

/// Disables pagers, editors and password prompts.
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
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// At every level: git starts no file watcher and no credential helper.
const GIT: &[(&str, &str)] = &[("core.fsmonitor", "false"), ("credential.helper", "")];
/// At the confined levels: an embedded bare repository does not count, because its settings could name programs.
const GIT_CONFINED: &[(&str, &str)] = &[("safe.bareRepository", "explicit"), ("protocol.ext.allow", "never")];
/// At level look: git runs no program from a repository's settings. Hooks are off here and on at the other levels,
/// where commits use them. Text converters, diff programs and filters cannot be switched off without changing the
/// output; the ruling detects them and asks.
const GIT_LOOKING: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "false"),
    ("interactive.diffFilter", "cat"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", ""),
];
/// Git does not fetch missing objects.
const LOOKING: &[(&str, &str)] = &[("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];

/// Git settings that override those of its files.
fn git_settings(level: AccessLevel) -> Vec<(String, String)> {
    let lists: &[&[(&str, &str)]] = match level {
        AccessLevel::Look => &[GIT, GIT_CONFINED, GIT_LOOKING],
        AccessLevel::Work => &[GIT, GIT_CONFINED],
        AccessLevel::Open => &[GIT],
    };
    let settings: Vec<_> = lists.iter().copied().flatten().collect();
    let mut variables = vec![
        (String::from("GIT_OPTIONAL_LOCKS"), String::from("0")),
        ("GIT_CONFIG_COUNT".into(), settings.len().to_string()),
    ];
    for (place, (key, value)) in settings.into_iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{place}"), (*key).into()));
        variables.push((format!("GIT_CONFIG_VALUE_{place}"), (*value).into()));
    }
    if level == AccessLevel::Look {
        variables.extend(LOOKING.iter().map(|(name, value)| (String::from(*name), String::from(*value))));
    }
    variables
}

/// The complete environment of the command with this id at this level.
pub(super) fn environment(
    workspace: &Workspace,
    level: AccessLevel,
    terminal: bool,
    id: &str,
) -> Vec<(String, String)> {
    let allowed = workspace.environment.iter().filter(|(name, _)| {
        !OBEYED_BY_THE_SHELL.contains(&name.as_str()) && !name.starts_with("BASH_FUNC_") && name != "TERM"
    });
    let fixed = FIXED.iter().map(|(name, value)| (String::from(*name), String::from(*value)));
    let term = if terminal { "xterm-256color" } else { "dumb" };
    let ours = [(String::from("TERM"), term.into()), (MARK_VARIABLE.into(), id.into())];
    allowed.cloned().chain(fixed).chain(git_settings(level)).chain(ours).collect()
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
        let made = environment(&workspace, AccessLevel::Work, true, "id");
        let last =
            |name: &str| made.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(last("HOME"), Some("theirs"));
        assert_eq!(last("BASH_ENV"), None);
        assert_eq!(last("BASH_FUNC_ls%%"), None);
        assert_eq!(last("PAGER"), Some("cat"));
        assert_eq!(last("TERM"), Some("xterm-256color"));
        assert_eq!(last(MARK_VARIABLE), Some("id"));
    }

    #[test]
    fn hooks_are_off_only_where_a_command_just_looks() {
        for (level, hooks, bare) in [
            (AccessLevel::Look, true, true),
            (AccessLevel::Work, false, true),
            (AccessLevel::Open, false, false),
        ] {
            let made = git_settings(level);
            let has = |key: &str| made.iter().any(|(_, value)| value == key);
            assert_eq!((has("core.hooksPath"), has("safe.bareRepository")), (hooks, bare), "{level:?}");
            let count: usize =
                made.iter().find(|(name, _)| name == "GIT_CONFIG_COUNT").unwrap().1.parse().unwrap();
            assert_eq!(count, made.iter().filter(|(name, _)| name.starts_with("GIT_CONFIG_KEY_")).count());
        }
    }
}
