//! The media types that the agent accepts and sends.

use attache_domain::{Fault, Part, PartContent};

/// Refuses the first part whose media type is not among `accepted`.
pub(crate) fn check_input(parts: &[Part], accepted: &[String]) -> Result<(), Fault> {
    for (index, part) in parts.iter().enumerate() {
        let named = part.media_type.as_deref();
        let Some(found) = named.or_else(|| implied(&part.content)) else { continue };
        if !accepted.iter().any(|pattern| matches(pattern, found)) {
            let accepted = accepted.join(", ");
            let what = format!("part {index} is {found}; this agent takes {accepted}");
            return Err(Fault::ContentTypeNotSupported { what });
        }
    }
    Ok(())
}

/// Refuses when the agent can produce nothing of what the caller accepts.
pub(crate) fn check_output(accepted: &[String], produced: &[String]) -> Result<(), Fault> {
    let fits = |accepted: &String| produced.iter().any(|produced| matches(accepted, produced));
    if accepted.is_empty() || accepted.iter().any(fits) {
        return Ok(());
    }
    let what = format!("this agent produces {}, not {}", produced.join(", "), accepted.join(", "));
    Err(Fault::ContentTypeNotSupported { what })
}

/// The caller names diffs among what it accepts; a pattern such as `text/*` is not enough.
pub(crate) fn names_diffs(accepted: &[String]) -> bool {
    let name = |mode: &String| mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    accepted.iter().any(|mode| name(mode) == "text/x-diff")
}

/// What a part is when it does not say. A file that does not say may be anything.
fn implied(content: &PartContent) -> Option<&'static str> {
    match content {
        PartContent::Text(_) => Some("text/plain"),
        PartContent::Data(_) => Some("application/json"),
        PartContent::Raw(_) | PartContent::Url(_) => None,
    }
}

/// `*/*`, `*`, `image/*`, `application/*+json` and exact names; parameters such as a charset do not matter.
fn matches(pattern: &str, media_type: &str) -> bool {
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    let pattern = pattern.split(';').next().unwrap_or_default().trim();
    if pattern == "*" || pattern == "*/*" || pattern == "text" && media_type == "text/plain" {
        return true;
    }
    let (pattern, media_type) = (pattern.to_ascii_lowercase(), media_type.to_ascii_lowercase());
    match pattern.split_once('*') {
        Some((start, end)) => {
            media_type.strip_prefix(start).is_some_and(|rest| rest.len() > end.len() && rest.ends_with(end))
        }
        None => pattern == media_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_match_by_name_family_and_wildcard() {
        for (pattern, media_type, expected) in [
            ("text/plain", "text/plain", true),
            ("text/plain", "text/plain; charset=utf-8", true),
            ("TEXT/plain", "text/PLAIN", true),
            ("text", "text/plain", true),
            ("image/*", "image/png", true),
            ("image/*", "imagery/png", false),
            ("*/*", "anything/here", true),
            ("application/json", "text/plain", false),
            ("application/*+json", "application/vnd.ag2.history+json", true),
            ("application/*+json", "Application/LD+JSON; profile=x", true),
            ("application/*+json", "application/json", false),
            ("application/*+json", "application/+json", false),
            ("application/*+json", "image/svg+json", false),
            ("text/*", "text/x-python", true),
        ] {
            assert_eq!(matches(pattern, media_type), expected, "{pattern} {media_type}");
        }
    }

    #[test]
    fn b6_a_part_outside_the_input_modes_is_refused_by_name() {
        let mut part = Part::text("x");
        part.media_type = Some("video/mp4".into());
        let fault = check_input(&[Part::text("a"), part], &["text/plain".into()]).unwrap_err();
        assert_eq!(fault.to_string(), "part 1 is video/mp4; this agent takes text/plain");
    }

    #[test]
    fn b5_nothing_acceptable_is_refused() {
        assert!(check_output(&["image/png".into()], &["text/plain".into()]).is_err());
        assert!(check_output(&["text/*".into()], &["text/plain".into()]).is_ok());
        assert!(check_output(&[], &["text/plain".into()]).is_ok());
    }
}
