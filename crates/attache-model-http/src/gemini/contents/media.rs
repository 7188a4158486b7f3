//! Files and links, as Gemini takes them.

use attache_domain::Content;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

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
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if is_seen(&essence) {
        return json!({"inlineData": {"mimeType": essence, "data": bytes}});
    }
    let shown = name.map_or_else(|| "A file".to_owned(), |name| format!("The file {name}"));
    let text = STANDARD.decode(bytes).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match text.filter(|_| is_text(&essence)) {
        Some(text) => json!({"text": format!("{shown}:\n{text}")}),
        // One that Gemini cannot read would make it refuse everything.
        None => json!({"text": format!("{shown} of type {essence} is not shown: it cannot be read here.")}),
    }
}

fn is_seen(essence: &str) -> bool {
    const SEEN: &[&str] =
        &["application/pdf", "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
    SEEN.contains(&essence) || essence.starts_with("audio/") || essence.starts_with("video/")
}

fn is_text(essence: &str) -> bool {
    const TEXT: &[&str] = &["json", "xml", "yaml", "toml", "javascript", "sql", "svg"];
    essence.starts_with("text/") || TEXT.iter().any(|kind| essence.contains(kind))
}

/// Links that Gemini follows by itself; any other is only text to it.
fn is_stored(url: &str) -> bool {
    url.starts_with("gs://") || url.starts_with("https://generativelanguage.googleapis.com/")
}
