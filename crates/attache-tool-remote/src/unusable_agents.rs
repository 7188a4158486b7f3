//! Warns about agents whose cards cannot be read, or require an authentication that is not configured.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// Failures of this time are reported together: the first ones soon, and not each by itself.
const REPORT_DELAY: Duration = Duration::from_secs(2);
/// Warnings about single agents. With more, one warning tells about all.
const MAX_WARNINGS: usize = 3;
/// Failures that wait to be reported.
const MAX_PENDING: usize = 64;

/// The name of an agent, and why it cannot be used.
pub(crate) type Unusable = (String, String);

pub(crate) fn channel() -> (mpsc::Sender<Unusable>, mpsc::Receiver<Unusable>) {
    mpsc::channel(MAX_PENDING)
}

/// Warns about the agents of `failures` until all senders are gone.
pub(crate) async fn report(failures: mpsc::Receiver<Unusable>) {
    report_with(failures, warn).await;
}

async fn report_with(mut failures: mpsc::Receiver<Unusable>, mut warn: impl FnMut(&[Unusable])) {
    while let Some(first) = failures.recv().await {
        let end = Instant::now() + REPORT_DELAY;
        let mut agents = vec![first];
        while let Ok(Some(next)) = timeout_at(end, failures.recv()).await {
            agents.push(next);
        }
        warn(&agents);
    }
}

fn warn(agents: &[Unusable]) {
    if agents.len() <= MAX_WARNINGS {
        for (agent, error) in agents {
            tracing::warn!(agent, error, "an agent cannot be used");
        }
        return;
    }
    let names: Vec<&str> = agents.iter().take(MAX_WARNINGS).map(|(name, _)| name.as_str()).collect();
    let (names, more) = (names.join(", "), agents.len() - MAX_WARNINGS);
    tracing::warn!("{} agents cannot be used: {names} and {more} more; /agents list says why", agents.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_are_told_soon_after_the_first_and_not_each() {
        let (sender, failures) = channel();
        let begun = Instant::now();
        let send = async move {
            for second in [0, 1, 30, 60, 61] {
                tokio::time::sleep_until(begun + Duration::from_secs(second)).await;
                sender.send((format!("agent-{second}"), "refused".to_owned())).await.unwrap();
            }
        };
        let mut told = Vec::new();
        let report = report_with(failures, |agents| told.push((begun.elapsed().as_secs(), agents.len())));
        tokio::join!(send, report);
        assert_eq!(told, [(2, 2), (32, 1), (61, 2)]);
    }
}
