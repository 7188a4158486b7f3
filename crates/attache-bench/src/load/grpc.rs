//! Sends over gRPC: as many callers as there would be connections elsewhere, a few of them on each connection, as gRPC's
//! clients share theirs.
//!
//! Requests are put together by hand, like those of the other bindings, so that the generator does as little as it can.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use memchr::memmem;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::bodies::{MessageRequest, message_id};
use super::report::{Stopwatch, micros_since, percentiles};
use super::{ProtocolVersion, Target};

#[derive(clap::Args)]
pub(super) struct GrpcOptions {
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Callers on each connection, each with one request under way.
    #[arg(long, default_value_t = 8)]
    callers: usize,
    #[arg(long, default_value_t = 10_000)]
    requests: u64,
}

const METHOD: &str = "/lf.a2a.v1.A2AService/SendMessage";
/// The beginning of a status that says completed: field 1, number 3.
const COMPLETED: [u8; 2] = [0x08, 0x03];

pub(super) async fn run(target: Target, options: GrpcOptions) -> anyhow::Result<Value> {
    ensure!(target.version == ProtocolVersion::V1, "gRPC is measured in 1.0");
    let next = Arc::new(AtomicU64::new(0));
    let mut callers = JoinSet::new();
    let request = MessageRequest::over(send_request(&message_id(), "hello"));
    let mut connections = JoinSet::new();
    let stopwatch = Stopwatch::start()?;
    for _ in 0..options.connections {
        let connection = connect(target, &mut connections).await?;
        for _ in 0..options.callers {
            let (connection, next, request) = (connection.clone(), next.clone(), request.clone());
            let uri = format!("http://{}{METHOD}", target.address);
            callers.spawn(async move { call(connection, uri, request, &next, options.requests).await });
        }
    }
    let (mut latencies, mut errors) = (Vec::new(), 0);
    let running = async {
        while let Some(done) = callers.join_next().await {
            let (seen, failed) = done.context("a caller panicked")??;
            latencies.extend(seen);
            errors += failed;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(target.time_limit, running).await.context("not done in time")??;
    let report = json!({ "requests": latencies.len(), "errors": errors });
    let mut report = stopwatch.stop(report)?;
    report["latency"] = percentiles(latencies);
    Ok(report)
}

async fn connect(
    target: Target,
    connections: &mut JoinSet<hyper::Result<()>>,
) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(target.address).await.context("cannot connect")?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    connections.spawn(connection);
    Ok(sender)
}

async fn call(
    mut connection: SendRequest<Full<Bytes>>,
    uri: String,
    mut message: MessageRequest,
    next: &AtomicU64,
    requests: u64,
) -> anyhow::Result<(Vec<u32>, u64)> {
    let (mut latencies, mut errors) = (Vec::new(), 0);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= requests {
            return Ok((latencies, errors));
        }
        let started = Instant::now();
        let request = hyper::Request::post(&uri)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("a2a-version", "1.0")
            .body(Full::new(Bytes::copy_from_slice(message.numbered(number))))?;
        connection.ready().await?;
        let answer = connection.send_request(request).await?.into_body().collect().await?;
        let ok = answer.trailers().and_then(|it| it.get("grpc-status")).is_some_and(|status| status == "0");
        let completed = memmem::find(&answer.to_bytes(), &COMPLETED).is_some();
        errors += u64::from(!(ok && completed));
        latencies.push(micros_since(started));
    }
}

/// One frame with a request whose message has this id and text.
fn send_request(id: &str, text: &str) -> Vec<u8> {
    const ROLE_USER: u8 = 1;
    let part = field(1, text.as_bytes());
    let message = [field(1, id.as_bytes()), vec![4 << 3, ROLE_USER], field(5, &part)].concat();
    let request = field(2, &message);
    let length = u32::try_from(request.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[0], &length[..], &request].concat()
}

/// A field of bytes, short enough for a length of two bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let (low, high) = ((bytes.len() & 127) as u8, (bytes.len() >> 7) as u8);
    let length = if high == 0 { vec![low] } else { vec![low | 128, high] };
    [&[number << 3 | 2], &length[..], bytes].concat()
}
