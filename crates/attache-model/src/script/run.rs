//! The actions of one turn, in order and without waiting.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{Base64, CallId, Part, PartContent, ToolCall, ToolResult};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::chunk_sequence::ChunkSequence;
use super::limits::{MAX_LABEL_BYTES, MAX_TEXT_BYTES, MAX_TURN_BYTES, MAX_TURN_CHUNKS};
use super::matching::MatchedRule;
use super::placeholder_values::{CallResults, PlaceholderValues};
use super::rule::{CallTemplate, ContentTemplate, Ending, PartTemplate, PlannedStep, Script, ScriptStep};
use super::template::{Template, expand_map};
use crate::{ModelChunk, TurnFinish};

#[derive(Debug)]
pub(super) enum ScriptAction {
    Chunk(ModelChunk),
    Wait(Duration),
    /// No item follows it.
    Finish(TurnFinish),
}

#[derive(Debug)]
pub(super) struct ScriptRun {
    script: Arc<Script>,
    matched: MatchedRule,
    /// The next step.
    step: usize,
    /// A step with several chunks that has begun.
    round: Option<ChunkSequence>,
    /// The results of finished calls, in order. The run removes those that it has used.
    results: std::vec::IntoIter<Vec<ToolResult>>,
    chunks: u32,
    bytes: usize,
}

impl ScriptRun {
    pub(super) fn new(script: Arc<Script>, matched: MatchedRule, results: Vec<Vec<ToolResult>>) -> Self {
        Self { script, matched, step: 0, round: None, results: results.into_iter(), chunks: 0, bytes: 0 }
    }

    /// Whether a later call has been answered, so that everything before it is over.
    pub(super) fn is_behind(&self) -> bool {
        self.results.len() > 0
    }

    /// The sequence is the same with and without waits.
    pub(super) fn next_action(&mut self) -> ScriptAction {
        loop {
            if let Some(round) = &mut self.round {
                match round.next_action() {
                    Some(next) => return self.bounded(next),
                    None => self.round = None,
                }
            }
            let segment = &self.script.rules[self.matched.rule].segments[self.matched.segment];
            let words = &self.matched.words;
            let Some(planned) = segment.steps.get(self.step) else {
                return ScriptAction::Finish(finish(&segment.ending, words));
            };
            self.step += 1;
            if !planned.is_due(&words.outcomes) {
                if let ScriptStep::Call(calls) = &planned.step {
                    self.matched.words.outcomes.pass_over(calls.len());
                }
                continue;
            }
            let next = match &planned.step {
                ScriptStep::Think(text) => {
                    ScriptAction::Chunk(ModelChunk::Thought(text.expand(words, MAX_TEXT_BYTES)))
                }
                ScriptStep::NeedCredential(text) => {
                    ScriptAction::Chunk(ModelChunk::CredentialNeeded(text.expand(words, MAX_TEXT_BYTES)))
                }
                ScriptStep::Resume => ScriptAction::Chunk(ModelChunk::Resumed),
                ScriptStep::Wait(pause) => match pause.resolve(words, "wait") {
                    Ok(duration) => ScriptAction::Wait(duration),
                    Err(reason) => failed(reason),
                },
                ScriptStep::Say(say) => match ChunkSequence::of_say(say, words) {
                    Ok(round) => {
                        self.round = Some(round);
                        continue;
                    }
                    Err(reason) => failed(reason),
                },
                ScriptStep::Artifact(artifact) => {
                    match ChunkSequence::of_artifact(artifact, words, self.step) {
                        Ok(round) => {
                            self.round = Some(round);
                            continue;
                        }
                        Err(reason) => failed(reason),
                    }
                }
                ScriptStep::Call(calls) => match self.results.next() {
                    Some(results) => {
                        self.matched.words.outcomes.add(calls.len(), &results);
                        continue;
                    }
                    None => match expand_calls(calls, words) {
                        Ok(calls) => ScriptAction::Finish(TurnFinish::Calls(calls)),
                        Err(reason) => failed(reason),
                    },
                },
                ScriptStep::Stop(ending) => ScriptAction::Finish(finish(ending, words)),
            };
            return self.bounded(next);
        }
    }

    fn bounded(&mut self, next: ScriptAction) -> ScriptAction {
        match &next {
            ScriptAction::Chunk(chunk) => {
                self.chunks += 1;
                self.bytes += size(chunk);
            }
            ScriptAction::Finish(TurnFinish::Calls(calls)) => {
                self.bytes += calls.iter().map(call_size).sum::<usize>()
            }
            ScriptAction::Finish(_) | ScriptAction::Wait(_) => return next,
        }
        if self.chunks > MAX_TURN_CHUNKS {
            return failed(format!("it has more than {MAX_TURN_CHUNKS} chunks"));
        }
        if self.bytes > MAX_TURN_BYTES {
            return failed(format!("it has more than {MAX_TURN_BYTES} bytes"));
        }
        next
    }
}

