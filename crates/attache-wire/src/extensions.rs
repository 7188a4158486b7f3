//! The header that requests and confirms extensions.

use crate::Version;

/// Idempotent sends: with this extension, a message is a duplicate if its id is known.
pub const IDEMPOTENT_SEND: &str = "urn:attache:extension:idempotent-send:v1";

/// The requested extension URIs, in order and without duplicates. Every item is the value of one header line, which
/// may hold several URIs, separated by commas.
pub fn requested<'a>(headers: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut uris: Vec<String> = Vec::new();
    for uri in headers.flat_map(|line| line.split(',')).map(str::trim) {
        if !uri.is_empty() && !uris.iter().any(|known| known == uri) {
            uris.push(uri.to_owned());
        }
    }
    uris
}

/// The header's name in `version`, in lower case. 0.3 requests may use either name.
pub fn header_name(version: Version) -> &'static str {
    match version {
        Version::V0_3 => "x-a2a-extensions",
        Version::V1_0 => "a2a-extensions",
    }
}
