//! The client that answered a question about a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{MessageId, Scope};

/// Earlier versions stored client and message as one text, with this between them.
const IN_MESSAGE: &str = " in the message ";

/// The client that answered a question, as other clients are shown it.
///
/// ```
/// use attache_domain::{Answerer, MessageId, Scope};
///
/// let answerer = Answerer::new(&Scope::new("", "me"), Some("editor"), &MessageId::from("m1"));
/// assert_eq!(answerer.to_string(), "me (editor) in the message m1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredAnswerer", into = "StoredAnswerer")]
pub struct Answerer {
    /// The caller, and the name of its program in parentheses.
    pub client: String,
    /// The message with the answer, if it is known.
    pub message: Option<MessageId>,
}

impl Answerer {
    pub fn new(scope: &Scope, client: Option<&str>, message: &MessageId) -> Self {
        let program = client.map(|client| format!(" ({client})")).unwrap_or_default();
        Self { client: format!("{}{program}", scope.owner), message: Some(message.clone()) }
    }
}

impl fmt::Display for Answerer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.client)?;
        match &self.message {
            Some(message) => write!(formatter, "{IN_MESSAGE}{message}"),
            None => Ok(()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredAnswerer {
    Text(String),
    Parts { client: String, message: MessageId },
}

impl From<StoredAnswerer> for Answerer {
    fn from(stored: StoredAnswerer) -> Self {
        match stored {
            StoredAnswerer::Parts { client, message } => Self { client, message: Some(message) },
            StoredAnswerer::Text(text) => match text.rsplit_once(IN_MESSAGE) {
                Some((client, message)) => {
                    Self { client: client.to_owned(), message: Some(MessageId::from(message)) }
                }
                None => Self { client: text, message: None },
            },
        }
    }
}

impl From<Answerer> for StoredAnswerer {
    fn from(Answerer { client, message }: Answerer) -> Self {
        match message {
            Some(message) => Self::Parts { client, message },
            None => Self::Text(client),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(stored: Value, client: &str, message: Option<&str>, again: Value) {
        let read: Answerer = serde_json::from_value(stored).unwrap();
        assert_eq!((read.client.as_str(), read.message.clone()), (client, message.map(MessageId::from)));
        assert_eq!(serde_json::to_value(read).unwrap(), again);
    }

    #[test]
    fn earlier_stored_forms_stay_readable() {
        let parts = |client: &str| json!({"client": client, "message": "m1"});
        check(json!("me (ann) in the message m1"), "me (ann)", Some("m1"), parts("me (ann)"));
        check(
            json!("a in the message b in the message m1"),
            "a in the message b",
            Some("m1"),
            parts("a in the message b"),
        );
        check(json!("me"), "me", None, json!("me"));
    }

    #[test]
    fn no_name_of_a_client_can_pass_for_a_message() {
        let answerer = Answerer::new(
            &Scope::new("", "me"),
            Some("x in the message y"),
            &MessageId::from("m in the message n"),
        );
        let read: Answerer = serde_json::from_value(serde_json::to_value(&answerer).unwrap()).unwrap();
        assert_eq!(read, answerer);
    }
}
