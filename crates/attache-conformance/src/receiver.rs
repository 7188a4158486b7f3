//! Receives push notifications on loopback, with a mailbox for each check.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::check::{CheckResult, fail};

/// The maximum size of a notification.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) method: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Delivery {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn json(&self) -> CheckResult<Value> {
        match serde_json::from_slice(&self.body) {
            Ok(value) => Ok(value),
            Err(_) => {
                fail(format!("a notification that is no JSON: {:?}", String::from_utf8_lossy(&self.body)))
            }
        }
    }
}

/// The deliveries of a mailbox, and how many more it refuses.
struct Slot {
    delivered: watch::Sender<Vec<Delivery>>,
    refusals: Mutex<u32>,
}

type Slots = Arc<Mutex<HashMap<String, Arc<Slot>>>>;

/// Stops when dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    slots: Slots,
    _serving: JoinSet<()>,
}

pub(crate) struct Mailbox {
    pub(crate) url: String,
    slot: Arc<Slot>,
}

impl Receiver {
    pub(crate) async fn start() -> Result<Self, String> {
        let failed = |error| format!("opening a receiver on loopback: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let slots = Slots::default();
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, slots.clone()));
        Ok(Self { address, slots, _serving: serving })
    }

    pub(crate) fn mailbox(&self) -> Mailbox {
        self.mailbox_refusing(0)
    }

    /// A mailbox that answers the first `times` deliveries with 503.
    pub(crate) fn mailbox_refusing(&self, times: u32) -> Mailbox {
        let path = format!("/{}", uuid::Uuid::new_v4());
        let slot = Arc::new(Slot { delivered: watch::Sender::new(Vec::new()), refusals: Mutex::new(times) });
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), slot.clone());
        Mailbox { url: format!("http://{}{path}", self.address), slot }
    }
}

impl Mailbox {
    /// The deliveries, once `enough` holds or the time is up.
    pub(crate) async fn wait(&self, time: Duration, enough: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let mut receiver = self.slot.delivered.subscribe();
        let waiting = receiver.wait_for(|delivered| enough(delivered));
        // The time is up: returns what has arrived.
        let _ = tokio::time::timeout(time, waiting).await;
        self.slot.delivered.borrow().clone()
    }
}

async fn accept(listener: TcpListener, slots: Slots) {
    let mut connections = JoinSet::new();
    loop {
        // No free socket at the moment: the sender retries.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let slots = slots.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| take(request, slots.clone()));
            // A sender that disconnects is ignored.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn take(request: Request<Incoming>, slots: Slots) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let slot = slots.lock().unwrap_or_else(PoisonError::into_inner).get(head.uri.path()).cloned();
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
    let (Some(slot), Ok(body)) = (slot, body) else { return Ok(empty(StatusCode::NOT_FOUND)) };
    {
        let mut refusals = slot.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if *refusals > 0 {
            *refusals -= 1;
            return Ok(empty(StatusCode::SERVICE_UNAVAILABLE));
        }
    }
    let delivery = Delivery { method: head.method.to_string(), headers: head.headers, body: body.to_bytes() };
    slot.delivered.send_modify(|delivered| delivered.push(delivery));
    Ok(empty(StatusCode::OK))
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
