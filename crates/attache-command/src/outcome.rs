//! The result of a tool as text.

use attache_domain::{Content, ToolResult};

/// All of the result's text; what is none is named.
pub(crate) fn text_of(result: &ToolResult) -> String {
    let pieces: Vec<String> = result.output.iter().map(piece).collect();
    pieces.join("\n").trim_end().to_owned()
}

fn piece(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Bytes { media_type, name, .. } => {
            format!("[{}: {media_type}]", name.as_deref().unwrap_or("a file"))
        }
        Content::Link { url, .. } => format!("[{url}]"),
    }
}
