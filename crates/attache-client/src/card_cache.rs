//! Cards that were read before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use attache_card::CardDocument;
use tokio::time::Instant;

/// Keeps cards for as long as their agents allow, and asks again with their ETag. Cheap to clone; clones share the cards.
#[derive(Debug, Clone, Default)]
pub struct CardCache {
    cards: Arc<Mutex<HashMap<String, CachedCard>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct CachedCard {
    pub(crate) document: CardDocument,
    pub(crate) etag: Option<String>,
    fresh_until: Instant,
}

/// Cards of more agents than a session uses.
const MAX_CARDS: usize = 256;
/// An agent that moves is found again within this time, whatever its card says.
const MAX_AGE: Duration = Duration::from_secs(3600);

impl CardCache {
    /// Also one that has to be asked about again.
    pub(crate) fn get(&self, key: &str) -> Option<CachedCard> {
        self.cards.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps a card as its headers say.
    pub(crate) fn keep(&self, key: &str, document: CardDocument, etag: Option<&str>, control: Option<&str>) {
        let mut cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        let control = control.unwrap_or_default().to_ascii_lowercase();
        if control.contains("no-store") {
            cards.remove(key);
            return;
        }
        if cards.len() >= MAX_CARDS && !cards.contains_key(key) {
            let oldest = cards.iter().min_by_key(|(_, card)| card.fresh_until).map(|(key, _)| key.clone());
            oldest.map(|key| cards.remove(&key));
        }
        let fresh_until = Instant::now() + max_age(&control);
        cards.insert(key.to_owned(), CachedCard { document, etag: etag.map(str::to_owned), fresh_until });
    }

    /// Forgets all cards.
    pub fn clear(&self) {
        self.cards.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
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
    seconds.map_or(Duration::ZERO, |seconds| Duration::from_secs(seconds).min(MAX_AGE))
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
