//! The output of a running call: an artifact that each update replaces.
//!
//! Clients of Gemini CLI's server show the latest text in place of the one before, whatever `append` says. So each
//! update holds the whole output, as far as it is kept, and says that it replaces.

use attache_domain::{Artifact, CallRecord, Part};

use super::DevtoolFrame;
use crate::JsonForm;
use crate::encode::{event, write_item};

pub(super) fn write(json_form: JsonForm, frame: &DevtoolFrame<'_>, call: &CallRecord, out: &mut Vec<u8>) {
    let artifact = Artifact {
        id: format!("tool-{}-output", call.shown_id().0).into(),
        name: None,
        description: None,
        parts: vec![Part::text(&call.live)],
        metadata: None,
        extensions: Vec::new(),
    };
    write_item(json_form, b"{\"artifactUpdate\":", out, |out| {
        let (task, context) = (frame.task, frame.context);
        event::write_artifact_update(json_form, task, context, &artifact, false, false, out);
        // Clients of this dialect expect both members, even with default values.
        if json_form == JsonForm::V0_3Rpc {
            out.pop();
            out.extend_from_slice(b",\"append\":false,\"lastChunk\":false}");
        }
    });
}
