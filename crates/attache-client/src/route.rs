//! Which interface of an agent a request goes to.
//!
//! An interface that does not understand a request, or that is not there, is left for another one: first for the same
//! binding in the other version, then, until one interface has answered, for the other bindings of the card. Only refusals
//! that show that nothing was accepted count. Which interface answered is remembered.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use attache_domain::Binding;
use attache_net::NetError;

use crate::ClientError;
use crate::endpoint::Endpoint;
use crate::origin::Origin;

#[derive(Debug)]
pub(crate) struct Routes {
    /// The best one first; never empty.
    endpoints: Vec<Endpoint>,
    /// The place of the one that the next request goes to.
    current: AtomicUsize,
    /// The current one has answered.
    is_settled: AtomicBool,
    /// Why it is not the first one, unless that is about the version only.
    change: OnceLock<String>,
}

impl Routes {
    pub(crate) fn new(endpoints: Vec<Endpoint>) -> Self {
        Self {
            endpoints,
            current: AtomicUsize::new(0),
            is_settled: AtomicBool::new(false),
            change: OnceLock::new(),
        }
    }

    pub(crate) fn all(&self) -> &[Endpoint] {
        &self.endpoints
    }

    pub(crate) fn current(&self) -> &Endpoint {
        &self.endpoints[self.place()]
    }

    pub(crate) fn change(&self) -> Option<&str> {
        self.change.get().map(String::as_str)
    }

    /// The tries of one request.
    pub(crate) fn begin(&self) -> Route<'_> {
        let place = self.place();
        Route { routes: self, place, refusals: Vec::new() }
    }

    fn place(&self) -> usize {
        self.current.load(Ordering::Relaxed).min(self.endpoints.len() - 1)
    }
}

/// One request on its way to an interface that takes it.
pub(crate) struct Route<'a> {
    routes: &'a Routes,
    place: usize,
    /// The places that refused it, and what they said.
    refusals: Vec<(usize, ClientError)>,
}

impl Route<'_> {
    /// Where to send the request now.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.routes.endpoints[self.place]
    }

    /// Takes the result of a try: the end of the request, or another place to try.
    pub(crate) fn tried<T>(&mut self, result: Result<T, ClientError>) -> ControlFlow<Result<T, ClientError>> {
        let refused = match result {
            Err(error) if self.may_go_on_after(&error) => error,
            result => return ControlFlow::Break(self.end(result)),
        };
        tracing::debug!(error = %refused, endpoint = self.endpoint().name(), "an interface refuses a request");
        let is_about_version = is_about_version(&refused, self.endpoint());
        self.refusals.push((self.place, refused));
        match self.next_place(is_about_version) {
            Some(next) => {
                self.place = next;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(Err(self.first_refusal())),
        }
    }

    /// Nothing was accepted, and another interface may be tried.
    fn may_go_on_after(&self, error: &ClientError) -> bool {
        let endpoint = self.endpoint();
        is_about_version(error, endpoint)
            || (!self.routes.is_settled.load(Ordering::Relaxed) && is_absent(error, endpoint))
            // This version has no such request, and it was sent to another one before.
            || (!self.refusals.is_empty() && matches!(error, ClientError::Unsupported(_)))
    }

    fn next_place(&self, is_about_version: bool) -> Option<usize> {
        let endpoints = &self.routes.endpoints;
        let is_open = |place: &usize| self.refusals.iter().all(|(tried, _)| tried != place);
        let is_other_version = |place: &usize| {
            let (one, other) = (endpoints[self.place].protocol, endpoints[*place].protocol);
            one.binding() == other.binding() && one.version() != other.version()
        };
        let same_binding = (0..endpoints.len()).filter(is_other_version).filter(is_open);
        let nearest = same_binding.min_by_key(|place| place.abs_diff(self.place));
        match (nearest.filter(|_| is_about_version), self.routes.is_settled.load(Ordering::Relaxed)) {
            (Some(place), _) => Some(place),
            (None, true) => None,
            (None, false) => (0..endpoints.len()).filter(is_open).find(|place| !self.is_hopeless(*place)),
        }
    }

    /// It would be refused for the same reason as another place before.
    fn is_hopeless(&self, place: usize) -> bool {
        let candidate = &self.routes.endpoints[place];
        self.refusals.iter().any(|(refused, error)| {
            let refused = &self.routes.endpoints[*refused];
            match error {
                ClientError::Net(NetError::Connect { .. }) => {
                    Origin::of(&refused.url).is_same(&Origin::of(&candidate.url))
                }
                ClientError::Net(_) => {
                    candidate.protocol.binding() == Binding::Grpc && refused.url == candidate.url
                }
                ClientError::Status { .. } => {
                    candidate.protocol.binding() == Binding::JsonRpc
                        && refused.protocol.binding() == Binding::JsonRpc
                        && refused.url == candidate.url
                }
                _ => false,
            }
        })
    }

    fn end<T>(&mut self, result: Result<T, ClientError>) -> Result<T, ClientError> {
        let has_answered = match &result {
            Ok(_) => true,
            Err(error @ ClientError::Refused(_)) => !error.is_transient(),
            Err(error) => error.is_refused_credential(),
        };
        match result {
            // It says no more about the request than the first place did, and accepted nothing either.
            Err(error @ ClientError::Status { status: 300..=499, .. })
                if !has_answered && !error.is_transient() && !self.refusals.is_empty() =>
            {
                Err(self.first_refusal())
            }
            result => {
                if has_answered {
                    self.remember();
                }
                result
            }
        }
    }

    fn remember(&self) {
        let Routes { endpoints, current, is_settled, change } = self.routes;
        current.store(self.place, Ordering::Relaxed);
        if is_settled.swap(true, Ordering::Relaxed) {
            return;
        }
        let (refused, used) = (&endpoints[0], self.endpoint());
        let is_other = (refused.protocol.binding(), &refused.url) != (used.protocol.binding(), &used.url);
        if let Some((_, error)) = self.refusals.first().filter(|_| is_other) {
            let text = format!("{} cannot be used ({error}), so {} is used", refused.name(), used.name());
            // Another request may have said it at the same moment.
            let _ = change.set(text);
        }
    }

    fn first_refusal(&mut self) -> ClientError {
        self.refusals.swap_remove(0).1
    }
}

