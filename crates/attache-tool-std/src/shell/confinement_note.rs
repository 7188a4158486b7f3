//! Tells the model how the confinement affected a command.

use std::path::{Path, PathBuf};

use attache_tool::{Access, AccessLevel};

use super::listen::Ending;

/// Messages of programs that the confinement stops.
const DENIAL_TEXTS: &[&str] = &[
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Device or resource busy",
    "EROFS",
    "EACCES",
    "EPERM",
    "EBUSY",
    "resolve host",
    "name resolution",
    "Name or service not known",
    "Network is unreachable",
    "network unreachable",
    "Could not connect",
    "Couldn't connect",
    "Failed to connect",
    "Connection refused",
    "ENOTFOUND",
    "EAI_AGAIN",
    "was not started, for it could not be confined",
];

/// Messages of programs that do not find a file.
const MISSING_TEXTS: &[&str] = &["No such file or directory", "ENOENT", "not found"];
/// Missing paths that are checked.
const MAX_PATHS: usize = 32;

/// What was or may have been blocked; none if the confinement did not matter. `blocked` lists known refusals, and
/// `exists` tells whether a path exists outside the confinement.
pub(super) fn note(
    access: &Access,
    ending: Ending,
    output: &str,
    blocked: &[String],
    exists: impl Fn(&Path) -> bool,
) -> Option<String> {
    if access.level == AccessLevel::Open {
        return None;
    }
    let failed = matches!(ending, Ending::Exited(status) if !status.success());
    let looks_blocked = failed && DENIAL_TEXTS.iter().any(|sign| output.contains(sign));
    let is_hidden = failed && missing(output).any(|path| exists(&path));
    if blocked.is_empty() && !looks_blocked && !is_hidden {
        return None;
    }
    let mut lines = vec![format!("The command ran confined. {}", access.describe())];
    lines.extend(blocked.iter().map(|what| format!("Blocked: {what}.")));
    lines.push(
        "If it needs more, run it again with `network` (hosts), `protected_paths` or `unconfined`; the user is asked."
            .to_owned(),
    );
    Some(lines.join("\n"))
}

/// The absolute paths that the output reports as missing.
fn missing(output: &str) -> impl Iterator<Item = PathBuf> {
    let lines = output.lines().filter(|line| MISSING_TEXTS.iter().any(|sign| line.contains(sign)));
    let words =
        lines.flat_map(|line| line.split([' ', '\t', ':', '\'', '"', '`', '‘', '’', '(', ')', ',', ';']));
    words.filter(|word| word.len() > 1 && word.starts_with('/')).map(PathBuf::from).take(MAX_PATHS)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn the_wall_is_named_only_when_it_mattered() {
        let (work, open) = (Access::new(AccessLevel::Work), Access::open());
        let exited = |code: i32| Ending::Exited(ExitStatus::from_raw(code << 8));
        let blocked = ["network access to a.example:443 was not approved".to_owned()];
        for (access, ending, output, blocked, expected) in [
            (&work, exited(1), "touch: x: Read-only file system", &[][..], true),
            (&work, exited(0), "x: Read-only file system", &[], false),
            (&work, exited(1), "no such test", &[], false),
            (&work, exited(0), "", &blocked, true),
            (&open, exited(1), "Permission denied", &[], false),
        ] {
            let found = note(access, ending, output, blocked, |_| true);
            assert_eq!(found.is_some(), expected, "{output}");
        }
    }

    #[test]
    fn a_path_that_is_missing_only_inside_of_the_wall_is_a_sign_of_it() {
        let (work, open) = (Access::new(AccessLevel::Work), Access::open());
        let failed = Ending::Exited(ExitStatus::from_raw(1 << 8));
        let exists = |path: &Path| path == Path::new("/srv/me/.netrc");
        for (output, expected) in [
            ("cat: /srv/me/.netrc: No such file or directory", true),
            ("ls: cannot access '/srv/me/.netrc': No such file or directory", true),
            ("FileNotFoundError: [Errno 2] No such file or directory: '/srv/me/.netrc'", true),
            ("Error: ENOENT: no such file or directory, open '/srv/me/.netrc'", true),
            ("bash: line 1: /srv/me/.netrc: No such file or directory", true),
            ("cat: /srv/me/other: No such file or directory", false),
            ("cat: src/main.rs: No such file or directory", false),
            ("reading /srv/me/.netrc\nmake: *** No such file or directory", false),
        ] {
            assert_eq!(note(&work, failed, output, &[], exists).is_some(), expected, "{output}");
            assert_eq!(note(&open, failed, output, &[], exists), None, "{output}");
        }
        let fine = Ending::Exited(ExitStatus::from_raw(0));
        assert_eq!(note(&work, fine, "/srv/me/.netrc: No such file or directory", &[], exists), None);
    }
}
