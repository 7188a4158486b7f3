//! What a call shows while it runs: an artifact that grows by what is new.

use attache_domain::{Artifact, CallRecord, Part};

use super::Occasion;
use crate::Dialect;
use crate::encode::{event, write_item};

pub(super) fn write(
    dialect: Dialect,
    occasion: &Occasion<'_>,
    call: &CallRecord,
    text: &str,
    out: &mut Vec<u8>,
) {
    let artifact = Artifact {
        id: format!("tool-{}-output", call.shown_id().0).into(),
        name: None,
        description: None,
        parts: vec![Part::text(text)],
        metadata: None,
        extensions: Vec::new(),
    };
    // The artifact begins with the first piece, also when a call that was lost runs again.
    let append = call.shown > 1;
    write_item(dialect, b"{\"artifactUpdate\":", out, |out| {
        let (task, context) = (occasion.task, occasion.context);
        event::write_artifact_update(dialect, task, context, &artifact, append, false, out);
        // Clients of this dialect have always been told both, also where that goes without saying.
        if dialect == Dialect::V0_3Rpc {
            out.pop();
            out.extend_from_slice(if append { b"" } else { b",\"append\":false" });
            out.extend_from_slice(b",\"lastChunk\":false}");
        }
    });
}
