//! `glob`: files whose paths match a pattern, recently changed ones first.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use attache_domain::IgnorePoison;
use attache_tool::{
    Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec,
    Workspace,
};
use ignore::{DirEntry, WalkState};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ignore_rules::FileFiltering;
use crate::path_pattern::PathPattern;
use crate::read_only::{blocking, proposal, proposed_paths, resolve_search, shown_path, spec, text_output};
use crate::schema::read;
use crate::walk::{WALK_TIMEOUT, Walk, WalkDeadline};
use crate::workspace::locate;

/// Paths in one result.
const MAX_SHOWN: usize = 1_000;
/// Paths that are sorted; more are only counted.
const MAX_GATHERED: usize = 200_000;
/// Files changed within this time come first.
const RECENT_AGE: Duration = Duration::from_secs(24 * 60 * 60);

pub struct Glob {
    spec: ToolSpec,
}

#[derive(Debug, Deserialize)]
struct Input {
    pattern: String,
    dir_path: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
    #[serde(flatten)]
    file_filtering: FileFiltering,
}

impl Default for Glob {
    fn default() -> Self {
        let description = format!(
            "Finds files by a glob pattern such as `src/**/*.rs` or `*.{{json,toml}}`. Answers with absolute paths: \
             files changed within a day first, the newest before, then the others by name; at most {MAX_SHOWN}. \
             Version control and node_modules are never searched."
        );
        let mut parameters = json!({
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string",
                    "description": "The pattern, relative to the folder. `*` stays within a folder, `**` does not.",
                    "minLength": 1,
                },
                "dir_path": {
                    "type": "string",
                    "description": "The folder to search. Default: the whole workspace.",
                },
                "case_sensitive": {
                    "type": "boolean",
                    "description": "Whether upper and lower case differ. Default false.",
                },
            },
            "required": ["pattern"],
        });
        if let (Value::Object(filtering), Some(properties)) =
            (FileFiltering::properties(), parameters["properties"].as_object_mut())
        {
            properties.extend(filtering);
        }
        Self { spec: spec("glob", "FindFiles", ToolKind::Search, &description, parameters) }
    }
}

#[async_trait]
impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let parsed: Input = read(&self.spec, input)?;
        let starts = resolve_search(context, parsed.dir_path.as_deref())?;
        let patterns =
            starts.iter().map(|start| pattern_below(&parsed, start)).collect::<Result<Vec<_>, _>>()?;
        if patterns.iter().all(Option::is_none) {
            return Err(ToolError::bad_input(format!(
                "glob: \"pattern\": {:?} is absolute and not below the folder to search; use a relative pattern",
                parsed.pattern
            )));
        }
        let place = match &parsed.dir_path {
            Some(dir_path) => format!(" in {dir_path}"),
            None => String::new(),
        };
        Ok(proposal(input, starts, format!("{:?}{place}", parsed.pattern)))
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = read(&self.spec, &proposal.input)?;
        let starts = proposed_paths(&proposal);
        let stop = WalkDeadline::after(WALK_TIMEOUT, context.cancel.clone());
        let workspace = context.workspace.clone();
        blocking(move || {
            let mut found = FoundFiles::default();
            for start in &starts {
                gather(&workspace, start, &input, &stop, &mut found)?;
            }
            let late = stop.check_end()?;
            Ok(found.report(&workspace, &input, &starts, late, SystemTime::now()))
        })
        .await
    }
}

/// The pattern relative to `start`. Models often write absolute ones. None if it cannot match there.
fn pattern_below(input: &Input, start: &Path) -> Result<Option<PathPattern>, ToolError> {
    let pattern = if input.pattern.starts_with('/') {
        start.to_str().and_then(|start| input.pattern.strip_prefix(start)?.strip_prefix('/'))
    } else {
        Some(input.pattern.as_str())
    };
    pattern.map(|pattern| PathPattern::new("glob", "pattern", pattern, input.case_sensitive)).transpose()
}

#[derive(Default)]
struct FoundFiles {
    files: Vec<(PathBuf, Option<SystemTime>)>,
    /// The number of further files.
    more: usize,
}

fn gather(
    workspace: &Workspace,
    start: &Path,
    input: &Input,
    stop: &WalkDeadline,
    found: &mut FoundFiles,
) -> Result<(), ToolError> {
    let Some(pattern) = pattern_below(input, start)? else { return Ok(()) };
    if !start.is_dir() {
        let message = format!("{} is no folder; name one to search", shown_path(workspace, start));
        return Err(ToolError::new(ToolErrorKind::SearchPathNotADirectory, message));
    }
    let shared = Mutex::new(found);
    Walk::new(workspace, start, input.file_filtering.selection(), stop)?.run(|| {
        |entry: &DirEntry| {
            let Ok(below) = entry.path().strip_prefix(start) else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return if pattern.may_match_in(below) { WalkState::Continue } else { WalkState::Skip };
            }
            if pattern.matches(below) && is_file(workspace, entry) {
                let changed = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                shared.lock().ignore_poison().add(entry.path(), changed);
            }
            WalkState::Continue
        }
    });
    Ok(())
}

/// A file, or a link to one inside the workspace.
fn is_file(workspace: &Workspace, entry: &DirEntry) -> bool {
    let leads_to_a_file = || {
        let place = entry.path().to_str().and_then(|path| locate(workspace, path).ok());
        place.is_some_and(|place| place.open_file().is_ok())
    };
    match entry.file_type() {
        Some(kind) if kind.is_symlink() => leads_to_a_file(),
        kind => kind.is_some_and(|kind| kind.is_file()),
    }
}

impl FoundFiles {
    fn add(&mut self, path: &Path, changed: Option<SystemTime>) {
        if self.files.len() < MAX_GATHERED {
            self.files.push((path.to_owned(), changed));
        } else {
            self.more += 1;
        }
    }

    fn report(
        mut self,
        workspace: &Workspace,
        input: &Input,
        starts: &[PathBuf],
        late: bool,
        now: SystemTime,
    ) -> ToolOutput {
        let lately = now.checked_sub(RECENT_AGE);
        // Later times sort first; times that are not recent count as none.
        self.files.sort_by_cached_key(|(path, changed)| {
            (std::cmp::Reverse(changed.filter(|changed| Some(*changed) > lately)), path.clone())
        });
        let places: Vec<String> =
            starts.iter().map(|start| format!("{:?}", shown_path(workspace, start))).collect();
        let aim = format!("{:?} in {}", input.pattern, places.join(", "));
        let count = self.files.len() + self.more;
        let note = if late { "; the search took too long and was ended before all was seen" } else { "" };
        if count == 0 {
            return text_output(format!("No file matches {aim}{note}."), format!("No files found{note}"));
        }
        let files = if count == 1 { "file" } else { "files" };
        let mut text = format!("Found {count} {files} matching {aim}{note}:\n");
        for (path, _) in self.files.iter().take(MAX_SHOWN) {
            text += &path.display().to_string();
            text.push('\n');
        }
        if count > MAX_SHOWN {
            text += &format!("({} more are left out; use a narrower pattern)\n", count - MAX_SHOWN);
        }
        text_output(text.trim_end().to_owned(), format!("Found {count} matching {files}{note}"))
    }
}
