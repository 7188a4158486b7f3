//! Converts the conversation into a history that providers accept.
//!
//! Providers refuse a history with unpaired calls and results, or with ids in another format. The agent pairs calls
//! and results. Remaining mismatches, for example after a crash or from another provider, are repaired here, because
//! every later request would be refused as well.

use std::collections::HashSet;
use std::sync::Arc;

use attache_domain::{CallId, Content, Exchange, ModelPart, ModelPartContent, ToolCall, ToolResult};

pub(crate) const NO_RESULT: &str =
    "This call was interrupted and has no result. Whether it had any effect is unknown.";

/// The user's message for a provider that requires one.
pub(crate) const GO_ON: &str = "Please go on.";

/// One message of the history. Results follow directly after the answer with their calls.
#[derive(Debug)]
pub(crate) enum HistoryMessage<'a> {
    User(&'a [Content]),
    Model(Vec<AnswerPart<'a>>),
    Results(Vec<CallWithResult<'a>>),
}

/// A part of an answer.
#[derive(Debug)]
pub(crate) struct AnswerPart<'a> {
    pub(crate) model_part: &'a ModelPart,
    /// The id of a call, in the provider's format.
    pub(crate) id: String,
    /// Whether it belongs to the current turn.
    pub(crate) current: bool,
}

/// A call with its result.
#[derive(Debug)]
pub(crate) struct CallWithResult<'a> {
    pub(crate) id: String,
    pub(crate) call: &'a ToolCall,
    pub(crate) result: Option<&'a ToolResult>,
}

pub(crate) fn history_messages(exchanges: &[Arc<Exchange>]) -> Vec<HistoryMessage<'_>> {
    let latest = exchanges.iter().rposition(|exchange| matches!(**exchange, Exchange::User(_))).unwrap_or(0);
    let mut builder = HistoryBuilder { messages: Vec::new(), pending: Vec::new(), ids: CallIds::default() };
    for (index, exchange) in exchanges.iter().enumerate() {
        match &**exchange {
            Exchange::User(content) => {
                builder.settle(&[]);
                builder.messages.push(HistoryMessage::User(content));
            }
            Exchange::Model(parts) => {
                builder.settle(&[]);
                builder.model(parts, index > latest);
            }
            Exchange::Results(results) => builder.settle(results),
        }
    }
    builder.settle(&[]);
    builder.messages
}

struct HistoryBuilder<'a> {
    messages: Vec<HistoryMessage<'a>>,
    /// The calls of the latest answer.
    pending: Vec<(String, &'a ToolCall)>,
    ids: CallIds,
}

impl<'a> HistoryBuilder<'a> {
    fn model(&mut self, model_parts: &'a [ModelPart], current: bool) {
        let mut parts = Vec::new();
        for model_part in model_parts {
            let mut id = String::new();
            if let ModelPartContent::Call(call) = &model_part.what {
                id = self.ids.encode(&call.id);
                self.pending.push((id.clone(), call));
            }
            parts.push(AnswerPart { model_part, id, current });
        }
        self.messages.push(HistoryMessage::Model(parts));
    }

    /// Answers every pending call with its entry in `results`, or without a result.
    fn settle(&mut self, results: &'a [ToolResult]) {
        let pending = std::mem::take(&mut self.pending);
        let settled: Vec<_> = pending
            .into_iter()
            .map(|(id, call)| {
                let result = results.iter().find(|result| result.call == call.id);
                CallWithResult { id, call, result }
            })
            .collect();
        if !settled.is_empty() {
            self.messages.push(HistoryMessage::Results(settled));
        }
    }
}

/// The ids of one history, each used once. Deterministic, so that the provider's cache stays valid.
#[derive(Default)]
struct CallIds {
    used: HashSet<String>,
    count: usize,
}

/// OpenAI's maximum.
const MAX_ID_LENGTH: usize = 40;

