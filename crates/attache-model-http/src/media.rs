//! Files and links in the form that most providers accept.

use attache_domain::Content;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How content is shown to a model.
#[derive(Debug, PartialEq)]
pub(crate) enum MediaPart<'a> {
    Text(String),
    /// The bytes are base64.
    Image {
        media_type: String,
        bytes: &'a str,
    },
    Pdf {
        bytes: &'a str,
        name: Option<&'a str>,
    },
}

/// `None` if there is no content.
pub(crate) fn media_part(content: &Content) -> Option<MediaPart<'_>> {
    match content {
        Content::Text(text) if text.trim().is_empty() => None,
        Content::Text(text) => Some(MediaPart::Text(text.clone())),
        // The model decides whether to fetch the link with a tool.
        Content::Link { url, .. } => Some(MediaPart::Text(url.clone())),
        Content::Bytes { media_type, bytes, name } => {
            let media_type = essence(media_type);
            let name = name.as_deref();
            Some(match media_type.as_str() {
                "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
                    MediaPart::Image { media_type, bytes: &bytes.0 }
                }
                "application/pdf" => MediaPart::Pdf { bytes: &bytes.0, name },
                _ => MediaPart::Text(file_text(&media_type, &bytes.0, name)),
            })
        }
    }
}

/// The type without its parameters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A description of a file: its content, or that it cannot be shown.
pub(crate) fn file_text(essence: &str, bytes: &str, name: Option<&str>) -> String {
    let shown = name.map_or_else(|| "A file".to_owned(), |name| format!("The file {name}"));
    let text = STANDARD.decode(bytes).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match text.filter(|_| is_text(essence)) {
        Some(text) => format!("{shown}:\n{text}"),
        // A file that the provider cannot read would make it refuse the whole request.
        None => format!("{shown} of type {essence} is not shown: it cannot be read here."),
    }
}

fn is_text(essence: &str) -> bool {
    const TEXT: &[&str] = &["json", "xml", "yaml", "toml", "javascript", "sql", "svg"];
    essence.starts_with("text/") || TEXT.iter().any(|kind| essence.contains(kind))
}
