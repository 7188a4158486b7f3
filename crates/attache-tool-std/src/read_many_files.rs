//! `read_many_files`: the content of all files that match some patterns.

mod report;
mod select;

use async_trait::async_trait;
use attache_tool::{
    Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::ignore_rules::FileFiltering;
use crate::read_only::{blocking, cancelled, proposal, proposed_paths, spec};
use crate::schema::read;
use crate::walk::{WALK_TIMEOUT, WalkDeadline};
pub(crate) use report::FilesReport;
pub(crate) use select::{FileSelection, SelectedFile};

pub struct ReadManyFiles {
    spec: ToolSpec,
}

#[derive(Debug, Deserialize)]
struct Input {
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default = "yes")]
    recursive: bool,
    #[serde(rename = "useDefaultExcludes", default = "yes")]
    use_default_excludes: bool,
    #[serde(default)]
    file_filtering_options: FileFiltering,
}

fn yes() -> bool {
    true
}

impl Default for ReadManyFiles {
    fn default() -> Self {
        let description = "Reads all files that match some glob patterns, in the order of their paths, each after a \
             line `--- path ---`. What would make the answer too long is left out and named. Images and other media \
             are read only when a pattern names them or their extension.";
        let patterns = |what: &str, least: usize| {
            json!({
                "type": "array",
                "description": what,
                "items": { "type": "string", "minLength": 1 },
                "minItems": least,
                "maxItems": 100,
            })
        };
        let parameters = json!({
            "type": "object",
            "properties": {
                "include": patterns("Globs or paths relative to the workspace. A folder stands for all in it.", 1),
                "exclude": patterns("Globs of files to leave out.", 0),
                "recursive": {
                    "type": "boolean",
                    "description": "Whether `**` and folders reach into folders below. Default true.",
                },
                "useDefaultExcludes": {
                    "type": "boolean",
                    "description": "Whether build output, archives and the like are left out. Default true.",
                },
                "file_filtering_options": {
                    "type": "object",
                    "description": "Which ignore rules count.",
                    "properties": FileFiltering::properties(),
                },
            },
            "required": ["include"],
        });
        Self { spec: spec("read_many_files", "ReadManyFiles", ToolKind::Read, description, parameters) }
    }
}

#[async_trait]
impl Tool for ReadManyFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let parsed: Input = read(&self.spec, input)?;
        FileSelection::new(&parsed)?;
        Ok(proposal(input, context.workspace.roots.clone(), parsed.include.join(", ")))
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = read(&self.spec, &proposal.input)?;
        let (workspace, cancel) = (context.workspace.clone(), context.cancel.clone());
        let stop = WalkDeadline::after(WALK_TIMEOUT, context.cancel.clone());
        blocking(move || {
            let choice = FileSelection::new(&input)?;
            let mut files = Vec::new();
            for root in proposed_paths(&proposal) {
                files.extend(choice.files(&workspace, &root, input.file_filtering_options, &stop)?);
            }
            if stop.check_end()? {
                let message = "looking for the files took too long; use narrower patterns";
                return Err(ToolError::new(ToolErrorKind::ReadManyFilesSearchError, message));
            }
            files.sort_unstable();
            let mut answer = FilesReport::default();
            for file in files {
                if cancel.is_cancelled() {
                    return Err(cancelled());
                }
                answer.add(&workspace, file);
            }
            Ok(answer.finish())
        })
        .await
    }
}
