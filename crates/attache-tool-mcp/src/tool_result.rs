//! Converts the result of a call for a model.

use std::path::Path;

use attache_domain::{Base64, Content, excerpt_in_bytes};
use attache_tool::{MAX_OUTPUT_CHARACTERS, ToolError, ToolErrorKind, ToolOutput, shorten, untrusted};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use uuid::Uuid;

use crate::visible::in_lines;

/// The maximum bytes of one result; the rest is dropped.
const MAX_RESULT_BYTES: usize = 10 * 1024 * 1024;
/// The maximum number of items in one result.
const MAX_PARTS: usize = 1_000;
/// The maximum size of the text for people.
const SUMMARY_LINES: usize = 10;
const SUMMARY_BYTES: usize = 1_000;
const MAX_ERROR_LENGTH: usize = 10_000;

/// The server and the tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultSource<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
}

/// The response to `tools/call`.
pub(crate) async fn of_call(
    result: Value,
    source: ResultSource<'_>,
    scratch: &Path,
) -> Result<ToolOutput, ToolError> {
    let failed = result.get("isError") == Some(&Value::Bool(true));
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        let why = "it asks for more input in the middle of a call, which is not supported";
        return Err(failure(source, why));
    }
    let mut pieces = ResultParts::default();
    let content = result.get("content").and_then(Value::as_array);
    for block in content.into_iter().flatten() {
        pieces.add(block, source);
    }
    if pieces.is_empty()
        && let Some(structured) = result.get("structuredContent").filter(|value| !value.is_null())
    {
        pieces.text(&serde_json::to_string_pretty(structured).unwrap_or_default());
    }
    if failed {
        let text = if pieces.texts.is_empty() { "no reason given".into() } else { pieces.texts.join("\n") };
        return Err(failure(source, &untrusted(&excerpt_in_bytes(&text, MAX_ERROR_LENGTH))));
    }
    Ok(pieces.finish(scratch).await)
}

/// The response to `resources/read`.
pub(crate) async fn of_resource(result: Value, source: ResultSource<'_>, scratch: &Path) -> ToolOutput {
    let mut pieces = ResultParts::default();
    for resource in result.get("contents").and_then(Value::as_array).into_iter().flatten() {
        pieces.resource(resource, source);
    }
    pieces.finish(scratch).await
}

pub(crate) fn failure(source: ResultSource<'_>, why: &str) -> ToolError {
    let ResultSource { server, tool } = source;
    ToolError::new(ToolErrorKind::McpToolError, format!("{tool} of the MCP server {server} failed: {why}"))
}

#[derive(Default)]
struct ResultParts {
    texts: Vec<String>,
    /// The items, each with its description.
    bytes: Vec<(String, Content)>,
    size: usize,
    left_out: usize,
}

impl ResultParts {
    fn add(&mut self, block: &Value, source: ResultSource<'_>) {
        match text_of(block, "type") {
            "text" => self.text(text_of(block, "text")),
            kind @ ("image" | "audio") => {
                self.data(kind, text_of(block, "mimeType"), text_of(block, "data"), source)
            }
            "resource" => self.resource(block.get("resource").unwrap_or(&Value::Null), source),
            "resource_link" => {
                let name = [text_of(block, "title"), text_of(block, "name")]
                    .into_iter()
                    .find(|name| !name.is_empty());
                let link = format!("Link to {}: {}", name.unwrap_or("a resource"), text_of(block, "uri"));
                self.text(&[&link, text_of(block, "description")].join("\n"));
            }
            other => self.text(&format!(
                "[a piece of the unknown kind {:?} is left out]",
                excerpt_in_bytes(other, 64)
            )),
        }
    }

    fn resource(&mut self, resource: &Value, source: ResultSource<'_>) {
        if let Some(text) = resource.get("text").and_then(Value::as_str) {
            return self.text(text);
        }
        let media_type = match text_of(resource, "mimeType") {
            "" => "application/octet-stream",
            told => told,
        };
        self.data("resource", media_type, text_of(resource, "blob"), source);
    }

    fn text(&mut self, text: &str) {
        let room = self.room(text.len());
        if room == 0 {
            return;
        }
        let text = text.trim_end();
        self.texts.push(if text.len() > room { excerpt_in_bytes(text, room) } else { text.to_owned() });
    }

    fn data(&mut self, kind: &str, media_type: &str, data: &str, source: ResultSource<'_>) {
        if !is_media_type(media_type) {
            return self.text(&format!("[{kind} without a proper media type is left out]"));
        }
        let Ok(bytes) = STANDARD.decode(data) else {
            return self.text(&format!("[{kind} of type {media_type} is left out: it is not base64]"));
        };
        if self.room(data.len()) < data.len() {
            self.left_out += 1;
            return;
        }
        let words = format!(
            "{} of {} gave this {kind} ({media_type}, {} bytes):",
            source.tool,
            source.server,
            bytes.len()
        );
        let content =
            Content::Bytes { media_type: media_type.to_owned(), bytes: Base64(data.to_owned()), name: None };
        self.bytes.push((words, content));
    }

    /// Reserves space for an item of this size, and returns how much of it fits.
    fn room(&mut self, wanted: usize) -> usize {
        if self.texts.len() + self.bytes.len() >= MAX_PARTS {
            self.left_out += 1;
            return 0;
        }
        let room = wanted.min(MAX_RESULT_BYTES - self.size);
        if room < wanted {
            self.left_out += usize::from(room == 0);
        }
        self.size += room;
        room
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.bytes.is_empty()
    }

    async fn finish(self, scratch: &Path) -> ToolOutput {
        let whole = self.texts.join("\n\n");
        let summary = summary(&whole);
        let mut content = Vec::new();
        if !self.texts.is_empty() {
            let name = format!("mcp_{}", Uuid::now_v7());
            let text = shorten(whole, MAX_OUTPUT_CHARACTERS, scratch, name).await;
            content.push(Content::Text(untrusted(&text)));
        }
        for (words, bytes) in self.bytes {
            content.extend([Content::Text(words), bytes]);
        }
        if self.left_out > 0 || self.size >= MAX_RESULT_BYTES {
            content.push(Content::Text(format!(
                "The result is larger than {MAX_RESULT_BYTES} bytes or {MAX_PARTS} pieces; the rest is left out. Ask for less at once."
            )));
        }
        if content.is_empty() {
            content.push(Content::Text("The tool ran and gave no content.".into()));
        }
        ToolOutput { content, summary, diff: None, files: Vec::new() }
    }
}

fn summary(text: &str) -> String {
    let mut lines = text.lines();
    let shown: Vec<&str> = lines.by_ref().take(SUMMARY_LINES).collect();
    let more = if lines.next().is_some() { "\n…" } else { "" };
    format!("{}{more}", excerpt_in_bytes(&in_lines(&shown.join("\n")), SUMMARY_BYTES))
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `type/subtype`, with optional parameters, in the characters of media types.
fn is_media_type(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let essence = text.split(';').next().unwrap_or_default().trim();
    text.len() <= 128
        && text.is_ascii()
        && essence.split_once('/').is_some_and(|(kind, sub)| plain(kind) && plain(sub))
}

#[cfg(test)]
#[path = "tool_result_tests.rs"]
mod tests;
