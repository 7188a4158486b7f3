//! Builds the result, file by file, until it is full.

use attache_domain::Content;
use attache_tool::{ToolOutput, Workspace};

use super::select::SelectedFile;
use crate::file_content::{FileContent, classify, read_bytes};
use crate::read_file::with_notes;
use crate::read_only::shown_path;
use crate::text_file::excerpt;
use crate::workspace::locate_resolved;

/// Bytes of text, and of media in base64, in one result.
const MAX_TEXT: usize = 1024 * 1024;
const MAX_MEDIA: usize = 28 * 1024 * 1024;
/// Names of skipped files in one result.
const MAX_NAMED: usize = 50;

#[derive(Default)]
pub(crate) struct FilesReport {
    content: Vec<Content>,
    text: String,
    text_bytes: usize,
    media_bytes: usize,
    read: Vec<String>,
    skipped: Vec<(String, String)>,
}

const END: &str = "--- End of content ---";

impl FilesReport {
    /// A result with this first line.
    pub(crate) fn beginning_with(line: &str) -> Self {
        Self { text: format!("{line}\n\n"), ..Self::default() }
    }

    pub(crate) fn add(&mut self, workspace: &Workspace, file: SelectedFile) {
        let name = shown_path(workspace, &file.path);
        match self.take(workspace, &file, &name) {
            Ok(()) => self.read.push(name),
            Err(reason) => self.skipped.push((name, reason)),
        }
    }

    /// The error says why the file is skipped.
    fn take(&mut self, workspace: &Workspace, file: &SelectedFile, name: &str) -> Result<(), String> {
        const FULL: &str = "the answer is full";
        if self.text_bytes >= MAX_TEXT {
            return Err(FULL.to_owned());
        }
        let place = locate_resolved(workspace, &file.path).map_err(|error| error.message)?;
        let bytes = read_bytes(&place).map_err(|error| error.message)?;
        match classify(&file.path, bytes) {
            FileContent::Text { text, damaged } => {
                let text =
                    excerpt(&text, 1, None).map(|shown| with_notes(shown, damaged)).unwrap_or_default();
                if self.text_bytes + text.len() > MAX_TEXT {
                    return Err(FULL.to_owned());
                }
                self.text_bytes += text.len();
                self.text += &format!("--- {name} ---\n\n{text}\n\n");
            }
            FileContent::Media(_) if !file.by_name => {
                return Err("it is no text, and no pattern names it or its extension".to_owned());
            }
            FileContent::Media(content) => {
                let size = if let Content::Bytes { bytes, .. } = &content { bytes.0.len() } else { 0 };
                if self.media_bytes + size > MAX_MEDIA {
                    return Err(FULL.to_owned());
                }
                self.media_bytes += size;
                self.text += &format!("--- {name} ---\n\n");
                self.content.push(Content::Text(std::mem::take(&mut self.text)));
                self.content.push(content);
            }
            FileContent::Binary { .. } => return Err("it is binary".to_owned()),
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> ToolOutput {
        let skipped = self.named_skipped();
        if self.read.is_empty() {
            let text =
                format!("No files were read: nothing matches the patterns that may be read.\n{skipped}");
            return crate::read_only::text_output(
                text.trim_end().to_owned(),
                format!("No files read\n{skipped}"),
            );
        }
        self.text += END;
        if !skipped.is_empty() {
            self.text += &format!("\n{skipped}");
        }
        self.content.push(Content::Text(self.text.trim_end().to_owned()));
        let named: Vec<&str> = self.read.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = more(self.read.len());
        let summary = format!("Read {} files: {}{more}\n{skipped}", self.read.len(), named.join(", "));
        ToolOutput {
            content: self.content,
            summary: summary.trim_end().to_owned(),
            diff: None,
            files: Vec::new(),
        }
    }

    /// The skipped files with reasons, and the number of further ones.
    pub(crate) fn skipped(&self) -> (impl Iterator<Item = (&str, &str)>, usize) {
        let named = self.skipped.iter().take(MAX_NAMED).map(|(name, why)| (name.as_str(), why.as_str()));
        (named, self.skipped.len().saturating_sub(MAX_NAMED))
    }

    /// The content of the files; empty if none was read.
    pub(crate) fn into_content(mut self) -> Vec<Content> {
        if self.read.is_empty() {
            return Vec::new();
        }
        self.content.push(Content::Text(self.text + END));
        self.content
    }

    fn named_skipped(&self) -> String {
        if self.skipped.is_empty() {
            return String::new();
        }
        let lines = self.skipped.iter().take(MAX_NAMED).map(|(name, reason)| format!("- {name}: {reason}\n"));
        format!(
            "Left out {} files{}:\n{}",
            self.skipped.len(),
            more(self.skipped.len()),
            lines.collect::<String>()
        )
    }
}

fn more(count: usize) -> String {
    if count > MAX_NAMED { format!(" (the first {MAX_NAMED} are named)") } else { String::new() }
}