impl CallIds {
    fn encode(&mut self, id: &CallId) -> String {
        let fits = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        let valid = !id.0.is_empty() && id.0.len() <= MAX_ID_LENGTH && id.0.chars().all(fits);
        if valid && self.used.insert(id.0.clone()) {
            return id.0.clone();
        }
        loop {
            self.count += 1;
            let made_up = format!("call_{}", self.count);
            if self.used.insert(made_up.clone()) {
                return made_up;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;

    fn calls(ids: &[&str]) -> Exchange {
        let call = |id: &&str| {
            let call = ToolCall { id: CallId((*id).into()), name: "a".into(), input: Map::new() };
            ModelPart { what: ModelPartContent::Call(call), opaque: None }
        };
        Exchange::Model(ids.iter().map(call).collect())
    }

    fn results(ids: &[&str]) -> Exchange {
        let result = |id: &&str| ToolResult {
            call: CallId((*id).into()),
            name: "a".into(),
            output: vec![],
            failed: false,
        };
        Exchange::Results(ids.iter().map(result).collect())
    }

    fn user() -> Exchange {
        Exchange::User(vec![Content::Text("q".into())])
    }

    /// `u` for the user, `m(ids)` for an answer, `r(ids)` for results, where a missing one has a `!`.
    #[track_caller]
    fn check(exchanges: Vec<Exchange>, expected: &str) {
        let exchanges: Vec<_> = exchanges.into_iter().map(Arc::new).collect();
        let messages = history_messages(&exchanges);
        let shown = messages.iter().map(|message| match message {
            HistoryMessage::User(_) => "u".to_owned(),
            HistoryMessage::Model(parts) => {
                let ids: Vec<_> = parts.iter().map(|part| part.id.as_str()).collect();
                format!("m({})", ids.join(" "))
            }
            HistoryMessage::Results(settled) => {
                let mark = |settled: &CallWithResult<'_>| match settled.result {
                    Some(_) => settled.id.clone(),
                    None => format!("{}!", settled.id),
                };
                format!("r({})", settled.iter().map(mark).collect::<Vec<_>>().join(" "))
            }
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn every_call_has_one_result_in_order() {
        check(vec![user(), calls(&["x", "y"]), results(&["y", "x"])], "u m(x y) r(x y)");
        check(vec![user(), calls(&["x", "y"]), results(&["y"]), user()], "u m(x y) r(x! y) u");
        check(vec![user(), calls(&["x"])], "u m(x) r(x!)");
        check(vec![user(), calls(&["x"]), calls(&["y"]), results(&["y"])], "u m(x) r(x!) m(y) r(y)");
        check(vec![user(), results(&["stray"])], "u");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_history_comes_out_in_order(
            history in proptest::collection::vec((0..3, proptest::collection::vec("[ab]{0,2}|.{0,50}", 0..4)), 0..8),
        ) {
            let exchange = |(kind, ids): &(i32, Vec<String>)| {
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                Arc::new(match kind {
                    0 => user(),
                    1 => calls(&ids),
                    _ => results(&ids),
                })
            };
            let exchanges: Vec<_> = history.iter().map(exchange).collect();
            let (mut seen, mut open): (HashSet<String>, Vec<String>) = Default::default();
            for message in history_messages(&exchanges) {
                match message {
                    HistoryMessage::User(_) => prop_assert!(open.is_empty()),
                    HistoryMessage::Model(parts) => {
                        prop_assert!(open.is_empty());
                        open = parts.into_iter().map(|part| part.id).collect();
                        for id in &open {
                            prop_assert!(seen.insert(id.clone()), "{} comes twice", id);
                            prop_assert!(!id.is_empty() && id.len() <= MAX_ID_LENGTH && id.is_ascii());
                        }
                    }
                    HistoryMessage::Results(settled) => {
                        let ids: Vec<String> = settled.into_iter().map(|settled| settled.id).collect();
                        prop_assert_eq!(ids, std::mem::take(&mut open));
                    }
                }
            }
            prop_assert!(open.is_empty());
        }
    }

    #[test]
    fn ids_are_made_valid_and_unique() {
        let long = "x".repeat(41);
        check(
            vec![user(), calls(&["a b", &long]), results(&[&long])],
            "u m(call_1 call_2) r(call_1! call_2)",
        );
        let twice = vec![user(), calls(&["x"]), results(&["x"]), calls(&["x"]), results(&["x"])];
        check(twice, "u m(x) r(x) m(call_1) r(call_1)");
        check(vec![user(), calls(&["", "call_1"])], "u m(call_1 call_2) r(call_1! call_2!)");
    }
}
