//! The model behind the agent's figures: a process that answers like Gemini, at once and by a plan.

use std::fmt::Write;

use serde_json::Value;

use super::server::Server;

/// The name of the model in the settings; its window is Gemini's usual one.
pub(super) const NAME: &str = "gemini-2.5-flash";

pub(super) struct Model {
    pub(super) server: Server,
}

/// How answers look. What is left out is zero, and the model's own habit then counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AnswerPlan<'a> {
    /// Pieces of an answer in words.
    pub(super) chunks: usize,
    pub(super) interval_ms: usize,
    pub(super) tool: &'a str,
    /// Calls in an answer that has some.
    pub(super) calls: usize,
    /// So many answers with calls, then one in words, and so on.
    pub(super) call_rounds: usize,
    /// Many conversations at a time, each with its own rounds.
    pub(super) per_conversation: bool,
    /// What every result must hold.
    pub(super) expect: &'a str,
    /// How the model counts a prompt's length.
    pub(super) tokens_per_byte: f64,
}

/// What was asked since the last plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RequestCounts {
    pub(super) rounds: f64,
    pub(super) summaries: f64,
    pub(super) largest_tokens: f64,
    /// The median time from an answer with calls to their results, in microseconds.
    pub(super) result_p50_us: f64,
}

impl Model {
    pub(super) fn plan(&self, plan: AnswerPlan<'_>) -> Result<(), String> {
        self.server.get(&plan.path()).map(drop)
    }

    /// Fails if a tool gave something else than was expected: a fast error is no figure.
    pub(super) fn seen(&self) -> Result<RequestCounts, String> {
        let answer = self.server.get("/seen")?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        seen_in(body)
    }
}

impl AnswerPlan<'_> {
    fn path(&self) -> String {
        let mut path = String::from("/plan?");
        let numbers = [
            ("chunks", self.chunks),
            ("interval_ms", self.interval_ms),
            ("calls", self.calls),
            ("call_rounds", self.call_rounds),
        ];
        // Writing to a string cannot fail.
        for (key, value) in numbers.into_iter().filter(|(_, value)| *value > 0) {
            let _ = write!(path, "{key}={value}&");
        }
        for (key, value) in [("tool", self.tool), ("expect", self.expect)] {
            if !value.is_empty() {
                let _ = write!(path, "{key}={value}&");
            }
        }
        if self.per_conversation {
            path.push_str("per_conversation=true&");
        }
        if self.tokens_per_byte > 0.0 {
            let _ = write!(path, "tokens_per_byte={}", self.tokens_per_byte);
        }
        path
    }
}

fn seen_in(body: &str) -> Result<RequestCounts, String> {
    let seen: Value =
        serde_json::from_str(body).map_err(|error| format!("the model said `{body}`: {error}"))?;
    let number = |key: &str| seen[key].as_f64().unwrap_or_default();
    if number("unexpected") > 0.0 {
        return Err(format!("tools gave something unexpected: {}", seen["first_unexpected"]));
    }
    Ok(RequestCounts {
        rounds: number("rounds"),
        summaries: number("summaries"),
        largest_tokens: number("largest_tokens"),
        result_p50_us: middle(&seen["result_micros"]),
    })
}

/// The number in the middle; zero without any.
fn middle(numbers: &Value) -> f64 {
    let mut numbers: Vec<f64> = numbers.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_encoded_without_default_values() {
        let plan = AnswerPlan { chunks: 3, tool: "read_file", tokens_per_byte: 0.5, ..AnswerPlan::default() };
        assert_eq!(plan.path(), "/plan?chunks=3&tool=read_file&tokens_per_byte=0.5");
    }

    #[test]
    fn an_unexpected_result_is_no_figure() {
        let good = r#"{"rounds":7,"summaries":2,"unexpected":0,"largest_tokens":90,"result_micros":[9,1,5]}"#;
        assert_eq!(
            seen_in(good).unwrap(),
            RequestCounts { rounds: 7.0, summaries: 2.0, largest_tokens: 90.0, result_p50_us: 5.0 }
        );
        let bad = r#"{"rounds":7,"unexpected":1,"first_unexpected":"no such file"}"#;
        assert!(seen_in(bad).unwrap_err().contains("no such file"));
        assert!(seen_in("").is_err());
    }
}
