//! Collects the content of files, until it is full.

use std::path::PathBuf;

use attache_domain::Content;
use attache_tool::Workspace;

use crate::file_content::{FileContent, classify, read_bytes};
use crate::read_file::with_notes;
use crate::read_only::shown_path;
use crate::text_file::excerpt;
use crate::workspace::locate_resolved;

/// Bytes of text, and of media in base64, for one prompt.
const MAX_TEXT: usize = 1024 * 1024;
const MAX_MEDIA: usize = 28 * 1024 * 1024;
/// Notes about single files.
const MAX_NAMED: usize = 50;

const BEGIN: &str = "--- Content from referenced files ---";
const END: &str = "--- End of content ---";

/// A file to read.
#[derive(Debug)]
pub(super) struct SelectedFile {
    pub(super) path: PathBuf,
    /// The prompt names it, not only a folder above it.
    pub(super) by_name: bool,
}

#[derive(Default)]
pub(super) struct FilesReport {
    content: Vec<Content>,
    text: String,
    text_bytes: usize,
    media_bytes: usize,
    skipped: Vec<(String, String)>,
}

impl FilesReport {
    pub(super) fn add(&mut self, workspace: &Workspace, file: &SelectedFile) {
        let name = shown_path(workspace, &file.path);
        if let Err(reason) = self.take(workspace, file, &name) {
            self.skipped.push((name, reason));
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
                self.begin(name);
                self.text += &format!("{text}\n\n");
            }
            FileContent::Media(_) if !file.by_name => {
                return Err("it is no text, and only its folder is mentioned".to_owned());
            }
            FileContent::Media(content) => {
                let size = if let Content::Bytes { bytes, .. } = &content { bytes.0.len() } else { 0 };
                if self.media_bytes + size > MAX_MEDIA {
                    return Err(FULL.to_owned());
                }
                self.media_bytes += size;
                self.begin(name);
                self.content.push(Content::Text(std::mem::take(&mut self.text)));
                self.content.push(content);
            }
            FileContent::Binary { .. } => return Err("it is binary".to_owned()),
        }
        Ok(())
    }

    fn begin(&mut self, name: &str) {
        if self.text.is_empty() && self.content.is_empty() {
            self.text += BEGIN;
            self.text += "\n\n";
        }
        self.text += &format!("--- {name} ---\n\n");
    }

    /// Why files were skipped.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let named = self.skipped.iter().take(MAX_NAMED);
        let more = self.skipped.len().saturating_sub(MAX_NAMED);
        named
            .map(|(name, why)| format!("{name} was left out: {why}"))
            .chain((more > 0).then(|| format!("{more} more files were left out")))
    }

    /// The content of the files with their names, between a first and a last line; empty if none was read.
    pub(super) fn into_content(mut self) -> Vec<Content> {
        if self.text.is_empty() && self.content.is_empty() {
            return Vec::new();
        }
        self.content.push(Content::Text(self.text + END));
        self.content
    }
}
