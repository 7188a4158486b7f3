//! Waits for conditions that nothing announces.

use std::time::Duration;

use crate::WAIT_TIMEOUT;

/// Waits until `condition` holds.
pub async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(2));
        while !condition() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, waiting)
        .await
        .unwrap_or_else(|_| panic!("{what} does not come about"));
}

/// Whether a process runs. A zombie counts as dead.
pub fn lives(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains("zombie") && !line.contains("dead"))
}
