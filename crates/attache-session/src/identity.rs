//! Ids that are derived from a message, so that the same message always names the same task.
//!
//! A task's id is a keyed hash of tenant, caller, message id and content (or of the id alone, for callers that use the
//! idempotent-send extension). Opening it again conflicts in the store, which makes the store the duplicate check,
//! also after a restart. A message that is sent again after its task is over gets a number. The key is kept in the
//! store and makes ids unguessable.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use attache_domain::{ContextId, Digest, DuplicateRule, Message, Scope, TaskId};
use attache_store::{Record, RecordChange, Records, StoreError};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};

const SPACE: &str = "identity";
const TASK_IDS: &str = "task-ids";
const EPOCH: &str = "epoch";

pub(crate) struct Identity {
    keyed: Hmac<Sha256>,
    epoch: Arc<str>,
}

impl Identity {
    /// Takes the store's key and its name, made on first use. A log whose past has changed gets another name, before
    /// anything is appended to it: cursors from before lead nowhere.
    pub(crate) async fn load(records: &dyn Records, past_changed: bool) -> Result<Self, StoreError> {
        let (first, second) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
        let fresh = [*first.as_bytes(), *second.as_bytes()].concat();
        let key = get_or_put_readable(records, TASK_IDS, fresh).await?;
        let keyed =
            Hmac::new_from_slice(&key).map_err(|error| StoreError::Corrupt { what: error.to_string() })?;
        let fresh = uuid::Uuid::new_v4().simple().to_string().into_bytes()[..12].to_vec();
        if past_changed {
            put(records, EPOCH, fresh.clone()).await?;
        }
        let epoch = get_or_put_readable(records, EPOCH, fresh).await?;
        Ok(Self { keyed, epoch: String::from_utf8_lossy(&epoch).into() })
    }

    /// Names this log. Another store, or one that was begun anew, has another name.
    pub(crate) fn epoch(&self) -> &Arc<str> {
        &self.epoch
    }

    pub(crate) fn task(
        &self,
        scope: &Scope,
        message: &Message,
        digest: &Digest,
        duplicate_rule: DuplicateRule,
        number: u32,
    ) -> TaskId {
        let (kind, content) = match duplicate_rule {
            DuplicateRule::IdAndContent => ("task", &*digest.0),
            DuplicateRule::Id => ("task of the message", ""),
        };
        TaskId::from(self.name(&numbered(kind, number), scope, message, content))
    }

    fn name(&self, kind: &str, scope: &Scope, message: &Message, content: &str) -> String {
        let mut keyed = self.keyed.clone();
        for text in [kind, &scope.tenant, &scope.owner, message.id.as_str(), content] {
            keyed.update(&(text.len() as u64).to_le_bytes());
            keyed.update(text.as_bytes());
        }
        let hash: [u8; 32] = keyed.finalize().into_bytes().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
    }
}

/// A context for a message that brings none. Its index in a store grows at the end, because these ids begin with the time.
pub(crate) fn new_context() -> ContextId {
    ContextId::from(uuid::Uuid::now_v7().to_string())
}

/// The first task of a message has no number in its name.
fn numbered(kind: &str, number: u32) -> Cow<'_, str> {
    if number == 0 { Cow::Borrowed(kind) } else { Cow::Owned(format!("{kind} {number}")) }
}

/// A record that cannot be read is replaced: without the key, messages that came before are not recognised, which is less
/// harm than no server.
async fn get_or_put_readable(
    records: &dyn Records,
    key: &'static str,
    fresh: Vec<u8>,
) -> Result<Vec<u8>, StoreError> {
    match records.get_or_put(SPACE, key, fresh.clone()).await {
        Err(StoreError::Corrupt { what }) => {
            tracing::error!(what, "the record {SPACE}/{key} cannot be read and is replaced by a new one");
            put(records, key, fresh.clone()).await?;
            Ok(fresh)
        }
        found => found,
    }
}

async fn put(records: &dyn Records, key: &'static str, value: Vec<u8>) -> Result<(), StoreError> {
    let record = Record { key: key.into(), value };
    records.change(vec![RecordChange::Put { space: SPACE, record }]).await
}

/// Fingerprint of everything a message says. The name of a key is another one whenever the key is sent.
pub(crate) fn digest(message: &Message) -> Digest {
    let mut message = Cow::Borrowed(message);
    if message.requested.as_ref().is_some_and(|requested| requested.api_key_name.is_some())
        && let Some(requested) = &mut message.to_mut().requested
    {
        requested.api_key_name = None;
    }
    let mut hash = HashWriter(Sha256::new());
    // Writing to a hash cannot fail, and a message is always representable.
    let _ = serde_json::to_writer(&mut hash, &message);
    Digest::of_hash(&hash.0.finalize()[..16])
}

struct HashWriter(Sha256);

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
