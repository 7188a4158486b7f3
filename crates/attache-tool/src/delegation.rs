//! Counts the agents that a request has passed, and limits them: agents may delegate to each other in a circle.

use attache_domain::{Fault, Message, Role, TaskView};
use serde_json::{Value, json};

/// Member of a message's metadata: `{"depth": 1, "chain": ["https://host#name"]}`. An agent that delegates adds one to the depth
/// and the agent it asks to the chain.
pub const DELEGATION: &str = "attache/delegation";

/// Messages from further away are refused.
pub const MAX_DELEGATION_DEPTH: u32 = 3;

/// Stands between the origins of a call that may go to one of several.
pub const BETWEEN_ORIGINS: &str = " or ";

/// The name under which a conversation keeps where its next call to an agent goes on.
pub fn agent_state_key(agent: &str) -> String {
    format!("agent:{agent}")
}

/// Far more than any chain that is short enough.
const MAX_CHAIN: usize = 16;
const MAX_NAME_BYTES: usize = 2_048;

/// The agents that delegated before this one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delegation {
    pub depth: u32,
    /// The agents that were asked, the first one first, as `ORIGIN#NAME`.
    pub chain: Vec<String>,
}

impl Delegation {
    /// The chain in `message`; none if it has none. Refuses malformed and too deep chains.
    pub fn of(message: &Message) -> Result<Self, Fault> {
        let Some(value) = message.metadata.as_ref().and_then(|metadata| metadata.get(DELEGATION)) else {
            return Ok(Self::default());
        };
        let wrong = |what: String| Fault::invalid(format!("message.metadata.{DELEGATION}"), what);
        let read = Self::read(value).ok_or_else(|| {
            wrong(format!(
                "must be an object with the number \"depth\" and a list \"chain\" of at most {MAX_CHAIN} texts"
            ))
        })?;
        if read.depth > MAX_DELEGATION_DEPTH {
            return Err(wrong(format!(
                "says that {} agents delegated this, one after the other; at most {MAX_DELEGATION_DEPTH} may",
                read.depth
            )));
        }
        Ok(read)
    }

    fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let depth = u32::try_from(members.get("depth")?.as_u64()?).unwrap_or(u32::MAX);
        let items = match members.get("chain") {
            None => &Vec::new(),
            Some(chain) => chain.as_array()?,
        };
        let name =
            |item: &Value| item.as_str().filter(|name| name.len() <= MAX_NAME_BYTES).map(str::to_owned);
        let chain: Option<Vec<String>> = items.iter().map(name).collect();
        Some(Self { depth, chain: chain.filter(|chain| chain.len() <= MAX_CHAIN)? })
    }

    /// The chain in the latest message of a client to the task.
    pub fn of_task(view: &TaskView) -> Self {
        let latest = view.history.iter().rev().find(|message| message.role == Role::User);
        latest.and_then(|message| Self::of(message).ok()).unwrap_or_default()
    }

    /// The value of [`DELEGATION`] for a message.
    pub fn to_value(&self) -> Value {
        json!({ "depth": self.depth, "chain": self.chain })
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::Metadata;

    use super::*;

    fn read(value: Value) -> Result<Delegation, String> {
        let message = Message {
            metadata: Some(Metadata::from_iter([(DELEGATION.to_owned(), value)])),
            ..Message::from_agent("m".into(), "c".into(), None, "Hello")
        };
        Delegation::of(&message).map_err(|fault| fault.to_string())
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        let delegation = Delegation { depth: 3, chain: vec!["https://a.example#one".into()] };
        assert_eq!(read(delegation.to_value()), Ok(delegation));
        assert_eq!(read(json!({"depth": 1})), Ok(Delegation { depth: 1, chain: vec![] }));
        let message = Message::from_agent("m".into(), "c".into(), None, "Hello");
        assert_eq!(Delegation::of(&message), Ok(Delegation::default()));
    }

    #[test]
    fn what_came_too_far_or_cannot_be_read_is_refused() {
        for far in [json!({"depth": 4}), json!({"depth": u64::MAX, "chain": []})] {
            assert!(read(far).unwrap_err().contains("at most 3 may"));
        }
        for wrong in [
            json!("x"),
            json!({}),
            json!({"depth": -1}),
            json!({"depth": 1.5}),
            json!({"depth": 1, "chain": "a"}),
            json!({"depth": 1, "chain": [7]}),
            json!({"depth": 1, "chain": vec!["a"; 17]}),
            json!({"depth": 1, "chain": ["a".repeat(2_049)]}),
        ] {
            let refused = read(wrong.clone()).unwrap_err();
            assert!(
                refused.contains("message.metadata.attache/delegation must be an object"),
                "{wrong}: {refused}"
            );
        }
    }
}
