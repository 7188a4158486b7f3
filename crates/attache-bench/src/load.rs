//! The load generator: raw TCP, hand-written HTTP/1.1, and as little work per response as possible.
//!
//! Every mode prints one JSON object: how much was done, the errors, the time it took, and the
//! generator's own CPU, so that a reader can see how much of the machine it used. Every mode stops at
//! its count or at the time limit, whichever comes first; what was not done shows in the counts.

mod bodies;
mod chunked;
mod connection;
mod developer;
mod events;
mod fanout;
mod grpc;
mod hostile;
mod idle;
mod model_reader;
mod push;
mod report;
mod requests;
mod sockets;
mod streams;
mod work;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};

use bodies::ProtocolVersion;

#[derive(Parser)]
pub(crate) struct Options {
    /// The server, as http://127.0.0.1:PORT.
    #[arg(long)]
    url: String,
    /// Nothing runs longer than this.
    #[arg(long, default_value_t = 60)]
    time_limit_seconds: u64,
    /// Which A2A version to speak.
    #[arg(long, value_enum, default_value_t = ProtocolVersion::V1)]
    protocol_version: ProtocolVersion,
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Send messages and wait for each answer.
    Send(requests::SendOptions),
    /// Send messages over gRPC and wait for each answer.
    SendGrpc(grpc::GrpcOptions),
    /// Get tasks whose ids are in a file, in random order.
    Get(requests::GetOptions),
    /// List the first page of tasks.
    List(requests::ListOptions),
    /// Open streams, read each to its end and count what comes.
    Stream(streams::StreamOptions),
    /// Many readers of one task, all subscribed before it goes on.
    SubscribeFanout(fanout::FanoutOptions),
    /// Many WebSockets on one session, all connected before its prompt, or held without one.
    Sockets(sockets::SocketOptions),
    /// Open streams and hold them until standard input closes.
    IdleStreams(idle::IdleOptions),
    /// Hold connections without using them and flood others until standard input closes.
    Hostile(hostile::HostileOptions),
    /// Start tasks and poll them until they settle.
    Work(work::WorkOptions),
    /// Give a coding agent one task after the other and compare its text with the model's.
    Converse(developer::ConverseOptions),
    /// Give a coding agent tasks that need an approval, and approve.
    Approve(developer::ApproveOptions),
    /// Register receivers of push notifications with a task, continue it and count the notifications.
    Push(push::PushOptions),
    /// Read a model's answers and parse every event.
    ReadModel(model_reader::ReadModelOptions),
}

/// What every mode needs to know about the server.
#[derive(Clone, Copy)]
struct Target {
    address: SocketAddr,
    version: ProtocolVersion,
    time_limit: Duration,
}

pub(crate) fn run(options: Options) -> anyhow::Result<()> {
    let address = options.url.strip_prefix("http://").unwrap_or(&options.url).trim_end_matches('/');
    let target = Target {
        address: address.parse().with_context(|| format!("{address} is no address and port"))?,
        version: options.protocol_version,
        time_limit: Duration::from_secs(options.time_limit_seconds),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let report = match options.mode {
            Mode::Send(mode) => requests::send(target, mode).await,
            Mode::SendGrpc(mode) => grpc::run(target, mode).await,
            Mode::Get(mode) => requests::get(target, mode).await,
            Mode::List(mode) => requests::list(target, mode).await,
            Mode::Stream(mode) => streams::run(target, mode).await,
            Mode::SubscribeFanout(mode) => fanout::run(target, mode).await,
            Mode::Work(mode) => work::run(target, mode).await,
            Mode::Converse(mode) => developer::converse(target, mode).await,
            Mode::Approve(mode) => developer::approve(target, mode).await,
            Mode::Push(mode) => push::run(target, mode).await,
            Mode::ReadModel(mode) => model_reader::run(target, mode).await,
            Mode::Sockets(mode) => return sockets::run(target, mode).await,
            Mode::IdleStreams(mode) => return idle::run(target, mode).await,
            Mode::Hostile(mode) => return hostile::run(target, mode).await,
        };
        report::print(&report?)
    })
}
