//! Arbitrary heads of requests.

use attache_net::Url;

use super::*;

const TOKEN: &str = "secret";

/// Whoever is let in calls a name of this machine or one that was named, from a page of such a place if from any, and
/// with the token.
pub(crate) fn caller(headers: &HeaderMap) {
    let gate = Gate {
        token: Some(digest(TOKEN)),
        hosts: vec!["agent.example".into()],
        origins: vec!["https://app.example".into()],
        any_host: false,
    };
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if gate.check_source(None, headers).is_ok() {
        let host = text(header::HOST).expect("a request names its host");
        assert!(is_ours(&format!("http://{host}"), "agent.example"), "{host:?}");
        if let Some(origin) = text(header::ORIGIN) {
            assert!(is_ours(origin, "app.example"), "{origin:?}");
        }
    }
    if gate.authenticate(headers).is_ok() {
        let value = text(header::AUTHORIZATION).unwrap_or_default();
        assert_eq!(value.split_once(' ').map(|(_, token)| token.trim()), Some(TOKEN), "{value:?}");
    }
}

/// As a browser reads it, which is who these checks are about. What it cannot read it does not send.
fn is_ours(url: &str, named: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return true };
    let host = url.host_str().unwrap_or_default();
    host == named || is_loopback(host)
}
