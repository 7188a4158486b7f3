//! The ids of the messages that a call sends: the same ones after a restart, so that an agent can recognise them.

use sha2::{Digest, Sha256};
use uuid::Builder;

/// The id of the message with this number in a call. `call` names the call among all calls of all tasks.
pub(crate) fn message_id(call: &[&str], number: u32, text: &str) -> String {
    let mut hash = Sha256::new();
    for part in call.iter().chain(&[text]) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(number.to_be_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_for_the_same_message_only() {
        let id = message_id(&["task", "call"], 0, "hi");
        assert_eq!(id, message_id(&["task", "call"], 0, "hi"));
        for other in [
            message_id(&["task", "call"], 1, "hi"),
            message_id(&["task", "call"], 0, "ho"),
            message_id(&["task", "cal"], 0, "lhi"),
            message_id(&["taskc", "all"], 0, "hi"),
        ] {
            assert_ne!(id, other);
        }
    }
}
