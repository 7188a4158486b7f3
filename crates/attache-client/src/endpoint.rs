//! Where requests go.

use attache_domain::{Binding, Operation, TaskId};
use attache_net::{HttpRequest, Url};
use attache_wire::client::{EncodedRequest, Protocol, Verb};

use crate::{ClientError, grpc};

/// Where an agent listens, and which protocol it speaks there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) protocol: Protocol,
    pub(crate) url: Url,
    pub(crate) tenant: Option<String>,
    /// The caller named this origin, so the credential may go there.
    pub(crate) sends_credential: bool,
}

impl Endpoint {
    /// For people, such as `HTTP+JSON 1.0 at https://agent.example/a2a`.
    pub(crate) fn name(&self) -> String {
        format!("{} at {}", self.protocol.name(), without_query(&self.url))
    }

    pub(crate) fn request(&self, operation: &Operation) -> Result<HttpRequest, ClientError> {
        self.request_for(self.protocol.encode(self.tenant.as_deref(), operation)?)
    }

    /// A subscription with GET, for agents that refuse POST; `None` where the binding has no such choice.
    pub(crate) fn get_subscription(&self, task: &TaskId) -> Result<Option<HttpRequest>, ClientError> {
        let encoded = self.protocol.encode_get_subscription(self.tenant.as_deref(), task);
        encoded.map(|encoded| self.request_for(encoded)).transpose()
    }

    pub(crate) fn request_for(&self, encoded: EncodedRequest) -> Result<HttpRequest, ClientError> {
        let mut url = self.url.clone();
        let body = encoded.body.unwrap_or_default();
        if self.protocol.binding() == Binding::Grpc {
            url.set_path(&encoded.path);
            url.set_query(None);
            return Ok(HttpRequest::grpc(url, grpc::frame(&body)?));
        }
        if !encoded.path.is_empty() {
            url.set_path(&format!("{}/{}", self.url.path().trim_end_matches('/'), encoded.path));
        }
        if !encoded.query.is_empty() {
            let query = [self.url.query().unwrap_or_default(), &encoded.query];
            url.set_query(Some(query.join("&").trim_start_matches('&')));
        }
        Ok(match encoded.verb {
            Verb::Get => HttpRequest::get(url),
            Verb::Post => HttpRequest::post_json(url, body),
            Verb::Delete => HttpRequest::delete(url),
        })
    }
}

/// A query may hold a secret.
fn without_query(url: &Url) -> Url {
    let mut shown = url.clone();
    shown.set_query(None);
    shown
}

#[cfg(test)]
mod tests {
    use attache_domain::{CancelTask, GetTask};
    use attache_wire::Version;

    use super::*;

    #[track_caller]
    fn check(binding: Binding, operation: &Operation, expected: &str) {
        let protocol = Protocol::new(Version::V1_0, binding);
        let url = Url::parse("http://127.0.0.1/a/").unwrap();
        let endpoint = Endpoint { protocol, url, tenant: None, sends_credential: false };
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
        check(Binding::Grpc, &get("../x"), "POST http://127.0.0.1/lf.a2a.v1.A2AService/GetTask ");
        let cancel = Operation::Cancel(CancelTask { task: TaskId::from("t:1"), metadata: None });
        check(Binding::HttpJson, &cancel, "POST http://127.0.0.1/a/tasks/t%3A1:cancel ");
    }
}
