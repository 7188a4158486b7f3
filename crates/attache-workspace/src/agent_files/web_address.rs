//! Addresses that an agent file names.

use attache_net::Url;

/// A whole address on the web. The error says what it must be, and never shows it: it may hold a password.
pub(super) fn parse(text: &str) -> Result<Url, &'static str> {
    if !["https://", "http://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err("must be a whole address that begins with https:// or http://");
    }
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control();
    let url = Url::parse(text).ok().filter(|url| url.has_host() && !text.contains(is_blank));
    let Some(url) = url else {
        return Err("must be an address such as https://agent.example/card; this is none");
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a user name or a password; a credential goes into the auth block");
    }
    Ok(url)
}

/// The scheme, host and port of an address without anything else.
pub(super) fn parse_origin(text: &str) -> Option<String> {
    let url = parse(text).ok()?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    is_bare.then(|| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_whole_and_holds_no_password() {
        parse("https://agent.example/card?x=1").unwrap();
        parse("http://[::1]:8080").unwrap();
        for (text, part) in [
            ("agent.example", "whole address"),
            ("https://", "this is none"),
            ("https://[bad/", "this is none"),
            ("https://a.example/b c", "this is none"),
            ("https://me:s3cret@a.example", "must not hold a user name or a password"),
            ("https://me@a.example", "must not hold"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part) && !error.contains("s3cret"), "{text}: {error}");
        }
    }

    #[test]
    fn an_origin_has_no_path() {
        assert_eq!(parse_origin("https://A.example:443/").as_deref(), Some("https://a.example"));
        assert_eq!(parse_origin("http://127.0.0.1:8443").as_deref(), Some("http://127.0.0.1:8443"));
        for wrong in ["https://a.example/x", "https://a.example?x", "a.example", "*", "https://*/x"] {
            assert_eq!(parse_origin(wrong), None, "{wrong}");
        }
    }
}
