//! The two ways to say the same: JSON-RPC, and HTTP+JSON.

use attache_net::{HttpRequest, NetError, Url};
use serde_json::{Map, Value, json};

use crate::ClientError;
use crate::request::{Call, Method};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    HttpJson,
}

/// Where an agent listens, and how it is spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) binding: Binding,
    pub(crate) url: Url,
    pub(crate) tenant: Option<String>,
}

impl Endpoint {
    pub(crate) fn request(&self, call: Call) -> Result<HttpRequest, NetError> {
        match self.binding {
            Binding::JsonRpc => Ok(self.rpc(call)),
            Binding::HttpJson => Ok(self.rest(call)),
        }
    }

    /// Takes the envelope off an answer, or tells what it says went wrong.
    pub(crate) fn open(&self, status: u16, mut body: Value) -> Result<Value, ClientError> {
        if let Some(error) = body.get("error").filter(|error| error.is_object()) {
            return Err(ClientError::of(status, error));
        }
        if status == 401 {
            return Err(ClientError::of(status, &Value::Null));
        }
        if !(200..300).contains(&status) {
            return Err(ClientError::Status { status, text: String::new() });
        }
        match self.binding {
            Binding::HttpJson => Ok(body),
            Binding::JsonRpc => match body.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(ClientError::Malformed { what: "neither result nor error".into() }),
            },
        }
    }

    fn rpc(&self, call: Call) -> HttpRequest {
        let method = match call.method {
            Method::Send => "SendMessage",
            Method::Stream => "SendStreamingMessage",
            Method::Get => "GetTask",
            Method::List => "ListTasks",
            Method::Cancel => "CancelTask",
            Method::Subscribe => "SubscribeToTask",
        };
        let mut params = call.params;
        if let Some(tenant) = &self.tenant {
            params.insert("tenant".into(), tenant.as_str().into());
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        HttpRequest::post_json(self.url.clone(), body.to_string())
    }

    fn rest(&self, call: Call) -> HttpRequest {
        let Call { method, mut params } = call;
        let id = params.remove("id").and_then(|id| id.as_str().map(escape)).unwrap_or_default();
        let path = match method {
            Method::Send => "message:send".to_owned(),
            Method::Stream => "message:stream".to_owned(),
            Method::List => "tasks".to_owned(),
            Method::Get => format!("tasks/{id}"),
            Method::Cancel => format!("tasks/{id}:cancel"),
            Method::Subscribe => format!("tasks/{id}:subscribe"),
        };
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        let tenant = self.tenant.as_deref().map(|tenant| format!("/{}", escape(tenant))).unwrap_or_default();
        url.set_path(&format!("{base}{tenant}/{path}"));
        if matches!(method, Method::Get | Method::List) {
            let query = query(&params);
            url.set_query((!query.is_empty()).then_some(query.as_str()));
            return HttpRequest::get(url);
        }
        HttpRequest::post_json(url, Value::Object(params).to_string())
    }
}

fn query(params: &Map<String, Value>) -> String {
    let pairs = params.iter().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{}={}", escape(name), escape(&text))
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Percent-encodes all but what is plain everywhere. Dots too: `..` would be a step up.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => escaped.push(char::from(byte)),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ListTasks, TaskState};

    #[track_caller]
    fn check(binding: Binding, call: Call, expected: &str) {
        let endpoint = Endpoint { binding, url: Url::parse("http://127.0.0.1/a/").unwrap(), tenant: None };
        let shown = format!("{:?}", endpoint.request(call).unwrap());
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn calls_go_to_their_paths_and_stay_below_the_address() {
        let get = |id: &str| Call::about(Method::Get, id, None);
        check(Binding::JsonRpc, get("t-1"), "POST http://127.0.0.1/a/ ");
        check(Binding::HttpJson, get("t-1"), "GET http://127.0.0.1/a/tasks/t-1 ");
        check(Binding::HttpJson, get("../x?y#z"), "GET http://127.0.0.1/a/tasks/%2E%2E%2Fx%3Fy%23z ");
        let cancel = Call::about(Method::Cancel, "t:1", None);
        check(Binding::HttpJson, cancel, "POST http://127.0.0.1/a/tasks/t%3A1:cancel ");
    }

    #[test]
    fn a_listing_says_its_filters_in_the_query() {
        let list = ListTasks { state: Some(TaskState::Working), page_size: Some(3), ..ListTasks::default() };
        let call = Call::list(&list);
        assert_eq!(query(&call.params), "pageSize=3&status=TASK_STATE_WORKING");
    }
}
