//! The replay extension: a cursor in every event, a way to resume from one, and a mark when events are missing.
//!
//! The marks are added to events that were encoded without them, only for clients that activate the extension.

use std::sync::Arc;

use attache_domain::{Cursor, Fault, GapReason, ReplayGap, Seq};
use serde_json::{Map, Value, json};

use crate::JsonForm;
use crate::encode::text::write_value;

pub const URI: &str = "urn:attache:extension:replay:v1";

/// Carries a cursor in: a header, or gRPC metadata of the same name.
pub const CURSOR_HEADER: &str = "a2a-replay-cursor";

/// The index of an encoding with marks; `plain` is its index without.
pub fn marked_index(plain: usize) -> usize {
    MARKED_OFFSET + plain
}

/// Above the indexes of all encodings without marks.
const MARKED_OFFSET: usize = 64;

/// Encodes a cursor for clients.
pub fn encode_cursor(epoch: &str, seq: Seq) -> String {
    format!("{epoch}.{seq}")
}

/// Parses an encoded cursor, or a bare number, the id of an SSE event.
pub fn parse_cursor(text: &str) -> Result<Cursor, Fault> {
    let text = text.trim();
    let (epoch, seq) = match text.rsplit_once('.') {
        Some((epoch, seq)) if !epoch.is_empty() => (Some(Arc::from(epoch)), seq),
        Some(_) => (None, ""),
        None => (None, text),
    };
    let bad = || Fault::BadCursor { given: text.chars().take(40).collect() };
    let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
    let seq = seq.parse().ok().filter(|_| is_number).ok_or_else(bad)?;
    Ok(Cursor { epoch, seq: Seq(seq) })
}

/// The position of a client in a log.
#[derive(Debug, Clone, Copy)]
pub struct ReplayMark<'a> {
    pub epoch: &'a str,
    pub seq: Seq,
    pub gap: Option<&'a ReplayGap>,
}

impl ReplayMark<'_> {
    /// The value under the extension's URI.
    pub fn value(&self) -> Value {
        let mut mark = json!({ "cursor": encode_cursor(self.epoch, self.seq) });
        if let Some(gap) = self.gap {
            mark["gap"] = gap_value(gap);
        }
        mark
    }
}

/// What the client missed for good, and why.
pub(crate) fn gap_value(ReplayGap { after, reason }: &ReplayGap) -> Value {
    let reason = match reason {
        GapReason::Trimmed => "trimmed",
        GapReason::OtherEpoch => "other-epoch",
        GapReason::Ahead => "ahead",
    };
    let after = match &after.epoch {
        Some(epoch) => encode_cursor(epoch, after.seq),
        None => after.seq.to_string(),
    };
    json!({ "after": after, "reason": reason })
}

/// Adds the mark to the item of a stream that begins at `start` of `out`.
pub fn add_mark_to_item(json_form: JsonForm, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
    edit_json(out, start, |item| {
        let inner = match json_form {
            JsonForm::V0_3Rpc => Some(item),
            JsonForm::V1_0 | JsonForm::V0_3Rest => item.values_mut().next().and_then(Value::as_object_mut),
        };
        if let Some(inner) = inner {
            add_mark(inner, mark);
        }
    });
}

/// Adds the mark to the bare task that begins at `start` of `out`.
pub fn add_mark_to_task(mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
    edit_json(out, start, |task| add_mark(task, mark));
}

fn edit_json(out: &mut Vec<u8>, start: usize, change: impl FnOnce(&mut Map<String, Value>)) {
    // Our own output is JSON; if not, it stays unchanged.
    let Ok(mut value) = serde_json::from_slice::<Value>(&out[start..]) else { return };
    if let Some(object) = value.as_object_mut() {
        change(object);
    }
    out.truncate(start);
    write_value(&value, out);
}

fn add_mark(object: &mut Map<String, Value>, mark: &ReplayMark<'_>) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert(URI.to_owned(), mark.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went_out() {
        let cursor = parse_cursor(&encode_cursor("a1b2", Seq(17))).unwrap();
        assert_eq!(cursor, Cursor { epoch: Some("a1b2".into()), seq: Seq(17) });
        assert_eq!(parse_cursor(" 17 ").unwrap(), Cursor { epoch: None, seq: Seq(17) });
        for bad in ["", ".", ".3", "a.", "a.-1", "a.+1", "x", "1.x", "a.99999999999999999999"] {
            assert!(matches!(parse_cursor(bad), Err(Fault::BadCursor { .. })), "{bad:?}");
        }
    }

    #[test]
    fn a_mark_joins_the_metadata_that_is_there() {
        let gap = ReplayGap {
            after: Cursor { epoch: Some("old".into()), seq: Seq(3) },
            reason: GapReason::OtherEpoch,
        };
        let mark = ReplayMark { epoch: "new", seq: Seq(9), gap: Some(&gap) };
        let marked = |json_form, item: Value| -> Value {
            let mut out = b"before ".to_vec();
            write_value(&item, &mut out);
            add_mark_to_item(json_form, &mark, &mut out, 7);
            assert!(out.starts_with(b"before "));
            serde_json::from_slice(&out[7..]).unwrap()
        };
        let expected = json!({ "cursor": "new.9", "gap": { "after": "old.3", "reason": "other-epoch" } });
        let bare = marked(JsonForm::V0_3Rpc, json!({ "kind": "task", "metadata": { "a": 1 } }));
        assert_eq!(bare["metadata"], json!({ "a": 1, URI: expected }));
        let wrapped = marked(JsonForm::V1_0, json!({ "statusUpdate": { "taskId": "t" } }));
        assert_eq!(wrapped["statusUpdate"]["metadata"], json!({ URI: expected }));
    }
}
