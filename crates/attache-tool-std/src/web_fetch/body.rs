//! Converts the body of a response for a model.

use std::path::Path;

use attache_domain::{Base64, Content};
use attache_net::Url;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::{Encoding, UTF_8};

use crate::html::page_text;
use crate::media_type::media_type;
use crate::text_file::looks_binary;

/// Text or media.
#[derive(Debug, PartialEq)]
pub(super) enum PageBody {
    Text { text: String, cut: bool },
    Media { content: Content, size: usize },
}

/// Bytes of a page that may name its encoding.
const SNIFF_BYTES: usize = 1_024;

/// Converts a body, or says why it cannot be shown. Needs at most `limit` characters of text.
pub(super) fn understand(
    url: &Url,
    content_type: Option<&str>,
    bytes: &[u8],
    limit: usize,
) -> Result<PageBody, String> {
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    let (essence, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
    let essence = essence.trim();
    if let Some(marked) = media_type(Path::new(url.path()), bytes) {
        return Ok(media(marked, url, bytes));
    }
    if is_html(essence, bytes) {
        let page = page_text(&decode(parameters, Some(bytes), bytes), url, limit.saturating_mul(4));
        let text = match page.title {
            Some(title) => format!("Title: {title}\n\n{}", page.text),
            None => page.text,
        };
        return Ok(PageBody::Text { text, cut: page.cut });
    }
    if is_text(essence) || essence.is_empty() && !looks_binary(bytes) {
        let text = decode(parameters, None, bytes);
        return Ok(PageBody::Text { text: text.replace('\0', ""), cut: false });
    }
    if !looks_binary(bytes) {
        return Ok(PageBody::Text { text: decode(parameters, None, bytes), cut: false });
    }
    let named = if essence.is_empty() { "of an unknown kind" } else { essence };
    Err(format!("it is {named} ({} bytes), which can neither be read nor looked at", bytes.len()))
}

fn media(media_type: &str, url: &Url, bytes: &[u8]) -> PageBody {
    let name =
        url.path_segments().and_then(|mut segments| segments.next_back()).filter(|name| !name.is_empty());
    let content = Content::Bytes {
        media_type: media_type.to_owned(),
        bytes: Base64(STANDARD.encode(bytes)),
        name: name.map(str::to_owned),
    };
    PageBody::Media { content, size: bytes.len() }
}

fn is_html(essence: &str, bytes: &[u8]) -> bool {
    let begins = || {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(SNIFF_BYTES)]).to_ascii_lowercase();
        ["<!doctype html", "<html"].iter().any(|start| head.trim_start().starts_with(start))
    };
    matches!(essence, "text/html" | "application/xhtml+xml") || essence.is_empty() && begins()
}

fn is_text(essence: &str) -> bool {
    let kinds = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "yaml",
        "toml",
        "markdown",
        "x-sh",
        "graphql",
        "x-ndjson",
    ];
    let Some((group, kind)) = essence.split_once('/') else { return false };
    let suffix = kind.rsplit('+').next().unwrap_or(kind);
    group == "text" || kinds.iter().any(|known| suffix == *known || suffix.strip_prefix("x-") == Some(known))
}

/// Decodes by the byte order mark, the header or the page, in this order; otherwise as UTF-8.
fn decode(parameters: &str, page: Option<&[u8]>, bytes: &[u8]) -> String {
    let in_page = || {
        let head = page
            .map(|page| String::from_utf8_lossy(&page[..page.len().min(SNIFF_BYTES)]).to_ascii_lowercase());
        charset(&head?)
    };
    let encoding = charset(parameters).or_else(in_page).unwrap_or(UTF_8);
    encoding.decode(bytes).0.into_owned()
}

fn charset(text: &str) -> Option<&'static Encoding> {
    let (_, after) = text.split_once("charset=")?;
    let name = after.trim_start_matches(['"', '\'']);
    let end = name.find(|character: char| !character.is_ascii_alphanumeric() && !"-_:.".contains(character));
    Encoding::for_label(&name.as_bytes()[..end.unwrap_or(name.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content_type: &str, bytes: &[u8], expected: Result<&str, &str>) {
        let url = Url::parse("https://a.test/x/file").unwrap();
        let content_type = Some(content_type).filter(|content_type| !content_type.is_empty());
        match (understand(&url, content_type, bytes, 1_000), expected) {
            (Ok(PageBody::Text { text, cut: false }), Ok(expected)) => assert_eq!(text, expected),
            (Ok(PageBody::Media { content, size }), Ok(expected)) => {
                assert_eq!(size, bytes.len());
                assert!(matches!(content, Content::Bytes { media_type, name, .. }
                    if media_type == expected && name.as_deref() == Some("file")));
            }
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (found, expected) => panic!("{content_type:?}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn text_is_text_and_pages_are_read() {
        check("text/plain", b"<b>a</b>", Ok("<b>a</b>"));
        check("application/json; charset=utf-8", b"{}", Ok("{}"));
        check("application/ld+json", b"{}", Ok("{}"));
        check("image/svg+xml", b"<svg/>", Ok("<svg/>"));
        check("text/HTML", b"<title>T</title><b>a</b>", Ok("Title: T\n\na"));
        check("", b" <!DOCTYPE html><b>a</b>", Ok("a"));
        check("", b"plain", Ok("plain"));
        check("application/octet-stream", b"plain after all", Ok("plain after all"));
    }

    #[test]
    fn characters_are_read_as_they_were_written() {
        check("text/plain; charset=ISO-8859-1", b"caf\xe9", Ok("café"));
        check("text/html", b"<meta charset=\"windows-1252\">\x80 5", Ok("€ 5"));
        check("text/plain; charset=nonsense", "é".as_bytes(), Ok("é"));
        check("text/plain; charset=latin1", b"\xef\xbb\xbfe\xcc\x81", Ok("e\u{301}"));
        check("text/plain", b"a\xffb\0", Ok("a\u{fffd}b"));
    }

    #[test]
    fn media_are_known_by_their_bytes() {
        check("image/png", b"\x89PNG\r\n\x1a\n\0\0", Ok("image/png"));
        check("text/plain", b"%PDF-1.7\n", Ok("application/pdf"));
        check("image/png", b"\0\x01\x02\x03", Err("image/png (4 bytes)"));
        check("", b"\0\x01\x02\x03", Err("unknown kind"));
    }
}
