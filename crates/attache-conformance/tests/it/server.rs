//! A server on loopback with a good card for JSON-RPC 1.0 and whatever answers a test wants.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Stops when dropped.
pub(crate) struct WrongServer {
    pub(crate) url: String,
    _serving: JoinSet<()>,
}

impl WrongServer {
    pub(crate) async fn start(answer: fn(&Value) -> Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port of loopback");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let card = card(&url).to_string();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let card = card.clone();
                connections.spawn(async move {
                    let service = service_fn(move |request| reply(request, card.clone(), answer));
                    // A client that breaks off is none of a test's business.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { url, _serving: serving }
    }
}

async fn reply(
    request: Request<Incoming>,
    card: String,
    answer: fn(&Value) -> Value,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = match path.as_str() {
        "/.well-known/agent-card.json" => card,
        "/" => {
            let body = request.into_body().collect().await.expect("a whole body").to_bytes();
            answer(&serde_json::from_slice(&body).unwrap_or_default()).to_string()
        }
        _ => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::NOT_FOUND;
            return Ok(response);
        }
    };
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(Full::from(body)).expect("a good head"))
}

fn card(url: &str) -> Value {
    json!({
        "name": "wrong", "description": "Wrong on purpose.", "version": "1",
        "supportedInterfaces": [{"url": format!("{url}/"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true, "pushNotifications": true},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "", "tags": ["t"]}],
    })
}
