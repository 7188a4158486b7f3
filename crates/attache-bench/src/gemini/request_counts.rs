//! Counts requests by searching them for a few words.

use std::time::Instant;

use memchr::memmem;
use serde::Serialize;

use super::answer_plan::AnswerPlan;

#[derive(Clone, Default, Serialize)]
pub(super) struct RequestCounts {
    /// Requests of the conversation itself.
    rounds: u64,
    /// Requests for a summary.
    summaries: u64,
    /// The number of newest results without the expected text, and one of them.
    unexpected: u64,
    first_unexpected: Option<String>,
    body_bytes: u64,
    largest_body_bytes: usize,
    largest_tokens: u64,
    /// The durations of calls, from the answer that made them, in microseconds. Only with one conversation at a time.
    result_micros: Vec<u64>,
    /// The time of the latest answer with calls.
    #[serde(skip)]
    called: Option<Instant>,
}

/// The number of this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestNumber {
    /// Counted from zero.
    Round(u64),
    Summary,
}

/// A request for a summary declares no tools and contains this text.
const SUMMARY: &[u8] = b"state_snapshot";
const DECLARED: &[u8] = b"functionDeclarations";
const RESULT: &[u8] = b"\"functionResponse\"";
/// The number of bytes of a result that are searched.
const SCANNED_BYTES: usize = 2000;

impl RequestCounts {
    pub(super) fn take(&mut self, body: &[u8], plan: &AnswerPlan) -> RequestNumber {
        self.body_bytes += body.len() as u64;
        self.largest_body_bytes = self.largest_body_bytes.max(body.len());
        self.largest_tokens = self.largest_tokens.max(plan.tokens_of(body.len()));
        // The tools are at the end of the body, the messages at the beginning.
        if memmem::rfind(body, DECLARED).is_none() && memmem::find(body, SUMMARY).is_some() {
            self.summaries += 1;
            return RequestNumber::Summary;
        }
        if let Some(called) = self.called.take() {
            self.result_micros.push(u64::try_from(called.elapsed().as_micros()).unwrap_or(u64::MAX));
        }
        if let Some(at) = memmem::rfind(body, RESULT) {
            let result = &body[at..body.len().min(at + SCANNED_BYTES)];
            if memmem::find(result, plan.expect.as_bytes()).is_none() {
                self.unexpected += 1;
                self.first_unexpected.get_or_insert_with(|| String::from_utf8_lossy(result).into_owned());
            }
        }
        self.rounds += 1;
        if plan.per_conversation {
            return RequestNumber::Round(memmem::find_iter(body, RESULT).count() as u64 / plan.calls.max(1));
        }
        RequestNumber::Round(self.rounds - 1)
    }
}

impl RequestCounts {
    /// Records that an answer with calls is sent now.
    pub(super) fn answered_with_calls(&mut self) {
        self.called = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_known_by_its_words_and_the_lack_of_tools() {
        let mut seen = RequestCounts::default();
        let mut take = |body: &str| seen.take(body.as_bytes(), &AnswerPlan::default());
        assert_eq!(take(r#"{"contents":"hi","tools":"functionDeclarations"}"#), RequestNumber::Round(0));
        assert_eq!(
            take(r#"{"contents":"hi","systemInstruction":"<state_snapshot>"}"#),
            RequestNumber::Summary
        );
        assert_eq!(
            take(r#"{"contents":"<state_snapshot>","tools":"functionDeclarations"}"#),
            RequestNumber::Round(1)
        );
        assert_eq!((seen.rounds, seen.summaries), (2, 1));
    }

    #[test]
    fn conversations_that_take_turns_are_told_apart_by_their_results() {
        let plan = AnswerPlan { per_conversation: true, calls: 2, ..AnswerPlan::default() };
        let mut seen = RequestCounts::default();
        let result = r#"{"functionResponse":{}}"#;
        for (results, round) in [(0, 0), (0, 0), (2, 1), (0, 0), (4, 2)] {
            assert_eq!(seen.take(result.repeat(results).as_bytes(), &plan), RequestNumber::Round(round));
        }
        assert_eq!(seen.rounds, 5);
    }

    #[test]
    fn only_the_newest_result_is_looked_at() {
        let plan = AnswerPlan { expect: "good".into(), ..AnswerPlan::default() };
        let mut seen = RequestCounts::default();
        seen.take(br#"{"functionResponse":"bad"},{"functionResponse":"good"}"#, &plan);
        assert_eq!(seen.unexpected, 0);
        seen.take(br#"{"functionResponse":"good"},{"functionResponse":"bad"}"#, &plan);
        assert_eq!(seen.unexpected, 1);
    }
}
