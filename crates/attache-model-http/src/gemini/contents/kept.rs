//! Conversations as they were spelled last: each is told again and again, and only its end is new.
//!
//! What a request tells stays where it is, and the next request is written behind it: nothing is copied as long as nobody
//! else holds the one before. Exchanges are known by where they are in memory; what is held here keeps its place. The
//! newest may come again as others that are equal, once the task shows them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use attache_domain::{Exchange, IgnorePoison};
use attache_model::Prompt;
use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;

/// For all conversations together; those that were not told for longest are forgotten and spelled once more.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Conversations that are going on are far fewer. Each keeps what is declared at the end of its request, too.
const MOST_CONVERSATIONS: usize = 128;

/// Nobody gets more at once because somebody else needed it.
const MOST_ROOM: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(in crate::gemini) struct Kept {
    /// The latest at the end.
    known: Mutex<Vec<Known>>,
    /// How long the last body was: the next one needs about as much room.
    last: AtomicUsize,
}

#[derive(Debug)]
struct Known {
    beginning: Beginning,
    body: Bytes,
}

/// A request under way.
#[derive(Debug)]
pub(in crate::gemini) struct Draft {
    pub(super) text: BytesMut,
    pub(super) beginning: Beginning,
}

/// As much of a body as will be the same in the next, whatever is said then.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    length: usize,
    /// The exchanges that are told in it.
    places: Vec<Place>,
    /// Where the turn began that was going on, and whether anything is spelled by that.
    pub(super) turn: usize,
    pub(super) turn_matters: bool,
}

#[derive(Debug)]
struct Place {
    address: usize,
    holder: Holder,
}

/// Nothing else can come to be where this is.
#[derive(Debug)]
enum Holder {
    /// May come again as another that is equal: one of the newest, and what people say, which is made anew for every turn.
    Equal(Arc<Exchange>),
    Same {
        _place: Weak<Exchange>,
    },
}

impl Kept {
    /// What is known of a conversation whose current turn begins at `turn`; if nothing is, an empty body.
    pub(super) fn recall(&self, exchanges: &[Arc<Exchange>], turn: usize) -> Draft {
        let mut known = self.known();
        let found = known.iter().rposition(|known| known.beginning.begins(exchanges, turn));
        let found = found.map(|place| known.remove(place));
        drop(known);
        let Some(Known { mut beginning, body }) = found else {
            let room = self.last.load(Ordering::Relaxed).min(MOST_ROOM);
            let text = BytesMut::with_capacity(room);
            return Draft { text, beginning: Beginning { turn, ..Beginning::default() } };
        };
        let text = match body.try_into_mut() {
            Ok(mut text) => {
                text.truncate(beginning.length);
                text
            }
            // The request before is still being sent.
            Err(body) => BytesMut::from(&body[..beginning.length]),
        };
        beginning.turn = turn;
        beginning.adopt(exchanges);
        Draft { text, beginning }
    }

    /// Remembers the beginning of a body that is about to be sent.
    pub(in crate::gemini) fn keep(&self, draft: Draft) -> Bytes {
        let Draft { text, beginning } = draft;
        let body = text.freeze();
        self.last.store(body.len() + body.len() / 8, Ordering::Relaxed);
        if beginning.length > 0 && body.len() <= MOST_BYTES {
            let mut known = self.known();
            known.push(Known { beginning, body: body.clone() });
            let mut bytes = known.iter().map(|known| known.body.len()).sum::<usize>();
            let mut count = known.len();
            let too_many = known.iter().take_while(|known| {
                let too_many = bytes > MOST_BYTES || count > MOST_CONVERSATIONS;
                (bytes, count) = (bytes - known.body.len(), count - 1);
                too_many
            });
            let too_many = too_many.count();
            known.drain(..too_many);
        }
        body
    }

    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().ignore_poison()
    }
}

impl Draft {
    pub(in crate::gemini) fn write(&mut self, text: &str) {
        self.text.put_slice(text.as_bytes());
    }

    pub(in crate::gemini) fn spell(&mut self, value: &impl Serialize) -> serde_json::Result<()> {
        serde_json::to_writer((&mut self.text).writer(), value)
    }

    /// Adds the members of `value`, an object, to the object that ends here.
    pub(in crate::gemini) fn close_with(&mut self, value: &impl Serialize) -> serde_json::Result<()> {
        let begin = self.text.len();
        self.spell(value)?;
        match &mut self.text[begin..] {
            [_, b'}'] => self.text.truncate(begin),
            [brace, ..] => {
                *brace = b',';
                return Ok(());
            }
            [] => {}
        }
        self.write("}");
        Ok(())
    }

    pub(in crate::gemini) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// How many exchanges are told already.
    pub(super) fn told(&self) -> usize {
        self.beginning.places.len()
    }

    /// `exchanges` are told, and nothing that comes changes how.
    pub(super) fn settle(&mut self, exchanges: &[Arc<Exchange>]) {
        let Beginning { length, places, .. } = &mut self.beginning;
        *length = self.text.len();
        let known = places.len();
        places.extend(exchanges[known..].iter().map(Place::of));
        let old = places.len().saturating_sub(Prompt::NEWEST);
        places[..old].iter_mut().skip(known.saturating_sub(Prompt::NEWEST)).for_each(Place::grow_old);
    }
}

impl Beginning {
    fn begins(&self, exchanges: &[Arc<Exchange>], turn: usize) -> bool {
        let Some(exchanges) = exchanges.get(..self.places.len()) else { return false };
        let mut pairs = self.places.iter().zip(exchanges);
        // The last first: by it most conversations are told apart.
        let last = self.places.last().zip(exchanges.last());
        (turn == self.turn || !self.turn_matters)
            && last.is_none_or(|(place, exchange)| place.holds(exchange))
            && pairs.all(|(place, exchange)| place.holds(exchange))
    }

    /// From now on the newest are known by where they are in `exchanges`.
    fn adopt(&mut self, exchanges: &[Arc<Exchange>]) {
        for (place, exchange) in self.places.iter_mut().zip(exchanges).rev().take(Prompt::NEWEST) {
            *place = Place::of(exchange);
        }
    }
}

impl Place {
    fn of(exchange: &Arc<Exchange>) -> Self {
        Self { address: Arc::as_ptr(exchange).addr(), holder: Holder::Equal(Arc::clone(exchange)) }
    }

    fn grow_old(&mut self) {
        if let Holder::Equal(exchange) = &self.holder
            && !matches!(**exchange, Exchange::User(_))
        {
            self.holder = Holder::Same { _place: Arc::downgrade(exchange) };
        }
    }

    fn holds(&self, exchange: &Arc<Exchange>) -> bool {
        self.address == Arc::as_ptr(exchange).addr()
            || matches!(&self.holder, Holder::Equal(known) if known == exchange)
    }
}