/// The interface does not know this version's requests.
fn is_about_version(error: &ClientError, endpoint: &Endpoint) -> bool {
    match error {
        ClientError::Refused(refused) => {
            matches!(refused.reason.as_deref(), Some("VERSION_NOT_SUPPORTED" | "METHOD_NOT_FOUND"))
        }
        ClientError::Status { status, .. } => {
            endpoint.protocol.binding() == Binding::HttpJson && matches!(status, 404 | 405)
        }
        _ => false,
    }
}

/// Nothing that takes A2A answers at the interface.
fn is_absent(error: &ClientError, endpoint: &Endpoint) -> bool {
    match error {
        ClientError::Net(NetError::Connect { .. } | NetError::NoHttp2 { .. }) => true,
        ClientError::Status { status: 404 | 405 | 501, .. } => true,
        ClientError::Status { status: 415, .. } => endpoint.protocol.binding() == Binding::Grpc,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use attache_net::Url;
    use attache_wire::Version;
    use attache_wire::client::Protocol;

    use super::*;
    use crate::RemoteError;

    /// Over gRPC and JSON-RPC, both in 1.0.
    fn routes() -> Routes {
        let endpoint = |binding| Endpoint {
            protocol: Protocol::new(Version::V1_0, binding),
            url: Url::parse("http://127.0.0.1:1/").unwrap(),
            tenant: None,
            sends_credential: false,
        };
        Routes::new(vec![endpoint(Binding::Grpc), endpoint(Binding::JsonRpc)])
    }

    /// The binding that the next request goes to after `code` of gRPC and a success.
    fn next_after(routes: &Routes, code: &str) -> Binding {
        let mut route = routes.begin();
        let status = route.endpoint().protocol.decode_grpc_status(code, "no", "");
        if route.tried::<()>(Err(status.into())).is_continue() {
            assert!(route.tried(Ok(())).is_break());
        }
        routes.current().protocol.binding()
    }

    #[test]
    fn grpc_is_left_when_it_is_not_implemented_and_kept_when_it_is_busy_or_has_answered() {
        assert_eq!(next_after(&routes(), "12"), Binding::JsonRpc);
        for code in ["14", "4", "13", "3", "16"] {
            let routes = routes();
            assert_eq!(next_after(&routes, code), Binding::Grpc, "{code}");
            let is_settled = matches!(code, "13" | "3" | "16");
            let then = if is_settled { Binding::Grpc } else { Binding::JsonRpc };
            assert_eq!(next_after(&routes, "12"), then, "{code}");
        }
    }

    #[test]
    fn what_is_missing_is_told_by_the_interface_that_is_preferred() {
        let routes = routes();
        let mut route = routes.begin();
        let refusal = |message: &str| {
            let reason = Some("METHOD_NOT_FOUND".to_owned());
            ClientError::Refused(RemoteError { code: -32601, reason, message: message.into() })
        };
        assert!(route.tried::<()>(Err(refusal("the first"))).is_continue());
        let ControlFlow::Break(Err(error)) = route.tried::<()>(Err(refusal("the second"))) else {
            panic!("there is no third");
        };
        assert_eq!(error.to_string(), "the first");
        assert!(routes.change().is_none() && routes.current() == &routes.all()[0]);
    }
}
