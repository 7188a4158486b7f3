//! Tasks and events for tests, decoded from JSON of A2A 1.0.

use attache_client::{RemoteTask, StreamEvent};
use attache_domain::Binding;
use attache_wire::Version;
use attache_wire::client::Protocol;
use serde_json::Value;

fn protocol() -> Protocol {
    Protocol::new(Version::V1_0, Binding::HttpJson)
}

pub(crate) fn decode_task(json: &Value) -> RemoteTask {
    protocol().decode_task(200, json.to_string().as_bytes()).unwrap()
}

pub(crate) fn decode_event(json: &Value) -> StreamEvent {
    protocol().decode_event(200, json.to_string().as_bytes()).unwrap()
}
