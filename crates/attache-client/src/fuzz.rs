//! Ways in for arbitrary bytes: whatever they are, nothing here may panic, and what was understood holds.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use attache_net::Url;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::binding::{Binding, Endpoint};
use crate::sse::{SseEvent, SseEventTooLarge, SseParser};
use crate::{AgentCard, Event, Message, Task, TaskPage};

/// Small enough that a generated stream passes it now and then.
const LIMIT: usize = 1000;

/// A stream of events: wherever its bytes are cut, the same events come out of it, and none is too large.
pub fn events(stream: &[u8]) {
    let whole = frames(stream.chunks(stream.len().max(1)));
    for size in [1, 3, 64] {
        let cut = frames(stream.chunks(size));
        // Where a line that is too long is noticed depends on how much of it came at once.
        if whole.1.is_ok() && cut.1.is_ok() {
            assert_eq!(cut.0, whole.0, "in pieces of {size}");
        }
    }
    for frame in whole.0 {
        // Bytes that are no text become a sign of three bytes each.
        assert!(frame.data.len() <= 3 * LIMIT);
    }
}

fn frames<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<SseEvent>, Result<(), SseEventTooLarge>) {
    let mut parser = SseParser::new(LIMIT);
    let mut read = Ok(());
    for piece in pieces {
        read = parser.push(piece);
        if read.is_err() {
            break;
        }
    }
    (std::iter::from_fn(|| parser.next_event()).collect(), read)
}

/// What servers answer: read, written and read again, it is the same.
pub fn answers(text: &[u8]) {
    stays::<Event>(text);
    stays::<Task>(text);
    stays::<TaskPage>(text);
    stays::<Message>(text);
    if let Ok(card) = serde_json::from_slice::<AgentCard>(text) {
        let _ = card.choose();
    }
    if let Ok(event) = serde_json::from_slice::<Event>(text) {
        let _ = (event.cursor(), event.gap(), event.task_id(), event.state());
    }
    if let Ok(body) = serde_json::from_slice(text) {
        opened(&body);
    }
}

/// The envelope of an answer: what it says went wrong is told at bounded length.
fn opened(body: &Value) {
    let url = Url::parse("http://127.0.0.1/").expect("a URL");
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        let endpoint = Endpoint { binding, url: url.clone(), tenant: None };
        for status in [200, 401, 404, 503] {
            match endpoint.open(status, body.clone()) {
                Ok(_) => assert!(status == 200 && !body["error"].is_object()),
                Err(error) => assert!(error.to_string().chars().count() <= 2000, "{error}"),
            }
        }
    }
}

fn stays<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(text: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(text) else { return };
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    let again: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(again, read);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "1",
        "-0.0",
        "1e999",
        "null",
        "true",
        r#""""#,
        r#""a""#,
        r#""\u0000""#,
        "data: ",
        "data:",
        "id: 1",
        "event: x",
        ": c",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        r#""task":"#,
        r#""id":"#,
        r#""status":"#,
        r#""state":"#,
        r#""TASK_STATE_WORKING""#,
        r#""message":"#,
        r#""parts":"#,
        r#""text":"#,
        r#""messageId":"#,
        r#""role":"#,
        r#""ROLE_AGENT""#,
        r#""taskId":"#,
    ];

    fn all(bytes: &[u8]) {
        events(bytes);
        answers(bytes);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            all(&bytes);
        }

        #[test]
        fn likely_texts_do_no_harm(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
            all(words.concat().as_bytes());
        }
    }
}
