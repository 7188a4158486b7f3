//! Caches the encoded beginning of a conversation, so that only the new exchanges of a prompt are encoded.
//!
//! Prefixes are found by the prompt's key. The text of the previous request is extended in place, unless that request is
//! still being sent.

use std::sync::{Mutex, MutexGuard};

use attache_domain::{BoundedCache, IgnorePoison};
use attache_model::PromptKey;
use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;

/// More than the conversations that usually run at one time.
const MAX_PREFIXES: usize = 128;
const MAX_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub(in crate::gemini) struct PrefixCache {
    prefixes: Mutex<BoundedCache<PromptKey, (Prefix, Bytes)>>,
}

/// The length of the part of a body that every later prompt with the same key shares.
#[derive(Debug, Clone, Copy, Default)]
struct Prefix {
    bytes: usize,
    exchanges: usize,
    /// The start of the current turn.
    turn: usize,
    /// The encoding depends on the start of the current turn.
    turn_matters: bool,
}

/// A request body under construction.
#[derive(Debug)]
pub(in crate::gemini) struct RequestText {
    text: BytesMut,
    key: Option<PromptKey>,
    prefix: Prefix,
}

impl Default for PrefixCache {
    fn default() -> Self {
        Self { prefixes: Mutex::new(BoundedCache::new(MAX_PREFIXES, MAX_BYTES)) }
    }
}

impl PrefixCache {
    /// Starts with the cached prefix for a prompt of this many exchanges, whose current turn begins at `turn`.
    pub(super) fn start(&self, key: Option<PromptKey>, exchanges: usize, turn: usize) -> RequestText {
        let known = key.and_then(|key| self.prefixes().remove(&key));
        let fits =
            |prefix: &Prefix| prefix.exchanges <= exchanges && (prefix.turn == turn || !prefix.turn_matters);
        match known.filter(|(prefix, _)| fits(prefix)) {
            Some((prefix, body)) => {
                let text = match body.try_into_mut() {
                    Ok(mut text) => {
                        text.truncate(prefix.bytes);
                        text
                    }
                    // The previous request is still being sent.
                    Err(body) => BytesMut::from(&body[..prefix.bytes]),
                };
                RequestText { text, key, prefix: Prefix { turn, ..prefix } }
            }
            None => {
                let prefix = Prefix { turn, ..Prefix::default() };
                RequestText { text: BytesMut::new(), key, prefix }
            }
        }
    }

    /// The finished body. Caches its prefix for the next prompt.
    pub(in crate::gemini) fn finish(&self, request: RequestText) -> Bytes {
        let RequestText { text, key, prefix } = request;
        let body = text.freeze();
        if let Some(key) = key.filter(|_| prefix.bytes > 0) {
            self.prefixes().insert(key, (prefix, body.clone()), body.len());
        }
        body
    }

    fn prefixes(&self) -> MutexGuard<'_, BoundedCache<PromptKey, (Prefix, Bytes)>> {
        self.prefixes.lock().ignore_poison()
    }
}

impl RequestText {
    pub(in crate::gemini) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(in crate::gemini) fn write(&mut self, text: &str) {
        self.text.put_slice(text.as_bytes());
    }

    pub(in crate::gemini) fn encode(&mut self, value: &impl Serialize) -> serde_json::Result<()> {
        serde_json::to_writer((&mut self.text).writer(), value)
    }

    /// Appends the members of `value`, an object, to the object that ends here.
    pub(in crate::gemini) fn close_with(&mut self, value: &impl Serialize) -> serde_json::Result<()> {
        let begin = self.text.len();
        self.encode(value)?;
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

    /// The number of written exchanges.
    pub(super) fn exchanges(&self) -> usize {
        self.prefix.exchanges
    }

    /// Records that this many exchanges are written, and that later exchanges do not change their text.
    pub(super) fn end_prefix(&mut self, exchanges: usize) {
        (self.prefix.bytes, self.prefix.exchanges) = (self.text.len(), exchanges);
    }

    pub(super) fn set_turn_matters(&mut self) {
        self.prefix.turn_matters = true;
    }
}
