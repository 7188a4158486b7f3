//! Credentials from scripted servers on this machine. Nothing here asks a server elsewhere.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod google;
mod google_federation;
mod google_source;
mod oauth;

use std::sync::mpsc::{Sender, channel};

use attache_net::HttpClientOptions;
use attache_testkit::model_server::{PlannedResponse, ReceivedRequest};
use serde_json::Value;

fn net() -> HttpClientOptions {
    HttpClientOptions::default()
}

fn json_answer(status: u16, body: &Value) -> PlannedResponse {
    PlannedResponse::text(status, "application/json", &body.to_string())
}

/// A field of a form that was posted.
fn field(received: &ReceivedRequest, name: &str) -> String {
    let text = String::from_utf8_lossy(&received.body);
    let url = attache_net::Url::parse(&format!("http://x/?{text}")).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// While it lives, a paused clock moves by hand only.
struct Still(Option<Sender<()>>);

impl Still {
    fn new() -> Self {
        let (held, released) = channel::<()>();
        // The runtime does not move its clock while blocking work is under way.
        drop(tokio::task::spawn_blocking(move || released.recv().is_err()));
        Self(Some(held))
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}
