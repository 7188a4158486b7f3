//! Bare axum: the cost of a server that does only HTTP and JSON, or HTTP and SSE.
//!
//! Served the way `axum::serve` does it, with Nagle's algorithm off and as many worker threads as
//! attache has. No middleware, no limits, no logging: this is the lower bound.

mod echo;
mod sse;

use std::io::Write;
use std::net::Ipv4Addr;

use anyhow::Context;
use axum::Router;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Port on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Worker threads; when not given, as many as attache has: one for each core but one.
    #[arg(long)]
    workers: Option<usize>,
}

pub(crate) fn run(options: Options) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = options.workers.unwrap_or(cores.saturating_sub(1)).max(1);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all().build()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        writeln!(std::io::stdout(), "bare is listening on http://{address}")?;
        serve(listener).await
    })
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/", post(echo::value))
        .route("/sse", get(sse::stream))
        .with_state(sse::Producers::default());
    let listener = listener.tap_io(|socket| {
        // Without it the second small write of an answer may wait 40 ms; not worth refusing a connection over.
        let _ = socket.set_nodelay(true);
    });
    axum::serve(listener, router).await.context("the bare server stopped")
}
