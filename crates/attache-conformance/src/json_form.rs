//! The three JSON forms of A2A objects.
//!
//! 0.3 has two: that of its JSON Schema on JSON-RPC, and ProtoJSON elsewhere. gRPC messages are converted
//! to ProtoJSON, so that one decoder serves all bindings.

mod decode;
mod encode;

use crate::protocol::{Binding, Version};

pub(crate) use decode::{as_item, as_page, as_push, as_push_list, as_sent, as_task};
pub(crate) use encode::{push_config, send};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonForm {
    /// 0.3 by its JSON Schema, with `kind`.
    Schema0_3,
    /// 0.3 by its protobuf file, with `content`.
    Proto0_3,
    V1_0,
}

impl JsonForm {
    pub(crate) fn of(version: Version, binding: Binding) -> Self {
        match (version, binding) {
            (Version::V1_0, _) => Self::V1_0,
            (Version::V0_3, Binding::JsonRpc) => Self::Schema0_3,
            (Version::V0_3, _) => Self::Proto0_3,
        }
    }

    /// The member of a message that holds its parts.
    pub(crate) fn parts(self) -> &'static str {
        if self == Self::Proto0_3 { "content" } else { "parts" }
    }
}
