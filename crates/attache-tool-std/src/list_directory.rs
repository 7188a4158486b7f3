//! `list_directory`: the entries of a folder.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use async_trait::async_trait;
use attache_tool::{
    Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec,
    Workspace, check_glob,
};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustix::fs::{AtFlags, Dir, FileType};
use serde::Deserialize;
use serde_json::json;

use crate::ignore_rules::{FileFiltering, IgnoreRules};
use crate::read_only::{blocking, proposal, proposed_path, resolve, root_of, shown_path, spec, text_output};
use crate::schema::read;
use crate::walk::ignored;
use crate::workspace::locate_resolved;

/// Entries in one result.
const MAX_SHOWN: usize = 1_000;
/// Entries that are read; a larger folder is listed in part.
const MAX_READ: usize = 100_000;

pub struct ListDirectory {
    spec: ToolSpec,
}

#[derive(Debug, Deserialize)]
struct Input {
    dir_path: String,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    file_filtering_options: FileFiltering,
}

impl Default for ListDirectory {
    fn default() -> Self {
        let description = format!(
            "Lists what is directly in a folder of the workspace: folders first, then files with their sizes, each \
             by name, at most {MAX_SHOWN} entries."
        );
        let parameters = json!({
            "type": "object",
            "properties": {
                "dir_path": {
                    "type": "string",
                    "description": "The folder, relative to the workspace or absolute.",
                    "minLength": 1,
                },
                "ignore": {
                    "type": "array",
                    "description": "Glob patterns of names to leave out.",
                    "items": { "type": "string" },
                    "maxItems": 100,
                },
                "file_filtering_options": {
                    "type": "object",
                    "description": "Which ignore rules count.",
                    "properties": FileFiltering::properties(),
                },
            },
            "required": ["dir_path"],
        });
        Self { spec: spec("list_directory", "ReadFolder", ToolKind::Search, &description, parameters) }
    }
}

#[async_trait]
impl Tool for ListDirectory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let parsed: Input = read(&self.spec, input)?;
        name_patterns(&parsed.ignore)?;
        let path = resolve(context, &parsed.dir_path)?;
        let summary = shown_path(&context.workspace, &path);
        Ok(proposal(input, vec![path], summary))
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = read(&self.spec, &proposal.input)?;
        let path = proposed_path(&proposal)?;
        let workspace = context.workspace.clone();
        blocking(move || list(&workspace, &path, &input)).await
    }
}

fn name_patterns(patterns: &[String]) -> Result<GlobSet, ToolError> {
    let mut set = GlobSetBuilder::new();
    let wrong = |error: globset::Error| ToolError::bad_input(format!("list_directory: \"ignore\": {error}"));
    for pattern in patterns {
        check_glob(pattern)
            .map_err(|why| ToolError::bad_input(format!("list_directory: \"ignore\": {why}")))?;
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(wrong)?);
    }
    set.build().map_err(wrong)
}

fn list(workspace: &Workspace, path: &Path, input: &Input) -> Result<ToolOutput, ToolError> {
    let unwanted = name_patterns(&input.ignore)?;
    let ignoring =
        IgnoreRules::new(workspace, root_of(workspace, path), input.file_filtering_options.selection());
    let folder = locate_resolved(workspace, path)?.open_directory()?;
    if ignoring.hides(path, true) {
        return Err(ignored(workspace, path));
    }
    let (mut entries, complete) = entries(&folder).map_err(|error| {
        let message = format!("{} could not be listed: {error}", shown_path(workspace, path));
        ToolError::new(ToolErrorKind::LsExecutionError, message)
    })?;
    let all = entries.len();
    entries.retain(|entry| {
        !unwanted.is_match(&entry.name) && !ignoring.hides_itself(&path.join(&entry.name), entry.is_folder)
    });
    entries.sort_unstable_by(|one, other| (!one.is_folder, &one.name).cmp(&(!other.is_folder, &other.name)));

    let left_alone = all - entries.len();
    let left_out = entries.len().saturating_sub(MAX_SHOWN);
    let mut text = match (entries.is_empty(), left_alone) {
        (true, 0) => format!("{} is empty.", path.display()),
        (true, _) => format!("There is nothing to show in {}.", path.display()),
        (false, _) => format!("In {}:\n", path.display()),
    };
    for entry in entries.iter().take(MAX_SHOWN) {
        text += &entry.line(&folder);
        text.push('\n');
    }
    if left_out > 0 {
        text += &format!(
            "({left_out} more entries are left out; narrow the listing with \"ignore\" or use glob)\n"
        );
    }
    if !complete {
        text += &format!("(the folder has more than {MAX_READ} entries; the others were not looked at)\n");
    }
    if left_alone > 0 {
        text += &format!("\n({left_alone} ignored)\n");
    }
    let aside = if left_alone > 0 { format!(" ({left_alone} ignored)") } else { String::new() };
    Ok(text_output(text.trim_end().to_owned(), format!("Listed {} entries{aside}", entries.len())))
}

struct Entry {
    name: OsString,
    is_folder: bool,
}

/// The entries of the folder, and whether the list is complete.
fn entries(folder: &OwnedFd) -> rustix::io::Result<(Vec<Entry>, bool)> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if entries.len() == MAX_READ {
            return Ok((entries, false));
        }
        let kind = match entry.file_type() {
            // Not every file system reports the type in the listing.
            FileType::Unknown => rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode)),
            kind => kind,
        };
        entries.push(Entry { name: name.to_owned(), is_folder: kind == FileType::Directory });
    }
    Ok((entries, true))
}

impl Entry {
    fn line(&self, folder: &OwnedFd) -> String {
        let name = self.name.to_string_lossy();
        if self.is_folder {
            return format!("[DIR] {name}");
        }
        let Ok(status) = rustix::fs::statat(folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) else {
            return format!("{name} (gone)");
        };
        match FileType::from_raw_mode(status.st_mode) {
            FileType::Symlink => match rustix::fs::readlinkat(folder, &self.name, Vec::new()) {
                Ok(target) => format!("{name} (link to {})", target.to_string_lossy()),
                Err(_) => format!("{name} (link)"),
            },
            FileType::RegularFile => format!("{name} ({} bytes)", status.st_size),
            _ => format!("{name} (pipe, socket or device)"),
        }
    }
}
