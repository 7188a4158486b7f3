//! Entry points for arbitrary bytes: nothing here may panic, and decoded responses keep their meaning.
//!
//! Called by this crate's tests and by the targets in the folder `fuzz`.

use attache_credentials::CardSecurity;
use attache_domain::Binding;
use attache_net::Url;
use attache_wire::Version;
use attache_wire::client::{Protocol, StreamEvent};

use crate::ClientOptions;
use crate::choice::choose;
use crate::discovery::{self, FoundCard};

/// Decodes a response in every protocol. What A2A 1.0 decodes and writes again stays the same.
pub fn answers(text: &[u8]) {
    if let Ok(document) = attache_card::parse(text)
        && let Ok(card) = discovery::read(&document)
    {
        let url = Url::parse("https://a.example/.well-known/agent-card.json").ok();
        let found = FoundCard {
            card,
            security: CardSecurity::of_card(&document),
            given: url.clone(),
            url,
            notices: Vec::new(),
        };
        let _ = choose(&found, &ClientOptions::default());
    }
    for version in Version::ALL {
        for binding in [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc] {
            let protocol = Protocol::new(version, binding);
            for status in [200, 401, 404, 503] {
                decode(protocol, status, text);
            }
        }
    }
    stays(text);
}

/// Errors have a bounded length.
fn decode(protocol: Protocol, status: u16, text: &[u8]) {
    let errors = [
        protocol.decode_task(status, text).err(),
        protocol.decode_page(status, text).err(),
        protocol.decode_event(status, text).err(),
        protocol.decode_push_config(status, text).err(),
        protocol.decode_push_configs(status, text).err(),
        protocol.decode_card(status, text).err(),
        protocol.decode_nothing(status, text).err(),
    ];
    for error in errors.into_iter().flatten() {
        let error = crate::ClientError::from(error);
        assert!(error.to_string().chars().count() <= 5000, "{error}");
    }
    if let Ok(event) = protocol.decode_event(status, text) {
        assert!((200..300).contains(&status));
        let _ = (event.cursor(), event.gap(), event.task_id());
    }
}

fn stays(text: &[u8]) {
    let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
    let Ok(event) = protocol.decode_event(200, text) else { return };
    let again = protocol.decode_event(200, event.to_json().to_string().as_bytes());
    assert_eq!(again.as_ref(), Ok(&event));
    if let StreamEvent::Task(task) = event {
        assert_eq!(protocol.decode_task(200, task.to_json().to_string().as_bytes()), Ok(*task));
    }
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Pieces of responses, so that generated texts get past the first token.
    const WORDS: &[&str] = &[
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

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(answers);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(&[JSON_WORDS, WORDS].concat(), 40, answers);
    }
}
