//! The text and files of a message: from the command line or from a pipe.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, bail};
use attache_client::{Base64, Part, PartContent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes of a message that is piped in.
const MAX_PIPED: u64 = 8 << 20;
/// For one file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What is piped in; empty at a terminal.
pub(crate) fn piped() -> anyhow::Result<String> {
    let mut text = String::new();
    if io::stdin().is_terminal() {
        return Ok(text);
    }
    let piped = io::stdin().lock().take(MAX_PIPED + 1).read_to_string(&mut text);
    piped.context("cannot read the message from standard input")?;
    if text.len() as u64 > MAX_PIPED {
        bail!("the piped message is larger than {} MiB", MAX_PIPED >> 20);
    }
    Ok(text)
}

/// The parts of a message: its text, if there is one, and then its files.
pub(crate) fn parts(text: String, files: &[impl AsRef<Path>]) -> anyhow::Result<Vec<Part>> {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(Part::text(text));
    }
    for path in files {
        parts.push(file(path.as_ref())?);
    }
    Ok(parts)
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
