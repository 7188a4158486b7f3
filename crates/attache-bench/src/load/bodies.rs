//! Prepared requests: head and JSON-RPC body in one buffer, with the position of the part that differs.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use serde_json::json;

/// Digits of the request number in a messageId, so that all requests of a run have the same length.
const NUMBER_DIGITS: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProtocolVersion {
    #[value(name = "1.0")]
    V1,
    #[value(name = "0.3")]
    V03,
}

/// The kind of answer that a send waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendPurpose {
    /// Answer when the task settles.
    Blocking,
    /// Answer as soon as the task exists.
    Detached,
    Streaming,
}

/// A POST of a message whose messageId is new each time.
#[derive(Clone)]
pub(super) struct MessageRequest {
    bytes: Vec<u8>,
    number_at: usize,
}

impl MessageRequest {
    /// `task`: the task that the message continues, if any. `path` is `/` for A2A.
    pub(super) fn new(
        address: SocketAddr,
        path: &str,
        version: ProtocolVersion,
        sending: SendPurpose,
        text: &str,
        task: Option<&str>,
    ) -> Self {
        let method = match (version, sending) {
            (ProtocolVersion::V1, SendPurpose::Streaming) => "SendStreamingMessage",
            (ProtocolVersion::V1, _) => "SendMessage",
            (ProtocolVersion::V03, SendPurpose::Streaming) => "message/stream",
            (ProtocolVersion::V03, _) => "message/send",
        };
        let message_id = message_id();
        let mut message = match version {
            ProtocolVersion::V1 => {
                json!({ "messageId": message_id, "role": "ROLE_USER", "parts": [{ "text": text }] })
            }
            ProtocolVersion::V03 => json!({
                "kind": "message",
                "messageId": message_id,
                "role": "user",
                "parts": [{ "kind": "text", "text": text }],
            }),
        };
        if let Some(task) = task {
            message["taskId"] = json!(task);
        }
        let mut params = json!({ "message": message });
        if sending == SendPurpose::Detached {
            params["configuration"] = match version {
                ProtocolVersion::V1 => json!({ "returnImmediately": true }),
                ProtocolVersion::V03 => json!({ "blocking": false }),
            };
        }
        Self::over(post(address, path, version, method, params))
    }

    /// A request that holds an id of [`message_id`].
    pub(super) fn over(bytes: Vec<u8>) -> Self {
        let number_at = memchr::memmem::find(&bytes, "0".repeat(NUMBER_DIGITS).as_bytes()).unwrap_or(0);
        Self { bytes, number_at }
    }

    /// The request with `number` in its messageId.
    pub(super) fn numbered(&mut self, mut number: u64) -> &[u8] {
        for digit in self.bytes[self.number_at..self.number_at + NUMBER_DIGITS].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
        &self.bytes
    }
}

/// A messageId with room for a number, unlike those of any other run.
pub(super) fn message_id() -> String {
    format!("bench-{}-{}", run_id(), "0".repeat(NUMBER_DIGITS))
}

/// Reads one task.
pub(super) fn get_task(address: SocketAddr, version: ProtocolVersion, task: &str) -> Vec<u8> {
    let method = match version {
        ProtocolVersion::V1 => "GetTask",
        ProtocolVersion::V03 => "tasks/get",
    };
    post(address, "/", version, method, json!({ "id": task }))
}

/// Asks for one task without its history; in 1.0.
pub(super) fn poll_task(address: SocketAddr, task: &str) -> Vec<u8> {
    post(address, "/", ProtocolVersion::V1, "GetTask", json!({ "id": task, "historyLength": 0 }))
}

/// Asks for the first page of tasks; only 1.0 has this.
pub(super) fn list_tasks(address: SocketAddr, page_size: usize) -> Vec<u8> {
    post(address, "/", ProtocolVersion::V1, "ListTasks", json!({ "pageSize": page_size }))
}

/// Subscribes to a task.
pub(super) fn subscribe(address: SocketAddr, version: ProtocolVersion, task: &str) -> Vec<u8> {
    let method = match version {
        ProtocolVersion::V1 => "SubscribeToTask",
        ProtocolVersion::V03 => "tasks/resubscribe",
    };
    post(address, "/", version, method, json!({ "id": task }))
}

/// A plain GET, for the bare server's stream.
pub(super) fn plain_get(address: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n").into_bytes()
}

fn post(
    address: SocketAddr,
    path: &str,
    version: ProtocolVersion,
    method: &str,
    params: serde_json::Value,
) -> Vec<u8> {
    let version_header = match version {
        ProtocolVersion::V1 => "A2A-Version: 1.0\r\n",
        ProtocolVersion::V03 => "",
    };
    post_with(address, path, version_header, method, params)
}

/// `headers`: further ones, each with its line end.
pub(super) fn post_with(
    address: SocketAddr,
    path: &str,
    headers: &str,
    method: &str,
    params: serde_json::Value,
) -> Vec<u8> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Differs between processes, so that a store that outlives one does not take a message for a repeat.
fn run_id() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    format!("{nanos:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(version: ProtocolVersion, sending: SendPurpose) -> (MessageRequest, SocketAddr) {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        (MessageRequest::new(address, "/", version, sending, "hi", None), address)
    }

    #[test]
    fn numbers_change_the_message_id_and_not_the_length() {
        let (mut request, _) = example(ProtocolVersion::V1, SendPurpose::Blocking);
        let first = request.numbered(7).to_vec();
        let second = request.numbered(123_456).to_vec();
        assert_ne!(first, second);
        assert_eq!(first.len(), second.len());
        let text = String::from_utf8(second).unwrap();
        assert!(text.contains("-000000123456\""), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["method"], "SendMessage");
    }

    #[test]
    fn each_version_says_detached_in_its_own_way() {
        for (version, expected) in [
            (ProtocolVersion::V1, "\"returnImmediately\":true"),
            (ProtocolVersion::V03, "\"blocking\":false"),
        ] {
            let (mut request, _) = example(version, SendPurpose::Detached);
            let text = String::from_utf8(request.numbered(1).to_vec()).unwrap();
            assert!(text.contains(expected), "{text}");
        }
    }
}
