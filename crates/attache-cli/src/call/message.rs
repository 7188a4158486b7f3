//! The message that is sent: words and files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use attache_client::{Base64, OutgoingMessage, Part, PartContent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use uuid::Uuid;

use super::arguments::CallArguments;

/// For one file.
const MAX_FILE_BYTES: u64 = 16 << 20;

pub(super) fn new(arguments: &CallArguments, text: String) -> anyhow::Result<OutgoingMessage> {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(Part::text(text));
    }
    for path in &arguments.file {
        parts.push(file(path)?);
    }
    let mut message = OutgoingMessage::parts(Uuid::new_v4(), parts);
    if let Some(task) = &arguments.task {
        message = message.to_task(task.as_str());
    }
    if let Some(context) = &arguments.context {
        message = message.in_context(context.as_str());
    }
    Ok(if arguments.detach { message.return_immediately() } else { message })
}

fn file(path: &Path) -> anyhow::Result<Part> {
    let cannot = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    File::open(path)
        .with_context(cannot)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("{} is larger than {} MiB", path.display(), MAX_FILE_BYTES >> 20);
    }
    let mut part = Part::new(PartContent::Raw(Base64(STANDARD.encode(&bytes))));
    part.filename = path.file_name().map(|name| name.to_string_lossy().into_owned());
    part.media_type = Some(media_type(path, &bytes).to_owned());
    Ok(part)
}

/// By the name's ending; any other text is plain.
fn media_type(path: &Path, bytes: &[u8]) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "html" | "htm" => "text/html",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "zip" => "application/zip",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_name_says_or_text_or_bytes() {
        for (name, bytes, expected) in [
            ("a.PNG", &b"\x89"[..], "image/png"),
            ("notes", b"hello", "text/plain"),
            ("main.rs", b"fn main() {}", "text/plain"),
            ("core", b"\xff\xfe", "application/octet-stream"),
        ] {
            assert_eq!(media_type(Path::new(name), bytes), expected, "{name}");
        }
    }
}
