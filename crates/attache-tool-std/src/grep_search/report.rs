//! Writes the matches as text.

use std::path::PathBuf;

use attache_tool::{ToolOutput, Workspace};

use super::Input;
use super::lines::LineRole;
use super::search::SearchOutcome;
use crate::read_only::{shown_path, text_output};

/// Longer results are cut between lines.
const MAX_BYTES: usize = 512 * 1024;

pub(super) fn report(
    workspace: &Workspace,
    starts: &[PathBuf],
    input: &Input,
    outcome: SearchOutcome,
) -> ToolOutput {
    let places: Vec<String> =
        starts.iter().map(|start| format!("{:?}", shown_path(workspace, start))).collect();
    let files = input.include_pattern.as_ref().map_or(String::new(), |files| format!(" (files: {files})"));
    let aim = format!("{:?} in {}{files}", input.pattern, places.join(", "));
    let notes = notes(input, &outcome);
    let (kept, file_count) = (&outcome.kept, outcome.kept.files.len());
    if file_count == 0 {
        return text_output(format!("No matches for {aim}.{notes}"), format!("No matches found{notes}"));
    }
    let counted = if input.names_only {
        format!("{} with matches", count(file_count, "file", "files"))
    } else {
        format!("{} in {}", count(kept.matches, "match", "matches"), count(file_count, "file", "files"))
    };
    let mut text = if input.names_only {
        format!("Found {} for {aim}:\n", count(file_count, "file with matches", "files with matches"))
    } else {
        format!("Found {} for {aim}:\n---\n", count(kept.matches, "match", "matches"))
    };
    let whole = write_matches(&mut text, workspace, input, &outcome);
    if !whole {
        text += "(the rest is left out, because the answer would be too long; narrow the search)\n";
    }
    text += notes.trim_start();
    text_output(text.trim_end().to_owned(), format!("Found {counted}{notes}"))
}

/// Returns whether everything was written.
fn write_matches(text: &mut String, workspace: &Workspace, input: &Input, outcome: &SearchOutcome) -> bool {
    for (path, found) in &outcome.kept.files {
        let path = shown_path(workspace, path);
        if input.names_only {
            *text += &format!("{path}\n");
            continue;
        }
        *text += &format!("File: {path}\n");
        for line in &found.lines {
            if text.len() > MAX_BYTES {
                return false;
            }
            let mark = match line.role {
                LineRole::Match => ':',
                LineRole::Context => '-',
            };
            *text += &format!("L{}{mark} {}\n", line.number, line.text);
        }
        *text += "---\n";
    }
    true
}

fn notes(input: &Input, outcome: &SearchOutcome) -> String {
    let mut notes = String::new();
    if outcome.kept.limited {
        let what = if input.names_only { "files" } else { "matches" };
        notes += &format!(" (limited: there may be more {what}; narrow the search or raise the limits)");
    }
    if outcome.late {
        notes += " (incomplete: the search took too long and was ended; narrow it)";
    }
    if outcome.unread > 0 && !outcome.late {
        notes += &format!(" ({} could not be searched)", count(outcome.unread, "file", "files"));
    }
    notes
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
