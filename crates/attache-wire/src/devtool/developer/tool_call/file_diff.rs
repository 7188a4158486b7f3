//! What an edit does to a file.

use std::borrow::Cow;

use attache_domain::{CallRecord, Preview, visible, visible_line};
use serde::Serialize;

use super::call_text;

/// People read the names and the formatted diff, so hidden characters are escaped there. Editors show and change the
/// contents, so these stay unchanged.
#[derive(Debug, Serialize)]
pub(super) struct FileDiff<'a> {
    file_name: String,
    file_path: String,
    /// `None` if the file does not exist yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_content: Option<&'a str>,
    new_content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    formatted_diff: Option<Cow<'a, str>>,
}

impl<'a> FileDiff<'a> {
    /// `None` if the call is no edit. Content that a person put in the place of the proposal wins.
    pub(super) fn of(record: &'a CallRecord) -> Option<Self> {
        let Some(Preview::Edit { path, diff, original, new_content, .. }) = call_text::preview(record) else {
            return None;
        };
        let changed = record.answer.as_ref().and_then(|answer| answer.new_content.as_deref());
        let written = changed.unwrap_or(new_content);
        // The diff of the proposal does not apply to other content.
        let proposed = Some(diff.as_str()).filter(|_| written == new_content);
        let diff = record.diff.as_deref().or(proposed);
        let shown = |name: Cow<'_, str>| visible_line(&name).into_owned();
        Some(Self {
            file_name: path.file_name().map(|name| name.to_string_lossy()).map(shown).unwrap_or_default(),
            file_path: shown(path.to_string_lossy()),
            old_content: original.as_deref(),
            new_content: written,
            formatted_diff: diff.filter(|diff| !diff.is_empty()).map(visible),
        })
    }
}
