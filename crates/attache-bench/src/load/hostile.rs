//! Hostile clients, which attack until standard input closes.
//!
//! Thousands of connections that send half a request, and floods of HTTP/2 frames without purpose. Each reconnects when
//! the server closes it.

mod flood;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Target;
use super::report::{self, Stopwatch};
use flood::Flood;

/// Connections that are opened at a time: more would only wait in the server's queue.
const MAX_CONNECTING: usize = 64;
/// All connections are open within this time, or the run fails.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub(super) struct HostileOptions {
    /// Connections that are held without use.
    #[arg(long, default_value_t = 10_000)]
    connections: usize,
    /// Connections that flood, each with one kind of flood, over and over.
    #[arg(long, default_value_t = 8)]
    floods: usize,
    /// The delay before a closed flood connection reconnects.
    #[arg(long, default_value_t = 100)]
    rest_ms: u64,
}

/// Prints the report when all connections are open, then continues until standard input closes or the time limit.
pub(super) async fn run(target: Target, options: HostileOptions) -> anyhow::Result<()> {
    let stopwatch = Stopwatch::start()?;
    let open = Arc::new(AtomicU64::new(0));
    let connecting = Arc::new(Semaphore::new(MAX_CONNECTING));
    let mut attackers = JoinSet::new();
    for number in 0..options.connections {
        let (open, connecting) = (open.clone(), connecting.clone());
        attackers.spawn(hold(target.address, PartialRequest::of(number), connecting, open));
    }
    let gathering = async {
        while open.load(Ordering::Relaxed) < options.connections as u64 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(CONNECT_TIMEOUT, gathering).await.context("the crowd does not come together")?;
    let rest = Duration::from_millis(options.rest_ms);
    for number in 0..options.floods {
        attackers.spawn(flood::reconnect_forever(target.address, Flood::of(number), rest));
    }
    let report = json!({ "connections": options.connections, "floods": options.floods, "errors": 0 });
    report::print(&stopwatch.stop(report)?)?;

    let mut end = Vec::new();
    // Both ends are regular: standard input was closed, or the time limit was reached.
    let _ = tokio::time::timeout(target.time_limit, tokio::io::stdin().read_to_end(&mut end)).await;
    Ok(())
}

/// The bytes that a held connection sends before it stops.
#[derive(Clone, Copy)]
enum PartialRequest {
    Nothing,
    HalfAHead,
    HalfABody,
    Http2,
}

impl PartialRequest {
    fn of(number: usize) -> Self {
        [Self::Nothing, Self::HalfAHead, Self::HalfABody, Self::Http2][number % 4]
    }

    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::HalfAHead => b"POST / HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
            Self::HalfABody => {
                b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"
            }
            Self::Http2 => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
        }
    }
}

/// One held connection, reopened whenever the server closes it.
async fn hold(
    address: SocketAddr,
    beginning: PartialRequest,
    connecting: Arc<Semaphore>,
    open: Arc<AtomicU64>,
) {
    let mut counted = false;
    let mut received = [0; 512];
    loop {
        let permit = connecting.acquire().await;
        let connected = TcpStream::connect(address).await;
        drop(permit);
        if let Ok(mut stream) = connected
            && stream.write_all(beginning.bytes()).await.is_ok()
        {
            if !std::mem::replace(&mut counted, true) {
                open.fetch_add(1, Ordering::Relaxed);
            }
            while matches!(stream.read(&mut received).await, Ok(1..)) {}
        }
        // Spread over time.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
