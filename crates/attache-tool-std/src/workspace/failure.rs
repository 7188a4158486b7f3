//! Converts system errors to errors that the model can act on.

use std::path::{Path, PathBuf};

use attache_tool::{ToolError, ToolErrorKind};
use rustix::io::Errno;

/// The operation that failed. It decides the kind of unspecific errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOperation {
    Reading,
    Writing,
}

/// The error for a path outside the workspace.
pub(super) fn outside(path: &Path, roots: &[PathBuf]) -> ToolError {
    let message = format!("{} is not in the workspace; use a path inside {}", path.display(), names(roots));
    ToolError::new(ToolErrorKind::PathNotInWorkspace, message)
}

/// The error for a resolved path that has become a link since.
pub(super) fn became_link(path: &Path, roots: &[PathBuf]) -> ToolError {
    let message = format!(
        "{} has become a link, or a folder of it has, since it was looked at; nothing was done. Look again, and use \
         the real path of a file inside {}",
        path.display(),
        names(roots)
    );
    ToolError::new(ToolErrorKind::PathNotInWorkspace, message)
}

/// The error for a file name that is not UTF-8.
pub(super) fn nameless(path: &Path) -> ToolError {
    let message = format!(
        "the name of {} is not text in UTF-8, so what is done to it cannot be recorded; rename it with a shell command",
        path.display()
    );
    ToolError::new(ToolErrorKind::ReadContentFailure, message)
}

pub(super) fn describe(errno: Errno, doing: FileOperation, path: &Path, roots: &[PathBuf]) -> ToolError {
    let path = path.display();
    let (kind, message) = match errno {
        Errno::XDEV | Errno::LOOP => (
            ToolErrorKind::PathNotInWorkspace,
            format!(
                "{path} passes through a link that is absolute, leads nowhere or leads out of the workspace; \
                 use the real path of a file inside {}",
                names(roots)
            ),
        ),
        Errno::NOENT => (
            ToolErrorKind::FileNotFound,
            format!("{path} does not exist; list its folder to see what is there"),
        ),
        Errno::NOTDIR => (
            ToolErrorKind::PathIsNotADirectory,
            format!("{path}, or a part of it that should be a folder, is not a folder"),
        ),
        Errno::ISDIR => (ToolErrorKind::TargetIsDirectory, format!("{path} is a folder; name a file")),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => {
            (ToolErrorKind::PermissionDenied, format!("{path} is not accessible: {errno}"))
        }
        Errno::NOSPC | Errno::DQUOT => {
            (ToolErrorKind::NoSpaceLeft, format!("there is no space left for {path}; free some first"))
        }
        Errno::NAMETOOLONG => {
            (ToolErrorKind::InvalidToolParams, format!("{path} is too long for a path; use a shorter one"))
        }
        Errno::AGAIN => (
            doing.kind(),
            format!("the folders of {path} are being moved about; try again when they stay in place"),
        ),
        other => (doing.kind(), format!("{path} cannot be {}: {other}", doing.word())),
    };
    ToolError::new(kind, message)
}

impl FileOperation {
    fn kind(self) -> ToolErrorKind {
        match self {
            Self::Reading => ToolErrorKind::ReadContentFailure,
            Self::Writing => ToolErrorKind::FileWriteFailure,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Reading => "read",
            Self::Writing => "written",
        }
    }
}

fn names(roots: &[PathBuf]) -> String {
    let names: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    if names.is_empty() { "a root (this workspace has none)".to_owned() } else { names.join(" or ") }
}
