//! Limits the requests to each host.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::time::Instant;

const WINDOW: Duration = Duration::from_secs(60);
/// To one host in a minute.
pub(super) const MAX_REQUESTS: usize = 10;
/// Beyond this number, hosts without recent requests are dropped.
const MAX_HOSTS: usize = 1_024;

/// The times of recent requests by host.
#[derive(Debug, Default)]
pub(super) struct HostRateLimit {
    hosts: Mutex<HashMap<String, VecDeque<Instant>>>,
}

impl HostRateLimit {
    /// Counts one request to `host`, or returns the time to wait.
    pub(super) fn take(&self, host: &str, now: Instant) -> Result<(), Duration> {
        let mut hosts = self.hosts.lock().ignore_poison();
        let recent = |time: &Instant| now.saturating_duration_since(*time) < WINDOW;
        if hosts.len() >= MAX_HOSTS {
            hosts.retain(|_, times| times.back().is_some_and(recent));
        }
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(host) {
            return Err(WINDOW);
        }
        let times = hosts.entry(host.to_owned()).or_default();
        while times.front().is_some_and(|time| !recent(time)) {
            times.pop_front();
        }
        match times.front() {
            Some(first) if times.len() >= MAX_REQUESTS => Err(WINDOW - now.saturating_duration_since(*first)),
            _ => {
                times.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_its_minute() {
        let (pace, start) = (HostRateLimit::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(pace.take("a", at(0)), Ok(()));
        (1..MAX_REQUESTS).for_each(|_| assert_eq!(pace.take("a", at(10)), Ok(())));
        assert_eq!(pace.take("a", at(20)), Err(Duration::from_secs(40)));
        assert_eq!(pace.take("b", at(20)), Ok(()));
        assert_eq!(pace.take("a", at(60)), Ok(()));
        assert_eq!(pace.take("a", at(61)), Err(Duration::from_secs(9)));
    }

    #[test]
    fn not_every_host_is_remembered_for_ever() {
        let (pace, start) = (HostRateLimit::default(), Instant::now());
        (0..MAX_HOSTS).for_each(|host| pace.take(&host.to_string(), start).unwrap());
        assert!(pace.take("new", start).is_err());
        pace.take("new", start + WINDOW).unwrap();
        assert_eq!(pace.hosts.lock().unwrap().len(), 1);
    }
}
