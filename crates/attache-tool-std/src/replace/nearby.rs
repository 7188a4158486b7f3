//! Corrects a path that does not exist, if exactly one file's path ends with it.

use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use attache_domain::IgnorePoison;
use attache_tool::{ToolContext, ToolError, ToolErrorKind, ToolInput, Workspace};
use ignore::{DirEntry, WalkState};
use serde_json::Value;

use crate::ignore_rules::IgnoreSelection;
use crate::read_only::{blocking, shown_path};
use crate::walk::{Walk, WalkDeadline};
use crate::workspace::locate;

/// Time for the search.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Candidates listed in an error.
const MAX_NAMED: usize = 5;

/// The input with the corrected path. Unchanged if the path exists, if nothing is found, or if the call creates the
/// file.
pub(super) async fn corrected(input: &ToolInput, context: &ToolContext) -> Result<ToolInput, ToolError> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    let (given, creates) = (PathBuf::from(text("file_path")), text("old_string").is_empty());
    let Some(words) = words(&given).filter(|_| !creates) else { return Ok(input.clone()) };
    let Ok(place) = locate(&context.workspace, text("file_path")) else { return Ok(input.clone()) };
    let (workspace, stop) =
        (context.workspace.clone(), WalkDeadline::after(SEARCH_TIMEOUT, context.cancel.clone()));
    let found = blocking(move || match place.resolve() {
        Err(error) if error.kind == ToolErrorKind::FileNotFound => ending_with(&workspace, &words, &stop),
        _ => Ok(Vec::new()),
    })
    .await?;
    let mut corrected = input.clone();
    match found.as_slice() {
        [] => {}
        [only] => {
            let path = shown_path(&context.workspace, only);
            corrected.insert("file_path".into(), Value::String(path));
        }
        several => return Err(ambiguous(&context.workspace, &given, several)),
    }
    Ok(corrected)
}

/// The path without `.`; none if it is absolute, empty or contains `..`.
fn words(path: &Path) -> Option<PathBuf> {
    let mut words = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => words.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!words.as_os_str().is_empty()).then_some(words)
}

/// Files whose path ends with these components; none if the search did not finish.
fn ending_with(workspace: &Workspace, words: &Path, stop: &WalkDeadline) -> Result<Vec<PathBuf>, ToolError> {
    let found = Mutex::new(Vec::new());
    let lock = || found.lock().ignore_poison();
    for root in &workspace.roots {
        Walk::new(workspace, root, IgnoreSelection::ALL, stop)?.run(|| {
            |entry: &DirEntry| {
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                if !is_file || !entry.path().ends_with(words) {
                    return WalkState::Continue;
                }
                let mut found = lock();
                found.push(entry.path().to_owned());
                if found.len() > MAX_NAMED { WalkState::Quit } else { WalkState::Continue }
            }
        });
    }
    let mut found = std::mem::take(&mut *lock());
    found.sort_unstable();
    // Roots may be nested.
    found.dedup();
    Ok(if stop.check_end()? { Vec::new() } else { found })
}

fn ambiguous(workspace: &Workspace, given: &Path, several: &[PathBuf]) -> ToolError {
    let named: Vec<String> = several.iter().take(MAX_NAMED).map(|path| shown_path(workspace, path)).collect();
    let more = if several.len() > MAX_NAMED { " and others" } else { "" };
    let message = format!(
        "{} does not exist, and more than one file ends with that path: {}{more}; give the path of one of them",
        given.display(),
        named.join(", ")
    );
    ToolError::new(ToolErrorKind::FileNotFound, message)
}
