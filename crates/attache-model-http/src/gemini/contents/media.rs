//! Files and links, as Gemini takes them.

use attache_domain::Content;
use serde_json::{Value, json};

use crate::media::{essence, told};

/// `None` for what says nothing.
pub(super) fn part(content: &Content) -> Option<Value> {
    match content {
        Content::Text(text) if text.is_empty() => None,
        Content::Text(text) => Some(json!({"text": text})),
        Content::Bytes { media_type, bytes, name } => Some(file(media_type, &bytes.0, name.as_deref())),
        Content::Link { media_type, url } if is_stored(url) => {
            let mut file = json!({"fileUri": url});
            if let Some(media_type) = media_type {
                file["mimeType"] = json!(media_type);
            }
            Some(json!({"fileData": file}))
        }
        Content::Link { url, .. } => Some(json!({"text": url})),
    }
}

fn file(media_type: &str, bytes: &str, name: Option<&str>) -> Value {
    let essence = essence(media_type);
    match is_seen(&essence) {
        true => json!({"inlineData": {"mimeType": essence, "data": bytes}}),
        false => json!({"text": told(&essence, bytes, name)}),
    }
}

fn is_seen(essence: &str) -> bool {
    const SEEN: &[&str] =
        &["application/pdf", "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
    SEEN.contains(&essence) || essence.starts_with("audio/") || essence.starts_with("video/")
}

/// Links that Gemini follows by itself; any other is only text to it.
fn is_stored(url: &str) -> bool {
    url.starts_with("gs://") || url.starts_with("https://generativelanguage.googleapis.com/")
}
