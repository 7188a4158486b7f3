//! The delivery status of a push configuration, as a header: A2A has no field for it.

use attache_domain::{PushState, StoredPushConfig};
use http::HeaderValue;
use serde_json::{Value, json};

/// The header; in gRPC, the metadata key.
pub(crate) const NAME: &str = "attache-push-state";

/// Many clients and proxies refuse longer headers.
const MAX_BYTES: usize = 6 << 10;
const MAX_ERROR_CHARS: usize = 200;

/// For one configuration.
pub(crate) fn of_one(kept: &StoredPushConfig) -> Option<HeaderValue> {
    HeaderValue::from_str(&ascii(&status_json(kept))).ok()
}

/// For a list, each with its id; those that do not fit are left out.
pub(crate) fn of_many(kept: &[StoredPushConfig]) -> Option<HeaderValue> {
    let mut text = String::from("[");
    for kept in kept {
        let mut status = status_json(kept);
        status["id"] = json!(kept.config.id.as_str());
        let one = ascii(&status);
        if text.len() + one.len() > MAX_BYTES {
            break;
        }
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&one);
    }
    text.push(']');
    HeaderValue::from_str(&text).ok()
}

fn status_json(kept: &StoredPushConfig) -> Value {
    let status = &kept.status;
    let state = match status.state {
        PushState::Delivering => "delivering",
        PushState::Waiting { .. } => "waiting",
        PushState::GaveUp => "gave_up",
    };
    let mut shown = json!({"state": state, "delivered": status.delivered.0, "failures": status.failures});
    if let Some(error) = &status.last_error {
        shown["trouble"] = json!(error.chars().take(MAX_ERROR_CHARS).collect::<String>());
    }
    if let PushState::Waiting { until } = status.state {
        shown["next_try"] = json!(until.to_string());
    }
    shown
}

/// JSON in printable ASCII.
fn ascii(value: &Value) -> String {
    let mut out = String::new();
    for character in value.to_string().chars() {
        if (' '..='~').contains(&character) {
            out.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use attache_domain::{PushConfig, PushStatus, Seq};

    use super::*;

    fn kept(id: &str, status: PushStatus) -> StoredPushConfig {
        let config =
            PushConfig { id: id.into(), url: "https://a.test".into(), token: None, authentication: None };
        StoredPushConfig { task: "t".into(), config, status }
    }

    #[test]
    fn a_state_is_one_line_of_json_that_fits_a_header() {
        let until = "2026-11-15T20:00:00Z".parse().unwrap();
        let status = PushStatus {
            state: PushState::Waiting { until },
            delivered: Seq(7),
            failures: 2,
            last_error: Some("gr\u{f6}\u{df}er\n\u{1f600}".into()),
        };
        let header = of_one(&kept("c", status)).unwrap();
        let expected = json!({"state": "waiting", "delivered": 7, "failures": 2, "trouble": "gr\u{f6}\u{df}er\n\u{1f600}",
            "next_try": "2026-11-15T20:00:00Z"});
        assert_eq!(serde_json::from_slice::<Value>(header.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn a_list_names_each_and_stays_short() {
        let list: Vec<_> = (0..500).map(|number| kept(&number.to_string(), PushStatus::default())).collect();
        let header = of_many(&list).unwrap();
        assert!(header.len() <= MAX_BYTES + 1);
        let shown: Value = serde_json::from_slice(header.as_bytes()).unwrap();
        assert_eq!((&shown[0]["id"], &shown[1]["state"]), (&json!("0"), &json!("delivering")));
        assert_eq!(of_many(&[]).unwrap(), "[]");
    }
}