impl PlannedStep {
    fn is_due(&self, outcomes: &CallResults) -> bool {
        self.when.as_ref().is_none_or(|when| {
            when.failed.is_none_or(|failed| failed == outcomes.failed)
                && when.result.as_ref().is_none_or(|pattern| pattern.is_match(outcomes.latest()))
        })
    }
}

fn expand_calls(calls: &[CallTemplate], words: &PlaceholderValues) -> Result<Vec<ToolCall>, String> {
    let first = words.outcomes.calls();
    let call = |(place, call): (usize, &CallTemplate)| {
        let name = call.tool.expand(words, MAX_LABEL_BYTES).trim().to_owned();
        if name.is_empty() {
            return Err("the name of the tool to call is empty".to_owned());
        }
        // The turn and the position in it: unique within the task.
        let id = CallId(format!("call-{}-{}", words.turn, first + place));
        Ok(ToolCall { id, name, input: expand_map(&call.input, words, MAX_TEXT_BYTES) })
    };
    calls.iter().enumerate().map(call).collect()
}

/// A step failed because of the caller's text.
fn failed(why: String) -> ScriptAction {
    ScriptAction::Finish(TurnFinish::Failed { reason: format!("The script cannot play this turn: {why}.") })
}

fn finish(ending: &Ending, words: &PlaceholderValues) -> TurnFinish {
    let expand = |template: &Template| template.expand(words, MAX_TEXT_BYTES);
    match ending {
        Ending::Completed { status } => TurnFinish::Completed { status: status.as_ref().map(expand) },
        Ending::InputRequired { question } => {
            TurnFinish::InputRequired { question: question.as_ref().map(expand) }
        }
        Ending::AuthRequired { explanation } => TurnFinish::AuthRequired { explanation: expand(explanation) },
        Ending::Failed { reason } => TurnFinish::Failed { reason: expand(reason) },
        Ending::Rejected { reason } => TurnFinish::Rejected { reason: expand(reason) },
        Ending::Replied { parts } => {
            TurnFinish::Replied { parts: parts.iter().map(|part| part.expand(words)).collect() }
        }
    }
}

impl PartTemplate {
    pub(super) fn expand(&self, words: &PlaceholderValues) -> Part {
        let content = match &self.content {
            ContentTemplate::Text(text) => PartContent::Text(text.expand(words, MAX_TEXT_BYTES)),
            ContentTemplate::Bytes(bytes) => PartContent::Raw(encode(bytes)),
            ContentTemplate::BytesText(text) => {
                PartContent::Raw(encode(text.expand(words, MAX_TEXT_BYTES).as_bytes()))
            }
            ContentTemplate::Url(url) => PartContent::Url(url.expand(words, MAX_LABEL_BYTES)),
            ContentTemplate::Data(data) => PartContent::Data(data.expand(words, MAX_TEXT_BYTES)),
        };
        self.with_content(content, words)
    }

    pub(super) fn with_content(&self, content: PartContent, words: &PlaceholderValues) -> Part {
        let label = |template: &Template| template.expand(words, MAX_LABEL_BYTES);
        Part {
            content,
            media_type: self.media_type.as_ref().map(label),
            filename: self.filename.as_ref().map(label),
            metadata: self.metadata.as_ref().map(|entries| expand_map(entries, words, MAX_TEXT_BYTES)),
        }
    }
}

pub(super) fn encode(bytes: &[u8]) -> Base64 {
    Base64(STANDARD.encode(bytes))
}

/// An estimate of the size of values that the caller controls.
fn size(chunk: &ModelChunk) -> usize {
    match chunk {
        ModelChunk::Thought(text) | ModelChunk::Text(text) | ModelChunk::CredentialNeeded(text) => text.len(),
        ModelChunk::Artifact { artifact, .. } => artifact.parts.iter().map(part_size).sum(),
        ModelChunk::Withdrawn | ModelChunk::Resumed => 0,
    }
}

fn call_size(call: &ToolCall) -> usize {
    call.name.len() + entries_size(&call.input)
}

fn part_size(part: &Part) -> usize {
    match &part.content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Raw(Base64(text)) => text.len(),
        PartContent::Data(value) => value_size(value),
    }
}

fn value_size(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_size).sum(),
        Value::Object(entries) => entries_size(entries),
    }
}

fn entries_size(entries: &serde_json::Map<String, serde_json::Value>) -> usize {
    entries.iter().map(|(key, value)| key.len() + value_size(value)).sum()
}
