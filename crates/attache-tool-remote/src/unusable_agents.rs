//! Warns about agents whose cards cannot be read, or require an authentication that is not configured: once, until something
//! else is wrong with the agent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::{BoundedCache, IgnorePoison};

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// Failures of this time are reported together: the first ones soon, and not each by itself.
const REPORT_DELAY: Duration = Duration::from_secs(2);
/// Warnings about single agents. With more, one warning tells about all.
const MAX_WARNINGS: usize = 3;
/// Failures that wait to be reported.
const MAX_PENDING: usize = 64;

/// Agents whose warnings are remembered. Those of others may be repeated.
const MAX_REMEMBERED: usize = 4_096;

/// What people were warned of, in all groups of agents: cards are read again when one agent of a group changes.
#[derive(Clone)]
pub struct WarnedAgents(Arc<Mutex<BoundedCache<String, String>>>);

impl Default for WarnedAgents {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(BoundedCache::new(MAX_REMEMBERED, MAX_REMEMBERED))))
    }
}

impl WarnedAgents {
    /// Remembers the warning; false if it is known.
    fn add(&self, (agent, why): &Unusable) -> bool {
        let mut known = self.0.lock().ignore_poison();
        if known.get(agent) == Some(why) {
            return false;
        }
        known.insert(agent.clone(), why.clone(), 1);
        true
    }

    /// The agent can be used.
    pub(crate) fn remove(&self, agent: &str) {
        self.0.lock().ignore_poison().remove(agent);
    }
}

/// The name of an agent, and why it cannot be used.
pub(crate) type Unusable = (String, String);

pub(crate) fn channel() -> (mpsc::Sender<Unusable>, mpsc::Receiver<Unusable>) {
    mpsc::channel(MAX_PENDING)
}

/// Warns about the agents of `failures` until all senders are gone, and not again of what `warned` knows.
pub(crate) async fn report(failures: mpsc::Receiver<Unusable>, warned: WarnedAgents) {
    report_with(failures, &warned, warn).await;
}

async fn report_with(
    mut failures: mpsc::Receiver<Unusable>,
    warned: &WarnedAgents,
    mut warn: impl FnMut(&[Unusable]),
) {
    while let Some(first) = failures.recv().await {
        let end = Instant::now() + REPORT_DELAY;
        let mut agents = vec![first];
        while let Ok(Some(next)) = timeout_at(end, failures.recv()).await {
            agents.push(next);
        }
        agents.retain(|agent| warned.add(agent));
        if !agents.is_empty() {
            warn(&agents);
        }
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
        let warned = WarnedAgents::default();
        let warn = |agents: &[Unusable]| told.push((begun.elapsed().as_secs(), agents.len()));
        let report = report_with(failures, &warned, warn);
        tokio::join!(send, report);
        assert_eq!(told, [(2, 2), (32, 1), (61, 2)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_problem_is_told_once_until_it_changes() {
        let (warned, mut told) = (WarnedAgents::default(), Vec::new());
        for why in ["refused", "refused", "no card", "refused"] {
            let (sender, failures) = channel();
            sender.send(("helper".to_owned(), why.to_owned())).await.unwrap();
            drop(sender);
            report_with(failures, &warned, |agents| told.extend(agents.to_vec())).await;
        }
        let words: Vec<&str> = told.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(words, ["refused", "no card", "refused"]);
        warned.remove("helper");
        assert!(warned.add(&("helper".to_owned(), "refused".to_owned())), "it could be used meanwhile");
    }
}
