//! `share_file`: sends a file to the person.

use std::path::Path;

use async_trait::async_trait;
use attache_domain::{Base64, Content};
use attache_tool::{
    OutputFile, Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec, Workspace,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use crate::file_content::read_bytes;
use crate::ignore_rules::{IgnoreRules, IgnoreSelection};
use crate::media_type::media_type;
use crate::read_only::{blocking, proposal, proposed_path, resolve, root_of, shown_path, spec};
use crate::schema::read;
use crate::text_file::looks_binary;
use crate::walk::ignored;
use crate::workspace::locate_resolved;

pub struct ShareFile {
    spec: ToolSpec,
}

#[derive(Debug, Deserialize)]
struct Input {
    file_path: String,
    description: Option<String>,
}

impl Default for ShareFile {
    fn default() -> Self {
        let description = "Hands one file of the workspace to the person, as it is now: a report, an image, a build. Use \
                           it when they ask for a file. What you changed in the project is shown to them anyway.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string",
                    "description": "The file, relative to the workspace or absolute.",
                    "minLength": 1,
                },
                "description": {
                    "type": "string",
                    "description": "What it is, in a sentence.",
                    "maxLength": 1000,
                },
            },
            "required": ["file_path"],
        });
        Self { spec: spec("share_file", "ShareFile", ToolKind::Read, description, parameters) }
    }
}

#[async_trait]
impl Tool for ShareFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let Input { file_path, .. } = read(&self.spec, input)?;
        let path = resolve(context, &file_path)?;
        let summary = shown_path(&context.workspace, &path);
        Ok(proposal(input, vec![path], summary))
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { description, .. } = read(&self.spec, &proposal.input)?;
        let path = proposed_path(&proposal)?;
        let workspace = context.workspace.clone();
        blocking(move || share(&workspace, &path, description)).await
    }
}

fn share(workspace: &Workspace, path: &Path, description: Option<String>) -> Result<ToolOutput, ToolError> {
    if IgnoreRules::new(workspace, root_of(workspace, path), IgnoreSelection { git: false, gemini: true })
        .hides(path, false)
    {
        return Err(ignored(workspace, path));
    }
    let bytes = read_bytes(&locate_resolved(workspace, path)?)?;
    let media_type = media_type(path, &bytes)
        .unwrap_or_else(|| if looks_binary(&bytes) { "application/octet-stream" } else { "text/plain" });
    let shown = shown_path(workspace, path);
    let name = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let file = OutputFile {
        name,
        media_type: media_type.to_owned(),
        bytes: Base64(STANDARD.encode(&bytes)),
        description,
    };
    let content = format!("The person has {shown} now ({} bytes, {media_type}).", bytes.len());
    let summary = format!("Shared {shown}");
    Ok(ToolOutput { content: vec![Content::Text(content)], summary, diff: None, files: vec![file] })
}
