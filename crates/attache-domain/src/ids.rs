//! Ids. Each kind is a type of its own, so they cannot be mixed up.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{:?}", &*self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
    };
}

text_id! {
    /// Names one task. Always made by the server.
    TaskId
}
text_id! {
    /// Names one conversation. Made by the server unless the client brings its own.
    ContextId
}
text_id! {
    /// Names one message. Made by its sender.
    MessageId
}
text_id! {
    /// Names one artifact within its task.
    ArtifactId
}
text_id! {
    /// Names one push configuration within its task.
    PushConfigId
}

/// Position of an event in its task's log: 1, 2, 3, … without a hole. Zero means "before the first".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    pub const START: Seq = Seq(0);

    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Fingerprint of a message's content, as lower-case hex. Two messages with one id and one digest are one message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub Arc<str>);

impl Digest {
    /// From the bytes of a hash.
    pub fn of_hash(hash: &[u8]) -> Self {
        Self(hexadecimal(hash).into())
    }
}

/// In lower case.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The owner of a task. Part of every store key, so that a caller cannot even look up the tasks of another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    /// The tenant named in the request; empty when there is none.
    pub tenant: Arc<str>,
    /// The authenticated caller.
    pub owner: Arc<str>,
}

impl Scope {
    pub fn new(tenant: impl Into<Arc<str>>, owner: impl Into<Arc<str>>) -> Self {
        Self { tenant: tenant.into(), owner: owner.into() }
    }
}

/// A task with its owner: the key in stores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    pub scope: Scope,
    pub task: TaskId,
}

/// Hashes the id alone: two callers hardly ever have the same id, and equality compares everything.
impl Hash for TaskKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.task.hash(state);
    }
}
