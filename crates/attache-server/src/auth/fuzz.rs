//! Arbitrary heads of requests.

use attache_net::Url;

use super::*;
use crate::connection_origin::ConnectionOrigin;

const TOKEN: &str = "secret";

/// An admitted request has a loopback or configured host, an allowed origin if any, and the token.
pub(crate) fn caller(headers: &HeaderMap) {
    let gate = RequestGuard {
        tokens: Tokens::own(Some(TOKEN)),
        local_user: None,
        hosts: vec!["agent.example".into()],
        origins: vec!["https://app.example".into()],
        any_host: false,
    };
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let mut head = http::Request::new(()).into_parts().0;
    head.headers = headers.clone();
    if gate.check_source(&head).is_ok() {
        let host = text(header::HOST).expect("a request names its host");
        assert!(is_ours(&format!("http://{host}"), "agent.example"), "{host:?}");
        assert_eq!(headers.get_all(header::HOST).iter().count(), 1, "one host");
        if let Some(origin) = text(header::ORIGIN) {
            assert!(is_app(origin) || is_served_by(origin, host), "{origin:?} for {host:?}");
        }
    }
    let peer = Peer { is_loopback: true, is_local_user: true, origin: ConnectionOrigin::LOOPBACK };
    if gate.authenticate(peer, &head).is_ok() && headers.contains_key(header::AUTHORIZATION) {
        let value = text(header::AUTHORIZATION).unwrap_or_default();
        assert_eq!(value.split_once(' ').map(|(_, token)| token.trim()), Some(TOKEN), "{value:?}");
    }
}

fn is_app(origin: &str) -> bool {
    Url::parse(origin).is_ok_and(|url| url.host_str() == Some("app.example"))
}

/// Whether the page and the request name the same host.
fn is_served_by(origin: &str, host: &str) -> bool {
    let Ok(page) = Url::parse(origin) else { return true };
    let Ok(called) = Url::parse(&format!("{}://{host}", page.scheme())) else { return true };
    page.origin() == called.origin()
}

/// Parses as a browser does, because these checks are about browsers.
fn is_ours(url: &str, named: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return true };
    let host = url.host_str().unwrap_or_default();
    host == named || is_loopback(host)
}
