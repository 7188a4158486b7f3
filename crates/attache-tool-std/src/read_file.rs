//! `read_file`: the text of one file or some of its lines; images and other media unchanged.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use attache_tool::{
    Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec, Workspace,
};
use serde::Deserialize;
use serde_json::json;

use crate::ReadDigests;
use crate::file_content::{FileContent, classify, read_bytes, small_file_bytes};
use crate::ignore_rules::{IgnoreRules, IgnoreSelection};
use crate::read_only::{blocking, proposal, proposed_path, resolve, root_of, shown_path, spec, text_output};
use crate::schema::read;
use crate::text_file::{Excerpt, MAX_LINES, excerpt};
use crate::walk::ignored;
use crate::workspace::locate_resolved;

pub struct ReadFile {
    reads: Arc<ReadDigests>,
}

#[derive(Debug, Deserialize)]
struct Input {
    file_path: String,
    start_line: Option<usize>,
    end_line: Option<usize>,
}

impl ReadFile {
    /// `reads` records what the model reads.
    pub fn new(reads: Arc<ReadDigests>) -> Self {
        Self { reads }
    }

    /// Reads a small cached file on this thread.
    fn at_hand(
        &self,
        workspace: &Workspace,
        path: &Path,
        input: &Input,
    ) -> Option<Result<ToolOutput, ToolError>> {
        let bytes = small_file_bytes(&locate_resolved(workspace, path).ok()?)?;
        let shown = check_shown(workspace, path);
        Some(shown.and_then(|()| understand(workspace, &self.reads, path, input, bytes)))
    }

    fn input(input: &ToolInput) -> Result<Input, ToolError> {
        let input: Input = read(&SPEC, input)?;
        match (input.start_line, input.end_line) {
            (Some(start), Some(end)) if end < start => Err(ToolError::bad_input(format!(
                "read_file: \"end_line\" is {end} and must not be below \"start_line\", which is {start}"
            ))),
            _ => Ok(input),
        }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let Input { file_path, start_line, end_line } = Self::input(input)?;
        let path = resolve(context, &file_path)?;
        let range = match (start_line, end_line) {
            (None, None) => String::new(),
            (start, Some(end)) => format!(" (lines {}-{end})", start.unwrap_or(1)),
            (Some(start), None) => format!(" (from line {start})"),
        };
        let summary = format!("{}{range}", shown_path(&context.workspace, &path));
        Ok(proposal(input, vec![path], summary))
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = Self::input(&proposal.input)?;
        let path = proposed_path(&proposal)?;
        if let Some(found) = self.at_hand(&context.workspace, &path, &input) {
            return found;
        }
        let (workspace, reads) = (context.workspace.clone(), self.reads.clone());
        let look = move || {
            check_shown(&workspace, &path)?;
            let bytes = read_bytes(&locate_resolved(&workspace, &path)?)?;
            understand(&workspace, &reads, &path, &input, bytes)
        };
        blocking(look).await
    }
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = format!(
        "Reads one file of the workspace. Text comes back unchanged, at most {MAX_LINES} lines at a time; when \
         lines are left out, a first line in brackets says which are shown and how to go on. Images, PDF, audio \
         and video are handed over as such. Read a file before changing it."
    );
    let parameters = json!({
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "The file, relative to the workspace or absolute.",
                "minLength": 1,
            },
            "start_line": {
                "type": "integer",
                "description": "The first line to read, counted from 1.",
                "minimum": 1,
            },
            "end_line": {
                "type": "integer",
                "description": "The last line to read, itself included.",
                "minimum": 1,
            },
        },
        "required": ["file_path"],
    });
    spec("read_file", "ReadFile", ToolKind::Read, &description, parameters)
});

fn check_shown(workspace: &Workspace, path: &Path) -> Result<(), ToolError> {
    let ignoring = IgnoreRules::new(workspace, root_of(workspace, path), IgnoreSelection::ALL);
    if ignoring.hides(path, false) { Err(ignored(workspace, path)) } else { Ok(()) }
}

fn understand(
    workspace: &Workspace,
    reads: &ReadDigests,
    path: &Path,
    input: &Input,
    bytes: Vec<u8>,
) -> Result<ToolOutput, ToolError> {
    reads.record(path.to_owned(), &bytes);
    match classify(path, bytes) {
        FileContent::Text { text, damaged } => {
            let shown = excerpt(&text, input.start_line.unwrap_or(1), input.end_line);
            let shown = shown.ok_or_else(|| beyond_the_end(workspace, path, &text))?;
            let summary = if shown.is_partial() {
                format!("Read lines {}-{} of {}", shown.first, shown.last, shown.total)
            } else {
                String::new()
            };
            Ok(text_output(with_notes(shown, damaged), summary))
        }
        FileContent::Media(content) => {
            let summary = format!("Read {}", shown_path(workspace, path));
            Ok(ToolOutput { content: vec![content], summary, diff: None, files: Vec::new() })
        }
        FileContent::Binary { size } => {
            let name = shown_path(workspace, path);
            Ok(text_output(
                format!("{name} is a binary file of {size} bytes and cannot be shown as text."),
                format!("Did not show {name}: it is binary"),
            ))
        }
    }
}

/// The lines, after notes about them.
pub(crate) fn with_notes(shown: Excerpt, damaged: bool) -> String {
    if shown.total == 0 {
        return "[The file is empty.]".to_owned();
    }
    let mut text = String::new();
    if shown.is_partial() {
        let Excerpt { first, last, total, .. } = shown;
        text += &format!("[Lines {first}-{last} of {total} are shown.");
        if last < total {
            text += &format!(" To read on, call read_file with start_line {}.", last + 1);
        }
        text += "]\n";
    }
    if damaged {
        text += "[Some bytes of this file are no valid text; \u{FFFD} stands for them. Do not edit such lines.]\n";
    }
    text + &shown.text
}

fn beyond_the_end(workspace: &Workspace, path: &Path, text: &str) -> ToolError {
    let lines = text.split_inclusive('\n').count();
    ToolError::bad_input(format!(
        "read_file: \"start_line\" is beyond the end of {}, which has {lines} lines",
        shown_path(workspace, path)
    ))
}
