//! Where requests go.

use attache_domain::Operation;
use attache_net::{BaseUrl, HttpRequest, Url};
use attache_wire::client::{Protocol, RemoteInterface, Verb};

use crate::ClientError;

/// Where an agent listens, and which protocol it speaks there.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) protocol: Protocol,
    url: Url,
    tenant: Option<String>,
}

impl Endpoint {
    /// Takes the path from the card and the host from `base`: a card that points elsewhere, by malice or because
    /// the agent does not know its own address, takes neither the caller nor the token there.
    pub(crate) fn new(
        base: &BaseUrl,
        interface: &RemoteInterface,
        protocol: Protocol,
    ) -> Result<Self, ClientError> {
        let claimed = Url::parse(&interface.url)
            .map_err(|_| ClientError::Malformed { what: "the interface in its card has no URL".into() })?;
        let mut url = base.join("", None)?;
        url.set_path(claimed.path());
        Ok(Self { protocol, url, tenant: interface.tenant.clone() })
    }

    pub(crate) fn request(&self, operation: &Operation) -> Result<HttpRequest, ClientError> {
        let encoded = self.protocol.encode(self.tenant.as_deref(), operation)?;
        let mut url = self.url.clone();
        if !encoded.path.is_empty() {
            url.set_path(&format!("{}/{}", self.url.path().trim_end_matches('/'), encoded.path));
        }
        url.set_query(Some(encoded.query.as_str()).filter(|query| !query.is_empty()));
        Ok(match encoded.verb {
            Verb::Get => HttpRequest::get(url),
            Verb::Post => HttpRequest::post_json(url, encoded.body.unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::{Binding, CancelTask, GetTask, TaskId};
    use attache_wire::Version;

    use super::*;

    #[track_caller]
    fn check(binding: Binding, operation: &Operation, expected: &str) {
        let protocol = Protocol::new(Version::V1_0, binding).unwrap();
        let url = Url::parse("http://127.0.0.1/a/").unwrap();
        let endpoint = Endpoint { protocol, url, tenant: None };
        let shown = format!("{:?}", endpoint.request(operation).unwrap());
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn requests_stay_below_the_address() {
        let get =
            |id: &str| Operation::Get(GetTask { task: TaskId::from(id), history_length: None, at: None });
        check(Binding::JsonRpc, &get("t-1"), "POST http://127.0.0.1/a/ ");
        check(Binding::HttpJson, &get("t-1"), "GET http://127.0.0.1/a/tasks/t-1 ");
        check(Binding::HttpJson, &get("../x?y#z"), "GET http://127.0.0.1/a/tasks/%2E%2E%2Fx%3Fy%23z ");
        let cancel = Operation::Cancel(CancelTask { task: TaskId::from("t:1"), metadata: None });
        check(Binding::HttpJson, &cancel, "POST http://127.0.0.1/a/tasks/t%3A1:cancel ");
    }
}
