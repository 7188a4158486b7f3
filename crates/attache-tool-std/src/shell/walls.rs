//! What the model is told about the confinement of a command that ran.

use attache_tool::{Access, Level};

use super::attend::Ending;

/// What programs write when the confinement stops them.
const SIGNS: &[&str] = &[
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

/// What was blocked, or may have been; nothing where the confinement did not matter. `blocked` is what is known for sure.
pub(super) fn note(access: &Access, ending: Ending, output: &str, blocked: &[String]) -> Option<String> {
    if access.level == Level::Open {
        return None;
    }
    let failed = matches!(ending, Ending::Exited(status) if !status.success());
    let looks_blocked = failed && SIGNS.iter().any(|sign| output.contains(sign));
    if blocked.is_empty() && !looks_blocked {
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn the_wall_is_named_only_when_it_mattered() {
        let (work, open) = (Access::new(Level::Work), Access::open());
        let exited = |code: i32| Ending::Exited(ExitStatus::from_raw(code << 8));
        let blocked = ["network access to a.example:443 was not approved".to_owned()];
        for (access, ending, output, blocked, expected) in [
            (&work, exited(1), "touch: x: Read-only file system", &[][..], true),
            (&work, exited(0), "x: Read-only file system", &[], false),
            (&work, exited(1), "no such test", &[], false),
            (&work, exited(0), "", &blocked, true),
            (&open, exited(1), "Permission denied", &[], false),
        ] {
            assert_eq!(note(access, ending, output, blocked).is_some(), expected, "{output}");
        }
    }
}
