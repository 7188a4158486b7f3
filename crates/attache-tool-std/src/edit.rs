//! Shared by the tools that change one file: read it, propose the edit, and write exactly what was proposed.
//!
//! The proposal contains the digest of the file. If the file has changed since, the edit fails. If a person changed the
//! proposed content, that content is written. The tools themselves make the new content.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use attache_domain::Content;
use attache_tool::{
    Effect, Preview, Proposal, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolOutput, Workspace,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::read_digests::{ReadDigests, digest_of};
use crate::read_only::blocking;
use crate::text_form::TextForm;
use crate::workspace::{WorkspacePath, locate, locate_resolved};
use attache_tool::diff::{Diff, compare};

/// The largest file that can be edited. An edit is stored with the whole file before and after it.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Characters of the diff that the model gets.
const MAX_SHOWN: usize = 8000;

/// The file before the edit.
#[derive(Debug)]
pub(crate) struct OriginalFile {
    place: WorkspacePath,
    /// The real path, inside the workspace.
    pub(crate) path: PathBuf,
    /// None if the file does not exist.
    pub(crate) text: Option<String>,
    pub(crate) form: TextForm,
    digest: Option<String>,
}

/// The new content that a tool proposes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) content: String,
    /// A note for the model after the edit.
    pub(crate) note: Option<String>,
}

/// Makes the new content from the input and the current file. Pure, because it is called again.
pub(crate) type DraftFn = fn(&ToolInput, &OriginalFile) -> Result<Draft, ToolError>;

/// Proposes the edit of the file named in `file_path`.
pub(crate) async fn propose(
    input: &ToolInput,
    context: &ToolContext,
    reads: &Arc<ReadDigests>,
    drafting: DraftFn,
) -> Result<Proposal, ToolError> {
    let (input, workspace, reads) = (input.clone(), context.workspace.clone(), reads.clone());
    blocking(move || {
        let file_path = input.get("file_path").and_then(Value::as_str);
        let file_path =
            file_path.ok_or_else(|| ToolError::bad_input("`file_path` must be given, as a string"))?;
        if file_path.ends_with('/') {
            let message = format!("{file_path} names a folder; name a file, without the slash at its end");
            return Err(ToolError::new(ToolErrorKind::TargetIsDirectory, message));
        }
        let place = locate(&workspace, file_path)?;
        let before = OriginalFile::open(locate_resolved(&workspace, &place.resolve_for_writing()?)?)?;
        reads.check(&before.path, before.digest.as_deref())?;
        let draft = drafting(&input, &before)?;
        limit(draft.content.len() as u64, &before.path)?;
        let diff = before.compare(&draft.content);
        Ok(Proposal {
            effects: vec![Effect::Write { path: before.path.clone() }],
            shown: Preview::Edit {
                path: before.path,
                diff: diff.text,
                original: before.text,
                original_digest: before.digest,
                new_content: draft.content,
            },
            input,
        })
    })
    .await
}

/// Writes the proposed content.
pub(crate) async fn run(
    proposal: Proposal,
    context: &ToolContext,
    reads: &Arc<ReadDigests>,
    drafting: DraftFn,
) -> Result<ToolOutput, ToolError> {
    if context.cancel.is_cancelled() {
        return Err(ToolError::new(
            ToolErrorKind::ExecutionFailed,
            "the call was cancelled; nothing was written",
        ));
    }
    let (workspace, reads) = (context.workspace.clone(), reads.clone());
    blocking(move || apply(&proposal, &workspace, &reads, drafting)).await
}

fn apply(
    proposal: &Proposal,
    workspace: &Workspace,
    reads: &ReadDigests,
    drafting: DraftFn,
) -> Result<ToolOutput, ToolError> {
    let Preview::Edit { path, original_digest, new_content, .. } = &proposal.shown else {
        return Err(ToolError::bad_input("the proposal is not one of an edit; propose the call again"));
    };
    let before = OriginalFile::open(locate_resolved(workspace, path)?)?;
    if before.digest != *original_digest {
        let message = format!(
            "{} has changed since this edit was proposed, and nothing was written; read it again and make the edit anew",
            path.display()
        );
        return Err(ToolError::new(ToolErrorKind::EditPreparationFailure, message));
    }
    let bytes = before.form.encode(new_content);
    before.place.replace(original_digest.as_deref(), &bytes)?;
    reads.record(path.clone(), &bytes);

    let own = drafting(&proposal.input, &before).ok();
    Ok(report(&before, own, new_content))
}

/// Reports the edit. `own` is the tool's own draft, without changes by a person.
fn report(before: &OriginalFile, own: Option<Draft>, written: &str) -> ToolOutput {
    let path = before.path.display();
    let diff = before.compare(written);
    let did = if before.text.is_none() { "Created" } else { "Edited" };
    let mut report = format!("{did} {path} (+{} -{} lines).", diff.added, diff.removed);
    let summary = report.clone();
    let as_drafted = own.as_ref().is_some_and(|draft| draft.content == written);
    if let Some(note) = own.and_then(|draft| draft.note).filter(|_| as_drafted) {
        report = format!("{report} {note}");
    }
    if !as_drafted {
        report.push_str(" A person changed your edit before it was written; this is what the file now has:");
    }
    // The model knows the content of a new file, unless a person changed it.
    if before.text.is_some() || !as_drafted {
        report = format!("{report}\n\n{}", cut(&diff.text));
    }
    ToolOutput { content: vec![Content::Text(report)], summary, diff: Some(diff.text), files: Vec::new() }
}

fn cut(diff: &str) -> String {
    match diff.char_indices().nth(MAX_SHOWN) {
        None => diff.to_owned(),
        Some((end, _)) => {
            format!("{}\n(the rest of the diff is left out; read the file to see it)", &diff[..end])
        }
    }
}

impl OriginalFile {
    fn open(place: WorkspacePath) -> Result<Self, ToolError> {
        let path = place.path();
        let file = match place.open_file() {
            Ok(file) => file,
            Err(error) if error.kind == ToolErrorKind::FileNotFound => {
                return Ok(Self { place, path, text: None, form: TextForm::default(), digest: None });
            }
            Err(error) => return Err(error),
        };
        let unreadable = |what: String| {
            ToolError::new(
                ToolErrorKind::ReadContentFailure,
                format!("{} cannot be edited: {what}", path.display()),
            )
        };
        let mut bytes = Vec::new();
        let mut bounded = file.take(MAX_BYTES + 1);
        bounded.read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
        limit(bytes.len() as u64, &path)?;
        let not_text = "it is not text in UTF-8, or in UTF-16 with a byte order mark; use a program for it";
        let (form, text) = TextForm::decode(&bytes).ok_or_else(|| unreadable(not_text.to_owned()))?;
        Ok(Self { place, path, text: Some(text), form, digest: Some(digest_of(&bytes)) })
    }

    fn compare(&self, content: &str) -> Diff {
        compare(&self.place.name(), self.text.as_deref(), content)
    }
}

fn limit(bytes: u64, path: &std::path::Path) -> Result<(), ToolError> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "{} is longer than {} MiB before or after the edit, which is the most that is edited; use a shell command",
        path.display(),
        MAX_BYTES / (1024 * 1024)
    );
    Err(ToolError::new(ToolErrorKind::FileTooLarge, message))
}

/// The input as the tool's own type.
pub(crate) fn parse<Input: DeserializeOwned>(input: &ToolInput) -> Result<Input, ToolError> {
    serde_json::from_value(Value::Object(input.clone()))
        .map_err(|error| ToolError::bad_input(format!("the input does not fit the tool: {error}")))
}
