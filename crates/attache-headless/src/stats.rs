//! The statistics of a run, computed from its events.

use std::collections::{BTreeMap, HashMap};

use attache_domain::{
    AGENT_MODEL, COMMAND_MODEL, CallId, CallOutcome, Event, Fact, FinishedCall, ModelAnswer,
    ModelPartContent, Timestamp, ToolCall, Verdict,
};
use serde::Serialize;

#[derive(Debug, Default)]
pub(crate) struct StatsCollector {
    pub(crate) stats: Stats,
    /// Since when the model has been thinking.
    thinking_since: Option<Timestamp>,
    /// Faults of the model that passed, until it is known whose they are.
    faults: u64,
    calls: HashMap<CallId, OpenCall>,
}

#[derive(Debug, Default)]
struct OpenCall {
    name: String,
    started: Option<Timestamp>,
    decision: Option<Decision>,
}

#[derive(Debug, Clone, Copy)]
enum Decision {
    Accept,
    Reject,
    Modify,
}

#[derive(Debug, Default, Serialize)]
pub struct Stats {
    pub models: BTreeMap<String, ModelStats>,
    pub tools: ToolStats,
    pub files: FileStats,
}

#[derive(Debug, Default, Serialize)]
pub struct ModelStats {
    pub api: ApiStats,
    pub tokens: TokenStats,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiStats {
    pub total_requests: u64,
    pub total_errors: u64,
    pub total_latency_ms: u64,
}

#[derive(Debug, Default, Serialize)]
pub struct TokenStats {
    /// Of the prompt, without what was cached.
    pub input: u64,
    pub prompt: u64,
    /// Of the answer, without thoughts.
    pub candidates: u64,
    pub total: u64,
    pub cached: u64,
    pub thoughts: u64,
    pub tool: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStats {
    pub total_calls: u64,
    pub total_success: u64,
    pub total_fail: u64,
    pub total_duration_ms: u64,
    pub total_decisions: DecisionStats,
    pub by_name: BTreeMap<String, PerToolStats>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PerToolStats {
    pub count: u64,
    pub success: u64,
    pub fail: u64,
    pub duration_ms: u64,
    pub decisions: DecisionStats,
}

#[derive(Debug, Default, Serialize)]
pub struct DecisionStats {
    accept: u64,
    reject: u64,
    modify: u64,
    auto_accept: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileStats {
    pub total_lines_added: u64,
    pub total_lines_removed: u64,
}

/// How the agent says that it asks the model again; other notices are about other things.
const ONCE_MORE: &str = "trying again";

impl StatsCollector {
    pub(crate) fn take(&mut self, event: &Event) {
        match &event.fact {
            Fact::TurnStarted { .. } => self.thinking_since = Some(event.at),
            Fact::Noticed { message } if message.text().contains(ONCE_MORE) => self.faults += 1,
            Fact::ModelAnswered(answer) => self.take_answer(answer, event.at),
            Fact::CallAnswered { call, answer } => {
                let decision = match answer.verdict {
                    Verdict::Proceed if answer.new_content.is_some() => Decision::Modify,
                    Verdict::Proceed => Decision::Accept,
                    _ => Decision::Reject,
                };
                self.calls.entry(call.clone()).or_default().decision = Some(decision);
            }
            Fact::CallStarted { call, .. } => {
                self.calls.entry(call.clone()).or_default().started = Some(event.at);
            }
            Fact::CallFinished(finished) => self.take_result(finished, event.at),
            _ => {}
        }
    }

    /// The model gave no answer at all: that was a request, too.
    pub(crate) fn model_failed(&mut self, model: &str, at: Timestamp) {
        let latency = self.thinking_since.take().map_or(0, |since| milliseconds(since, at));
        let faults = std::mem::take(&mut self.faults) + 1;
        let api = &mut self.stats.models.entry(model.to_owned()).or_default().api;
        api.total_requests += faults;
        api.total_errors += faults;
        api.total_latency_ms += latency;
    }

    fn take_answer(&mut self, answer: &ModelAnswer, at: Timestamp) {
        let latency = self.thinking_since.take().map_or(0, |since| milliseconds(since, at));
        // A command wants tools as a model does, and costs nothing.
        if ![COMMAND_MODEL, AGENT_MODEL].contains(&answer.model.as_str()) {
            self.take_cost(answer, latency);
        }
        for part in &answer.parts {
            if let ModelPartContent::Call(ToolCall { id, name, .. }) = &part.what {
                self.calls.entry(id.clone()).or_default().name.clone_from(name);
            }
        }
    }

    fn take_cost(&mut self, answer: &ModelAnswer, latency: u64) {
        let faults = std::mem::take(&mut self.faults);
        let model = self.stats.models.entry(answer.model.clone()).or_default();
        model.api.total_requests += 1 + faults;
        model.api.total_errors += faults;
        model.api.total_latency_ms += latency;
        let (tokens, usage) = (&mut model.tokens, &answer.usage);
        tokens.input += usage.input.saturating_sub(usage.cached);
        tokens.prompt += usage.input;
        tokens.candidates += usage.output.saturating_sub(usage.thoughts);
        tokens.total += usage.input + usage.output;
        tokens.cached += usage.cached;
        tokens.thoughts += usage.thoughts;
    }

    fn take_result(&mut self, finished: &FinishedCall, at: Timestamp) {
        // Once the last call is over, the model thinks again.
        self.thinking_since = Some(at);
        let open = self.calls.remove(&finished.call).unwrap_or_default();
        let duration = open.started.map_or(0, |since| milliseconds(since, at));
        let succeeded = finished.outcome == CallOutcome::Succeeded;
        let tools = &mut self.stats.tools;
        let tool = tools.by_name.entry(open.name).or_default();
        let (success, fail) = if succeeded { (1, 0) } else { (0, 1) };
        tool.count += 1;
        tool.success += success;
        tool.fail += fail;
        tool.duration_ms += duration;
        tools.total_calls += 1;
        tools.total_success += success;
        tools.total_fail += fail;
        tools.total_duration_ms += duration;
        for decisions in [&mut tool.decisions, &mut tools.total_decisions] {
            match open.decision {
                Some(Decision::Accept) => decisions.accept += 1,
                Some(Decision::Reject) => decisions.reject += 1,
                Some(Decision::Modify) => decisions.modify += 1,
                None if open.started.is_some() => decisions.auto_accept += 1,
                None => decisions.reject += 1,
            }
        }
        let (added, removed) = finished.diff.as_deref().map(changed_lines).unwrap_or_default();
        self.stats.files.total_lines_added += added;
        self.stats.files.total_lines_removed += removed;
    }
}

fn milliseconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or_default()
}

/// Lines added and removed by a unified diff.
fn changed_lines(diff: &str) -> (u64, u64) {
    let (mut added, mut removed, mut in_hunk) = (0, 0, false);
    for line in diff.lines() {
        match line.as_bytes().first() {
            Some(b'@') => in_hunk = true,
            Some(b'+') if in_hunk => added += 1,
            Some(b'-') if in_hunk && !line.starts_with("--- ") => removed += 1,
            Some(b'-') => in_hunk = false,
            _ => {}
        }
    }
    (added, removed)
}

#[cfg(test)]
mod tests {
    use attache_domain::{Digest, ModelPart, Seq, Usage};

    use super::*;

    fn event(at: i64, fact: Fact) -> Event {
        Event { seq: Seq(1), at: Timestamp::from_millisecond(at).unwrap(), fact }
    }

    fn answer(call: &str) -> Fact {
        let call = ToolCall { id: CallId(call.into()), name: "replace".into(), input: Default::default() };
        let usage = Usage { input: 100, cached: 40, output: 30, thoughts: 10 };
        let parts = vec![ModelPart { what: ModelPartContent::Call(call), opaque: None }];
        Fact::ModelAnswered(Box::new(ModelAnswer {
            model: "m".into(),
            parts,
            usage,
            end: attache_domain::ResponseEnd::Done,
        }))
    }

    #[test]
    fn everything_is_added_up() {
        let call = CallId("c".into());
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n-old\n+new\n+more\n";
        let finished = FinishedCall {
            call: call.clone(),
            outcome: CallOutcome::Succeeded,
            output: vec![],
            summary: String::new(),
            diff: Some(diff.into()),
        };
        let mut collector = StatsCollector::default();
        for event in [
            event(1000, Fact::TurnStarted { turn: 1, model: None }),
            event(1250, answer("c")),
            event(1300, Fact::CallStarted { call: call.clone(), digest: Digest("d".into()), mark: None }),
            event(1340, Fact::CallFinished(Box::new(finished))),
            event(1400, answer("d")),
        ] {
            collector.take(&event);
        }
        let expected = serde_json::json!({
            "models": {"m": {
                "api": {"totalRequests": 2, "totalErrors": 0, "totalLatencyMs": 310},
                "tokens": {"input": 120, "prompt": 200, "candidates": 40, "total": 260, "cached": 80,
                    "thoughts": 20, "tool": 0},
            }},
            "tools": {
                "totalCalls": 1, "totalSuccess": 1, "totalFail": 0, "totalDurationMs": 40,
                "totalDecisions": {"accept": 0, "reject": 0, "modify": 0, "auto_accept": 1},
                "byName": {"replace": {"count": 1, "success": 1, "fail": 0, "durationMs": 40,
                    "decisions": {"accept": 0, "reject": 0, "modify": 0, "auto_accept": 1}}},
            },
            "files": {"totalLinesAdded": 2, "totalLinesRemoved": 1},
        });
        assert_eq!(serde_json::to_value(&collector.stats).unwrap(), expected);
    }

    #[test]
    fn a_model_that_never_answers_has_been_asked() {
        let mut collector = StatsCollector::default();
        collector.take(&event(0, Fact::TurnStarted { turn: 1, model: None }));
        collector.model_failed("m", Timestamp::from_millisecond(70).unwrap());
        let api = &collector.stats.models["m"].api;
        assert_eq!((api.total_requests, api.total_errors, api.total_latency_ms), (1, 1, 70));
    }

    #[test]
    fn the_head_of_a_diff_is_no_change() {
        let two = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +0,0 @@\n-c\n";
        assert_eq!(changed_lines(two), (1, 2));
        assert_eq!(changed_lines(""), (0, 0));
    }
}
