//! `write_file`: writes content from the model to a file.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use attache_tool::{Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec};
use serde::Deserialize;
use serde_json::json;

use crate::edit::{self, Draft, OriginalFile};
use crate::omission;
use crate::read_digests::ReadDigests;

pub struct WriteFile {
    reads: Arc<ReadDigests>,
}

#[derive(Deserialize)]
struct Input {
    content: String,
}

impl WriteFile {
    /// `reads` is shared with the tools that read for the same model.
    pub fn new(reads: Arc<ReadDigests>) -> Self {
        Self { reads }
    }
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        edit::propose(input, context, &self.reads, draft).await
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        edit::run(proposal, context, &self.reads, draft).await
    }
}

fn draft(input: &ToolInput, before: &OriginalFile) -> Result<Draft, ToolError> {
    let Input { content } = edit::parse(input)?;
    omission::check("content", &content, before.text.as_deref().unwrap_or_default())?;
    let content = if before.form.has_windows_ends() {
        before.form.with_own_ends(before.form.with_plain_ends(&content).into_owned())
    } else {
        content
    };
    Ok(Draft { content, note: None })
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(spec);

fn spec() -> ToolSpec {
    ToolSpec {
        name: "write_file".into(),
        title: "WriteFile".into(),
        description:
            "Writes a whole text file, making it and its folders when they do not exist and replacing all \
                      of its content when it does. Give the complete content: nothing may be left out or \
                      abbreviated. To change a part of a file, use `replace`."
                .into(),
        kind: ToolKind::Edit,
        parameters: json!({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string",
                    "description": "The file to write: relative to the workspace, or absolute and inside it."
                },
                "content": { "type": "string", "description": "The complete content of the file." }
            },
            "required": ["file_path", "content"]
        }),
        repeatable: false,
        parallel: false,
        origin: None,
    }
}
