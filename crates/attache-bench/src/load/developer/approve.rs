//! Runs tasks with one approval each, and counts all their bytes.

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::OpeningMessage;
use super::stream_summary;
use crate::load::Target;
use crate::load::connection::Connection;
use crate::load::report::Stopwatch;

#[derive(clap::Args)]
pub(in crate::load) struct ApproveOptions {
    #[command(flatten)]
    opening: OpeningMessage,
    #[arg(long, default_value_t = 1)]
    tasks: u64,
    /// Pieces of the model's last answer.
    #[arg(long)]
    chunks: usize,
}

pub(in crate::load) async fn run(target: Target, options: ApproveOptions) -> anyhow::Result<Value> {
    let stopwatch = Stopwatch::start()?;
    let (mut events, mut sent, mut received) = (0, 0, 0);
    for number in 1..=options.tasks {
        // One connection for both: an approval from elsewhere finds the other server's call cancelled.
        let mut connection = Connection::open(target.address).await?;
        events += timeout(target.time_limit, task(target, &options, &mut connection, number)).await??;
        sent += connection.sent;
        received += connection.received;
    }
    stopwatch.stop(json!({
        "requested": options.tasks,
        "streams": options.tasks,
        "errors": 0,
        "events": events,
        "sent_bytes": sent,
        "received_bytes": received,
    }))
}

/// How many events it took.
async fn task(
    target: Target,
    options: &ApproveOptions,
    connection: &mut Connection,
    number: u64,
) -> anyhow::Result<u64> {
    let mut opening = options.opening.request(target.address);
    let asked = stream_summary::read_stream(connection, opening.numbered(number)).await?;
    let question = asked.question.context("no question was asked")?;
    ensure!(asked.done == 0, "the call was carried out before it was approved");
    let mut approval = options.opening.words.approval(target.address, &question);
    let answered = stream_summary::read_stream(connection, approval.numbered(number)).await?;
    ensure!(answered.done == 1, "{} calls were carried out instead of the one", answered.done);
    let expected = crate::gemini::answer_text(options.chunks);
    ensure!(answered.text == expected, "the client heard `{}`", answered.text);
    Ok(asked.events + answered.events)
}
