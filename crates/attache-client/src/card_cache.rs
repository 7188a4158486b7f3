//! A cache of fetched cards.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_card::CardDocument;
use attache_domain::{BoundedCache, IgnorePoison};
use attache_net::Url;
use attache_wire::Version;
use tokio::time::Instant;

use crate::CardSource;

/// Keeps cards for as long as their agents allow, and asks again with their ETag. Cheap to clone; clones share the cards.
#[derive(Debug, Clone)]
pub struct CardCache {
    cards: Arc<Mutex<BoundedCache<String, CachedCard>>>,
}

impl Default for CardCache {
    fn default() -> Self {
        Self { cards: Arc::new(Mutex::new(BoundedCache::new(MAX_CARDS, MAX_CARDS))) }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CachedCard {
    pub(crate) document: CardDocument,
    /// Where it came from, after redirects.
    pub(crate) url: Url,
    pub(crate) etag: Option<String>,
    fresh_until: Instant,
}

/// Cards of more agents than a session uses. `net` bounds the size of each.
const MAX_CARDS: usize = 256;

impl CardCache {
    /// An agent that moves is found again within this time, whatever its card says.
    pub const MAX_AGE: Duration = Duration::from_secs(3600);

    /// Also one that has to be asked about again.
    pub(crate) fn get(&self, key: &str) -> Option<CachedCard> {
        self.cards.lock().ignore_poison().get(key).cloned()
    }

    /// Keeps a card as its headers say.
    pub(crate) fn keep(
        &self,
        key: &str,
        (document, url): (CardDocument, Url),
        etag: Option<&str>,
        control: Option<&str>,
    ) {
        let mut cards = self.cards.lock().ignore_poison();
        let control = control.unwrap_or_default().to_ascii_lowercase();
        if control.contains("no-store") {
            cards.remove(key);
            return;
        }
        let fresh_until = Instant::now() + max_age(&control);
        cards.insert(
            key.to_owned(),
            CachedCard { document, url, etag: etag.map(str::to_owned), fresh_until },
            1,
        );
    }

    /// Forgets the card of one agent, so that the agent is asked for it again.
    pub fn forget(&self, source: &CardSource) {
        let mut cards = self.cards.lock().ignore_poison();
        for url in source.urls() {
            for version in Version::ALL {
                cards.remove(&key(version, &url));
            }
        }
    }
}

/// What the cache knows a card by. Some agents have another card for each version.
pub(crate) fn key(version: Version, url: &Url) -> String {
    format!("{} {url}", version.as_str())
}

impl CachedCard {
    pub(crate) fn is_fresh(&self) -> bool {
        Instant::now() < self.fresh_until
    }
}

/// Without a statement of the agent a card is asked about each time.
fn max_age(control: &str) -> Duration {
    if control.contains("no-cache") {
        return Duration::ZERO;
    }
    let seconds = control.split(',').find_map(|part| part.trim().strip_prefix("max-age=")?.parse().ok());
    seconds.map_or(Duration::ZERO, |seconds| Duration::from_secs(seconds).min(CardCache::MAX_AGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_fresh_for_as_long_as_its_agent_says() {
        for (control, seconds) in [
            ("public, max-age=60", 60),
            ("max-age=99999999", 3600),
            ("max-age=60, no-cache", 0),
            ("max-age=x", 0),
            ("", 0),
        ] {
            assert_eq!(max_age(control), Duration::from_secs(seconds), "{control}");
        }
    }
}
