//! Arbitrary texts as the address of a webhook and as what it answers.

use std::time::Duration;

use attache_net::NetError;
use jiff::Timestamp;

use super::{address, response};

/// An accepted address can be posted to, and secrets are sent only where they are safe.
pub(crate) fn webhook(text: &str) {
    let (place, pause) = text.split_once('\n').unwrap_or((text, text));
    match address::read(place) {
        Ok(url) => {
            assert!(matches!(url.scheme(), "http" | "https") && url.has_host(), "{url}");
            assert!(url.username().is_empty() && url.password().is_none(), "{url}");
            let host = url.host_str().unwrap_or_default();
            if url.scheme() == "http" && address::may_receive_secrets(&url) {
                assert!(host == "localhost" || host.starts_with("127.") || host == "[::1]", "{url}");
            }
            let refused =
                address::refused(&url, &NetError::Address { what: "10.1.2.3 is not public".into() });
            // The resolved address of a name is not disclosed.
            assert!(
                !refused.contains("10.1.2.3")
                    || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
            );
        }
        Err(why) => assert!(why.len() <= 200, "{why}"),
    }
    if let Some(pause) = response::parse_retry_after(pause, Timestamp::UNIX_EPOCH) {
        assert!(pause >= Duration::ZERO);
    }
}
