//! A message.

use attache_domain::Message;

use super::part;
use super::text::{write_array, write_metadata, write_text, write_texts};
use crate::{JsonForm, enum_names};

pub(crate) fn write(json_form: JsonForm, message: &Message, out: &mut Vec<u8>) {
    out.extend_from_slice(match json_form {
        JsonForm::V0_3Rpc => b"{\"kind\":\"message\",\"messageId\":",
        JsonForm::V1_0 | JsonForm::V0_3Rest => b"{\"messageId\":",
    });
    write_text(message.id.as_str(), out);
    if let Some(context) = &message.context {
        out.extend_from_slice(b",\"contextId\":");
        write_text(context.as_str(), out);
    }
    if let Some(task) = &message.task {
        out.extend_from_slice(b",\"taskId\":");
        write_text(task.as_str(), out);
    }
    out.extend_from_slice(b",\"role\":\"");
    out.extend_from_slice(enum_names::role_name(json_form, message.role).as_bytes());
    out.extend_from_slice(match json_form {
        JsonForm::V0_3Rest => b"\",\"content\":",
        JsonForm::V1_0 | JsonForm::V0_3Rpc => b"\",\"parts\":",
    });
    write_array(&message.parts, out, |part, out| part::write(json_form, part, out));
    write_metadata(message.metadata.as_ref(), out);
    write_texts(b",\"extensions\":", &message.extensions, out);
    // The 0.3 definitions behind REST have no field for references.
    if !message.reference_tasks.is_empty() && json_form != JsonForm::V0_3Rest {
        out.extend_from_slice(b",\"referenceTaskIds\":");
        write_array(&message.reference_tasks, out, |task, out| write_text(task.as_str(), out));
    }
    out.push(b'}');
}
