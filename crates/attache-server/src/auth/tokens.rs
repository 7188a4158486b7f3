//! The tokens that callers present, and what each stands for.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::header;
use http::request::Parts;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::Caller;
use crate::ServerOptions;

/// The subprotocol that a WebSocket of the live endpoint speaks.
pub(crate) const LIVE_PROTOCOL: &str = "attache.live";

/// A page cannot set headers of a WebSocket. It names a subprotocol instead: this, then the token in base64url.
const BEARER_PROTOCOL: &str = "attache.bearer.";

/// All tokens of the server. Only digests are kept, and comparing those takes the same time for every token.
#[derive(Default)]
pub(super) struct Tokens {
    known: Vec<([u8; 32], Caller)>,
    /// Of the clients that have tokens of their own.
    names: Vec<String>,
}

impl Tokens {
    pub(super) fn of(options: &ServerOptions) -> Self {
        let own = options.bearer_token.iter().map(|token| (digest(token), Caller::OPERATOR));
        let clients = options.clients.iter().enumerate();
        let clients = clients
            .map(|(place, client)| (digest(client.token.expose()), Caller::client(place, client.rights)));
        Self {
            known: own.chain(clients).collect(),
            names: options.clients.iter().map(|client| client.name.clone()).collect(),
        }
    }

    /// Only the server's own token, if any.
    #[cfg(any(test, feature = "fuzz"))]
    pub(super) fn own(token: Option<&str>) -> Self {
        let known = token.into_iter().map(|token| (digest(token), Caller::OPERATOR)).collect();
        Self { known, names: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn find(&self, token: &str) -> Option<Caller> {
        let presented = digest(token);
        let mut found = u32::MAX;
        for (place, (known, _)) in (0..).zip(&self.known) {
            let is_this: Choice = known.ct_eq(&presented);
            found.conditional_assign(&place, is_this);
        }
        self.known.get(usize::try_from(found).ok()?).map(|(_, caller)| *caller)
    }

    /// The name of a client that has a token of its own.
    pub(super) fn name(&self, caller: Caller) -> Option<&str> {
        self.names.get(caller.client?).map(String::as_str)
    }
}

/// The token of a request: as `Authorization: Bearer TOKEN`, or in the handshake of a WebSocket as a subprotocol.
pub(super) fn presented(head: &Parts) -> Option<String> {
    let headers = &head.headers;
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(value) = values.next() {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer") && values.next().is_none();
        return is_bearer.then(|| token.trim().to_owned());
    }
    if !headers.contains_key(header::SEC_WEBSOCKET_KEY) {
        return None;
    }
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let mut tokens = offered.filter_map(|protocol| protocol.trim().strip_prefix(BEARER_PROTOCOL));
    let (token, other) = (tokens.next()?, tokens.next());
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
    String::from_utf8(decoded).ok().filter(|_| other.is_none())
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri("/ws");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_token_is_read_where_it_may_stand_and_nowhere_else() {
        let (key, protocol) = ("sec-websocket-key", "sec-websocket-protocol");
        for (headers, expected) in [
            (&[][..], None),
            (&[("authorization", "Bearer a b")], Some("a b")),
            (&[("authorization", "bearer  secret ")], Some("secret")),
            (&[("authorization", "Basic secret")], None),
            (&[("authorization", "secret")], None),
            (&[("authorization", "Bearer")], None),
            (&[("authorization", "Bearer:secret")], None),
            (&[("authorization", "Bearer a"), ("authorization", "Bearer b")], None),
            (&[("cookie", "token=secret")], None),
            (&[("x-api-key", "secret")], None),
            (&[("proxy-authorization", "Bearer secret")], None),
            (&[(key, "k"), (protocol, "attache.live, attache.bearer.c2VjcmV0")], Some("secret")),
            (
                &[(key, "k"), (protocol, "attache.live"), (protocol, "attache.bearer.c2VjcmV0")],
                Some("secret"),
            ),
            // Not a handshake.
            (&[(protocol, "attache.bearer.c2VjcmV0")], None),
            (&[(key, "k"), (protocol, "attache.bearer.c2VjcmV0, attache.bearer.YQ")], None),
            (&[(key, "k"), (protocol, "attache.bearer.secret!")], None),
            (&[(key, "k"), (protocol, "attache.bearer.")], Some("")),
            (&[(key, "k"), (protocol, "Bearer secret")], None),
            // The header counts, even a wrong one.
            (&[("authorization", "Basic a"), (key, "k"), (protocol, "attache.bearer.c2VjcmV0")], None),
        ] {
            assert_eq!(presented(&head(headers)).as_deref(), expected, "{headers:?}");
        }
    }
}
