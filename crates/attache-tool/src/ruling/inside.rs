//! Whether a path is inside the workspace, by its text alone.

use std::path::{Component, Path, PathBuf};

/// Whether `text`, as an argument of a command that runs in `directory`, stays within `roots`.
pub(super) fn inside(text: &str, directory: &Path, roots: &[PathBuf]) -> bool {
    !text.starts_with('~') && !text.contains('\0') && inside_path(&directory.join(text), roots)
}

/// Whether an absolute path stays within `roots`.
pub(super) fn inside_path(path: &Path, roots: &[PathBuf]) -> bool {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain.is_absolute() && roots.iter().any(|root| plain.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_below_a_root_is_inside() {
        for (text, expected) in [
            ("a", true),
            ("./a/../b", true),
            ("..", true),
            ("../b", true),
            ("../..", false),
            ("../../x", false),
            ("/w/project", true),
            ("/w/project/x", true),
            ("/w/projects", false),
            ("/etc", false),
            ("/w/project/../x", false),
            ("~/x", false),
            ("~", false),
            ("", true),
        ] {
            let roots = [PathBuf::from("/w/project")];
            assert_eq!(inside(text, Path::new("/w/project/sub"), &roots), expected, "{text}");
        }
    }
}
