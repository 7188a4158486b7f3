//! How clients of each dialect answer about a call.

use serde_json::{Value, json};

/// In whose words a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    Plain,
    Rfc,
    Gemini,
}

impl Words {
    pub const ALL: [Self; 3] = [Self::Plain, Self::Rfc, Self::Gemini];

    /// The data that answers about a call.
    pub fn chosen(self, call: &str, choice: &str) -> Value {
        match self {
            Self::Plain => json!({"call": call, "choice": choice}),
            Self::Rfc => json!({"tool_call_id": call, "selected_option_id": choice}),
            Self::Gemini => json!({"callId": call, "outcome": choice}),
        }
    }
}
