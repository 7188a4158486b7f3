//! Which version a request asks for, and whether its method or path belongs to that version.
//!
//! The method or path selects the JSON form. A version header that contradicts it is refused.

use attache_domain::Fault;

use crate::{Version, percent};

/// Name of the header, and of the query parameter that may replace it.
pub const HEADER_NAME: &str = "A2A-Version";

/// The version asked for by the header, or else by the `A2A-Version` parameter of the query string.
///
/// `None` when neither is present. Ignores a patch number.
pub fn parse_requested(header: Option<&str>, query: Option<&str>) -> Result<Option<Version>, Fault> {
    if let Some(header) = header.map(str::trim).filter(|header| !header.is_empty()) {
        return parse(header).map(Some);
    }
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(None) };
    let asked = percent::query_pairs(query).find(|(name, _)| name.eq_ignore_ascii_case(HEADER_NAME));
    // A value that is not text is refused as an unknown version rather than ignored.
    match asked.as_ref().map(|(_, value)| value.as_deref().unwrap_or("unreadable").trim()) {
        None | Some("") => Ok(None),
        Some(value) => parse(value).map(Some),
    }
}

/// Does a JSON-RPC method that belongs to `used` fit the version asked for?
///
/// Without a version, a 1.0 method is taken as 1.0 unless `strict`: then the absent version means 0.3,
/// which has no such method.
pub fn check_rpc(method: &str, used: Version, requested: Option<Version>, strict: bool) -> Result<(), Fault> {
    if is_compatible(used, requested, strict) {
        return Ok(());
    }
    Err(Fault::MethodNotFound { method: method.to_owned() })
}

/// Does a path that belongs to `used` fit the version asked for? The fault names what `path` speaks.
pub fn check_rest(path: &str, used: Version, requested: Option<Version>, strict: bool) -> Result<(), Fault> {
    if is_compatible(used, requested, strict) {
        return Ok(());
    }
    let requested = requested.map_or("0.3 (the version when none is named)", Version::as_str);
    Err(Fault::VersionNotSupported {
        requested: format!("{requested} on {path}"),
        supported: vec![used.as_str().to_owned()],
    })
}

fn is_compatible(used: Version, requested: Option<Version>, strict: bool) -> bool {
    match requested {
        Some(requested) => requested == used,
        None => used == Version::V0_3 || !strict,
    }
}

fn parse(text: &str) -> Result<Version, Fault> {
    parse_version(text).ok_or_else(|| Fault::VersionNotSupported {
        requested: text.chars().take(32).collect(),
        supported: Version::ALL.map(|version| version.as_str().to_owned()).to_vec(),
    })
}

/// Ignores a patch number.
pub(crate) fn parse_version(text: &str) -> Option<Version> {
    Version::ALL.into_iter().find(|version| is_version_name(text, *version))
}

fn is_version_name(text: &str, version: Version) -> bool {
    let Some(rest) = text.strip_prefix(version.as_str()) else { return false };
    let is_number = |patch: &str| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
    rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number)
}
