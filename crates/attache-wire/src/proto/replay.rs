//! Adds the marks of the replay extension to encoded messages.

use attache_proto::{v0_3, v1_0};
use prost::Message;
use prost_types::Struct;

use super::value::to_value;
use crate::Version;
use crate::replay::{ReplayMark, URI};

/// Adds the mark to the item of a stream, or the response to a send, that begins at `start` of `out`.
pub fn add_mark_to_item(version: Version, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
    match version {
        Version::V0_3 => edit_message::<v0_3::StreamResponse>(out, start, |item| match &mut item.payload {
            Some(v0_3::stream_response::Payload::Task(task)) => add_mark(&mut task.metadata, mark),
            Some(v0_3::stream_response::Payload::Msg(message)) => add_mark(&mut message.metadata, mark),
            Some(v0_3::stream_response::Payload::StatusUpdate(update)) => {
                add_mark(&mut update.metadata, mark)
            }
            Some(v0_3::stream_response::Payload::ArtifactUpdate(update)) => {
                add_mark(&mut update.metadata, mark)
            }
            None => {}
        }),
        Version::V1_0 => edit_message::<v1_0::StreamResponse>(out, start, |item| match &mut item.payload {
            Some(v1_0::stream_response::Payload::Task(task)) => add_mark(&mut task.metadata, mark),
            Some(v1_0::stream_response::Payload::Message(message)) => add_mark(&mut message.metadata, mark),
            Some(v1_0::stream_response::Payload::StatusUpdate(update)) => {
                add_mark(&mut update.metadata, mark)
            }
            Some(v1_0::stream_response::Payload::ArtifactUpdate(update)) => {
                add_mark(&mut update.metadata, mark)
            }
            None => {}
        }),
    }
}

/// Adds the mark to the bare task that begins at `start` of `out`.
pub fn add_mark_to_task(version: Version, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
    match version {
        Version::V0_3 => edit_message::<v0_3::Task>(out, start, |task| add_mark(&mut task.metadata, mark)),
        Version::V1_0 => edit_message::<v1_0::Task>(out, start, |task| add_mark(&mut task.metadata, mark)),
    }
}

fn edit_message<M: Message + Default>(out: &mut Vec<u8>, start: usize, change: impl FnOnce(&mut M)) {
    // Our own output can be decoded; if not, it stays unchanged.
    let Ok(mut message) = M::decode(&out[start..]) else { return };
    change(&mut message);
    out.truncate(start);
    out.extend_from_slice(&message.encode_to_vec());
}

fn add_mark(metadata: &mut Option<Struct>, mark: &ReplayMark<'_>) {
    metadata.get_or_insert_default().fields.insert(URI.to_owned(), to_value(&mark.value()));
}

#[cfg(test)]
mod tests {
    use attache_domain::Seq;

    use super::*;

    #[test]
    fn a_mark_joins_what_is_there() {
        let update = v1_0::TaskStatusUpdateEvent { task_id: "t".into(), ..Default::default() };
        let payload = Some(v1_0::stream_response::Payload::StatusUpdate(update));
        let mut out = b"prefix".to_vec();
        out.extend(v1_0::StreamResponse { payload }.encode_to_vec());
        add_mark_to_item(Version::V1_0, &ReplayMark { epoch: "e", seq: Seq(3), gap: None }, &mut out, 6);
        let read = v1_0::StreamResponse::decode(&out[6..]).unwrap();
        let Some(v1_0::stream_response::Payload::StatusUpdate(update)) = read.payload else { panic!() };
        assert_eq!(update.task_id, "t");
        let text = format!("{:?}", update.metadata.unwrap().fields[URI]);
        assert!(text.contains("e.3"), "{text}");
    }
}
