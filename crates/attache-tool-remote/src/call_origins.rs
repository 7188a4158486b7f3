//! Where the calls of an agent go, which is what a person approves.
//!
//! A card may lead to other origins than its own. While it is not known, a person is shown every origin to which it may lead.

use attache_client::Origin;
use attache_tool::{BETWEEN_ORIGINS, ToolError, ToolErrorKind};

#[derive(Debug)]
pub(crate) struct CallOrigins(Vec<Origin>);

impl CallOrigins {
    /// Each once. One that is the same as `card` has the spelling of the configuration.
    pub(crate) fn new(card: Option<&Origin>, origins: impl IntoIterator<Item = Origin>) -> Self {
        let mut all: Vec<Origin> = Vec::new();
        for origin in origins {
            let origin = card.filter(|card| **card == origin).cloned().unwrap_or(origin);
            if !all.contains(&origin) {
                all.push(origin);
            }
        }
        Self(all)
    }

    /// As people and rules see it: `https://a.example or https://b.example`.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.split(BETWEEN_ORIGINS).filter_map(|origin| Origin::parse(origin).ok()).collect())
    }

    /// Calls that may go to `self` may go to `others`.
    pub(crate) fn cover(&self, others: &Self) -> bool {
        others.0.iter().all(|origin| self.0.contains(origin))
    }

    pub(crate) fn has_any_of(&self, others: &Self) -> bool {
        others.0.iter().any(|origin| self.0.contains(origin))
    }

    pub(crate) fn is_one(&self) -> bool {
        self.0.len() <= 1
    }

    pub(crate) fn contains(&self, origin: &str) -> bool {
        Origin::parse(origin).is_ok_and(|origin| self.0.contains(&origin))
    }
}

/// An approval counts for the origins that were shown.
pub(crate) fn not_approved(agent: &str, approved: &CallOrigins, now: &CallOrigins) -> ToolError {
    let why = format!(
        "{agent} is not asked: the call was approved for {approved}, and the agent is at {now} now; call it again to have that \
         approved"
    );
    ToolError::new(ToolErrorKind::PolicyViolation, why)
}

impl std::fmt::Display for CallOrigins {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origins: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(if origins.is_empty() { "unknown" } else { "" })?;
        formatter.write_str(&origins.join(BETWEEN_ORIGINS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_what_is_approved() {
        let origin = |text: &str| Origin::parse(text).unwrap();
        let (card, other) = (origin("http://localhost:1"), origin("https://b.example"));
        let all = CallOrigins::new(Some(&card), [origin("http://127.0.0.1:1"), other.clone(), card.clone()]);
        assert_eq!(all.to_string(), "http://localhost:1 or https://b.example");
        let approved = CallOrigins::parse(&all.to_string());
        let one = CallOrigins::new(Some(&card), [other]);
        assert!(approved.cover(&all) && approved.cover(&one) && !one.cover(&all) && one.has_any_of(&all));
        assert!(approved.contains("http://127.0.0.1:1") && !one.contains("http://localhost:1"));
        assert!(!CallOrigins::parse("unknown").has_any_of(&all));
    }
}
