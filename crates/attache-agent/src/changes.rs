//! The changes of a turn as one unified diff.

use std::path::{Path, PathBuf};

use attache_domain::{Artifact, FileChange, Part};
use attache_tool::diff::compare;

/// One artifact with all changes of turn number `turn`; none if nothing has changed.
pub(crate) fn artifact(changes: &[FileChange], roots: &[PathBuf], turn: u32) -> Option<Artifact> {
    let diff: String = changes.iter().map(|change| diff(change, roots)).collect();
    if diff.is_empty() {
        return None;
    }
    let mut part = Part::text(diff);
    part.media_type = Some("text/x-diff".into());
    part.filename = Some(format!("changes-{turn}.diff"));
    Some(Artifact {
        id: Artifact::changes_id(turn),
        name: Some("Changes".into()),
        description: None,
        parts: vec![part],
        metadata: None,
        extensions: Vec::new(),
    })
}

fn diff(change: &FileChange, roots: &[PathBuf]) -> String {
    compare(&shortened(&change.path, roots), change.original.as_deref(), &change.content).text
}

pub(crate) fn shortened(path: &Path, roots: &[PathBuf]) -> String {
    let short = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    short.unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(original: Option<&str>, content: &str) -> FileChange {
        FileChange {
            path: "/w/src/a.txt".into(),
            original: original.map(str::to_owned),
            content: content.into(),
        }
    }

    fn text(changes: &[FileChange]) -> Option<String> {
        let artifact = artifact(changes, &["/w".into()], 2)?;
        artifact.parts[0].as_text().map(str::to_owned)
    }

    #[test]
    fn a_changed_file_is_shown_from_before_the_turn_to_now() {
        let expected = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
        assert_eq!(text(&[change(Some("one\ntwo\n"), "one\nthree\n")]).as_deref(), Some(expected));
    }

    #[test]
    fn a_new_file_comes_from_nowhere() {
        let expected = "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+one\n";
        assert_eq!(text(&[change(None, "one\n")]).as_deref(), Some(expected));
    }

    #[test]
    fn what_was_changed_back_is_no_change() {
        assert_eq!(text(&[change(Some("same"), "same")]), None);
        assert_eq!(text(&[]), None);
    }
}
