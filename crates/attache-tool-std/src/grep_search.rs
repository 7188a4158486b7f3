//! `grep_search`: the lines that match a regular expression.

mod collector;
mod lines;
mod report;
mod search;

use async_trait::async_trait;
use attache_tool::{Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec};
use serde::Deserialize;
use serde_json::json;

use crate::read_only::{blocking, proposal, proposed_paths, resolve_search, spec};
use crate::schema::read;
use crate::walk::{WALK_TIMEOUT, WalkDeadline};
use report::report;
use search::{Search, search};

/// The default number of matches in one result.
const DEFAULT_MATCHES: usize = 100;
/// The largest numbers of matches and context lines.
const MAX_MATCHES: usize = 2_000;
const MAX_CONTEXT: usize = 100;

pub struct GrepSearch {
    spec: ToolSpec,
}

#[derive(Debug, Clone, Deserialize)]
struct Input {
    pattern: String,
    dir_path: Option<String>,
    include_pattern: Option<String>,
    exclude_pattern: Option<String>,
    #[serde(default)]
    names_only: bool,
    #[serde(default)]
    case_sensitive: bool,
    #[serde(default)]
    fixed_strings: bool,
    context: Option<usize>,
    before: Option<usize>,
    after: Option<usize>,
    #[serde(default)]
    no_ignore: bool,
    max_matches_per_file: Option<usize>,
    total_max_matches: Option<usize>,
}

impl Default for GrepSearch {
    fn default() -> Self {
        let description = "Searches the text of files for a regular expression (Rust syntax: no look-around, no \
             back-references), line by line. Answers with the matching lines and their numbers, by file; a few \
             matches come with the lines around them. Ignored files, binary files and version control are passed over.";
        let context = |what: &str| json!({ "type": "integer", "description": what, "minimum": 0, "maximum": MAX_CONTEXT });
        let parameters = json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "description": "What to look for.", "minLength": 1 },
                "dir_path": {
                    "type": "string",
                    "description": "The folder or file to search. Default: the whole workspace.",
                },
                "include_pattern": {
                    "type": "string",
                    "description": "Glob of the files to search, such as `*.rs` or `src/**/*.{ts,tsx}`.",
                },
                "exclude_pattern": {
                    "type": "string",
                    "description": "Regular expression; lines that match it too are left out.",
                },
                "names_only": { "type": "boolean", "description": "Answer with the paths of matching files only." },
                "case_sensitive": {
                    "type": "boolean",
                    "description": "Whether upper and lower case differ. Default false.",
                },
                "fixed_strings": { "type": "boolean", "description": "Take the pattern as plain text." },
                "context": context("Lines to show before and after each match."),
                "before": context("Lines to show before each match."),
                "after": context("Lines to show after each match."),
                "no_ignore": {
                    "type": "boolean",
                    "description": "Search files too that git ignores, and node_modules.",
                },
                "max_matches_per_file": {
                    "type": "integer",
                    "description": "Matches to show of one file.",
                    "minimum": 1,
                    "maximum": MAX_MATCHES,
                },
                "total_max_matches": {
                    "type": "integer",
                    "description": format!("Matches to show in all. Default {DEFAULT_MATCHES}."),
                    "minimum": 1,
                    "maximum": MAX_MATCHES,
                },
            },
            "required": ["pattern"],
        });
        let spec = spec("grep_search", "SearchText", ToolKind::Search, description, parameters);
        Self { spec }
    }
}

#[async_trait]
impl Tool for GrepSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let parsed: Input = read(&self.spec, input)?;
        let starts = resolve_search(context, parsed.dir_path.as_deref())?;
        Search::new(&parsed)?;
        let place = parsed.dir_path.as_ref().map_or(String::new(), |dir_path| format!(" in {dir_path}"));
        let files =
            parsed.include_pattern.as_ref().map_or(String::new(), |files| format!(" in files {files}"));
        Ok(proposal(input, starts, format!("{:?}{files}{place}", parsed.pattern)))
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = read(&self.spec, &proposal.input)?;
        let starts = proposed_paths(&proposal);
        let stop = WalkDeadline::after(WALK_TIMEOUT, context.cancel.clone());
        let workspace = context.workspace.clone();
        blocking(move || {
            let outcome = search(&workspace, &starts, &Search::new(&input)?, &stop)?;
            Ok(report(&workspace, &starts, &input, outcome))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use attache_domain::Content;
    use attache_tool::{IgnoreSources, Workspace};
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn a_search_that_takes_too_long_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("a"), "hit").unwrap();
        let (roots, scratch) = (vec![root.clone()], root.clone());
        let workspace =
            Workspace { roots, scratch, environment: Vec::new(), ignore: IgnoreSources::default() };
        let input: Input = serde_json::from_value(json!({ "pattern": "hit" })).unwrap();
        let stop = WalkDeadline::after(Duration::ZERO, CancellationToken::new());
        let outcome =
            search(&workspace, std::slice::from_ref(&root), &Search::new(&input).unwrap(), &stop).unwrap();
        let output = report(&workspace, &[root], &input, outcome);
        let [Content::Text(text)] = output.content.as_slice() else { panic!("{:?}", output.content) };
        assert!(
            text.starts_with("No matches for \"hit\" in \".\". (incomplete: the search took too long"),
            "{text}"
        );
    }
}
