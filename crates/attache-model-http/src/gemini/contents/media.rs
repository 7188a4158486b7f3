//! Files and links in Gemini's form.

use attache_domain::Content;

use super::part::{FileData, InlineData, PartContent};
use crate::media::{essence, file_text};

/// `None` if there is no content.
pub(super) fn part(content: &Content) -> Option<PartContent<'_>> {
    match content {
        Content::Text(text) if text.is_empty() => None,
        Content::Text(text) => Some(PartContent::Text(text.into())),
        Content::Bytes { media_type, bytes, name } => Some(file(media_type, &bytes.0, name.as_deref())),
        Content::Link { media_type, url } if is_stored(url) => {
            Some(PartContent::FileData(FileData { file_uri: url, mime_type: media_type.as_deref() }))
        }
        Content::Link { url, .. } => Some(PartContent::Text(url.into())),
    }
}

fn file<'a>(media_type: &'a str, bytes: &'a str, name: Option<&str>) -> PartContent<'a> {
    let essence = essence(media_type);
    match is_seen(&essence) {
        true => PartContent::InlineData(InlineData { mime_type: essence.into(), data: bytes }),
        false => PartContent::Text(file_text(&essence, bytes, name).into()),
    }
}

fn is_seen(essence: &str) -> bool {
    const SEEN: &[&str] =
        &["application/pdf", "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
    SEEN.contains(&essence) || essence.starts_with("audio/") || essence.starts_with("video/")
}

/// Links that Gemini opens by itself. Other links are sent as text.
fn is_stored(url: &str) -> bool {
    url.starts_with("gs://") || url.starts_with("https://generativelanguage.googleapis.com/")
}
