//! `replace`: replaces a piece of a file's text.

mod exact;
mod flexible;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod fuzzy;
mod indentation;
mod matching;
mod nearby;
mod tokens;

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use attache_tool::{
    Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::edit::{self, Draft, OriginalFile};
use crate::omission;
use crate::read_digests::ReadDigests;
use matching::{Matches, Strategy};

pub struct Replace {
    reads: Arc<ReadDigests>,
}

#[derive(Deserialize)]
struct Input {
    old_string: String,
    new_string: String,
    #[serde(default)]
    allow_multiple: bool,
}

impl Replace {
    /// `reads` is shared with the tools that read for the same model.
    pub fn new(reads: Arc<ReadDigests>) -> Self {
        Self { reads }
    }
}

#[async_trait]
impl Tool for Replace {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let input = nearby::corrected(input, context).await?;
        edit::propose(&input, context, &self.reads, draft).await
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        edit::run(proposal, context, &self.reads, draft).await
    }
}

fn draft(input: &ToolInput, before: &OriginalFile) -> Result<Draft, ToolError> {
    let input: Input = edit::parse(input)?;
    omission::check("new_string", &input.new_string, &input.old_string)?;
    let path = before.path.display();
    let Some(text) = &before.text else {
        if input.old_string.is_empty() {
            return Ok(Draft { content: input.new_string, note: None });
        }
        let message = format!("{path} does not exist; an empty `old_string` would create it");
        return Err(ToolError::new(ToolErrorKind::FileNotFound, message));
    };
    if input.old_string.is_empty() {
        let message = format!(
            "{path} exists, and an empty `old_string` is for creating files; give the text to replace, or use \
             `write_file` for all of it"
        );
        return Err(ToolError::new(ToolErrorKind::AttemptToCreateExistingFile, message));
    }
    let plain = before.form.with_plain_ends(text);
    let old = before.form.with_plain_ends(&input.old_string);
    let new = before.form.with_plain_ends(&input.new_string);
    if old == new {
        let message = format!("`old_string` and `new_string` are the same; {path} would not change");
        return Err(ToolError::new(ToolErrorKind::EditNoChange, message));
    }

    let found = matching::find(&plain, &old, &new);
    check_count(&found, &plain, input.allow_multiple, &path)?;
    let content = before.form.with_own_ends(keep_last_line_end(&plain, found.apply(&plain)));
    if content == *text {
        let message = format!("{path} already is as the edit would make it; nothing was changed");
        return Err(ToolError::new(ToolErrorKind::EditNoChange, message));
    }
    Ok(Draft { content, note: note(&found) })
}

fn check_count(
    found: &Matches,
    text: &str,
    allow_multiple: bool,
    path: &impl std::fmt::Display,
) -> Result<(), ToolError> {
    /// Occurrences listed in an error.
    const MAX_NAMED: usize = 10;

    let count = found.edits.len();
    if count == 0 {
        let message = format!(
            "0 occurrences of `old_string` in {path}; read the file again and give the text exactly as it is there, \
             with its spaces and line breaks"
        );
        return Err(ToolError::new(ToolErrorKind::EditNoOccurrenceFound, message));
    }
    if count == 1 || allow_multiple {
        return Ok(());
    }
    let line = |edit: &matching::Edit| (text[..edit.range.start].matches('\n').count() + 1).to_string();
    let lines: Vec<String> = found.edits.iter().take(MAX_NAMED).map(line).collect();
    let more = if count > MAX_NAMED { " and more" } else { "" };
    let message = format!(
        "{count} occurrences of `old_string` in {path}, at lines {}{more}, where 1 was expected; add lines around it \
         until only one fits, or set `allow_multiple` to change all",
        lines.join(", ")
    );
    Err(ToolError::new(ToolErrorKind::EditExpectedOccurrenceMismatch, message))
}

/// Keeps the line end at the end of the file, or its absence.
fn keep_last_line_end(before: &str, mut after: String) -> String {
    match (before.ends_with('\n'), after.ends_with('\n')) {
        (true, false) if !after.is_empty() => after.push('\n'),
        (false, true) => drop(after.pop()),
        _ => {}
    }
    after
}

fn note(found: &Matches) -> Option<String> {
    let how = match found.strategy {
        Strategy::Exact => None,
        Strategy::Flexible => Some("`old_string` fitted only after its indentation was ignored"),
        Strategy::Tokens => Some("`old_string` fitted only after its spaces and line breaks were ignored"),
        Strategy::Fuzzy => Some("`old_string` fitted only approximately"),
    };
    let places = match found.edits.len() {
        1 => None,
        count => Some(format!("{count} occurrences were replaced.")),
    };
    let how =
        how.map(|how| format!("{how}, and `new_string` was indented like what it replaced: check the diff."));
    let notes: Vec<String> = places.into_iter().chain(how).collect();
    if notes.is_empty() { None } else { Some(notes.join(" ")) }
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(spec);

fn spec() -> ToolSpec {
    ToolSpec {
        name: "replace".into(),
        title: "Edit".into(),
        description: "Replaces one piece of text in a file by another. Read the file first, and give `old_string` \
                      exactly as it is there, with enough lines around it that it occurs only once. With \
                      `allow_multiple` all occurrences are replaced. An empty `old_string` creates a file that does \
                      not exist."
            .into(),
        kind: ToolKind::Edit,
        parameters: json!({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string",
                    "description": "The file to change: relative to the workspace, or absolute and inside it."
                },
                "instruction": {
                    "type": "string",
                    "description": "What the change is for, so that someone who sees only the change understands it."
                },
                "old_string": { "type": "string", "description": "The text to replace, exactly." },
                "new_string": {
                    "type": "string",
                    "description": "The text to put in its place, complete and exactly as it shall be."
                },
                "allow_multiple": {
                    "type": "boolean",
                    "description": "Replace all occurrences; without it there must be exactly one."
                }
            },
            "required": ["file_path", "instruction", "old_string", "new_string"]
        }),
        repeatable: false,
        parallel: false,
        origin: None,
    }
}
