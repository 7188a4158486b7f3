//! The header by which extensions are asked for and confirmed.

use crate::Version;

/// Idempotent sends: for whoever activates this, a message's id alone tells whether it came before.
pub const IDEMPOTENT_SEND: &str = "urn:attache:extension:idempotent-send:v1";

/// The extension URIs asked for, in order and once each. Every item is the value of one header line;
/// a line may hold several, separated by commas.
pub fn requested<'a>(headers: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut uris: Vec<String> = Vec::new();
    for uri in headers.flat_map(|line| line.split(',')).map(str::trim) {
        if !uri.is_empty() && !uris.iter().any(|known| known == uri) {
            uris.push(uri.to_owned());
        }
    }
    uris
}

/// The name, in lower case, under which `version` lists extensions. 0.3 requests may use either name.
pub fn header_name(version: Version) -> &'static str {
    match version {
        Version::V0_3 => "x-a2a-extensions",
        Version::V1_0 => "a2a-extensions",
    }
}
