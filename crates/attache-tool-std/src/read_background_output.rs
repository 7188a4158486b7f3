//! `read_background_output`: the last lines of a background command.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::Content;
use attache_tool::{
    Preview, Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::shell::BackgroundProcesses;
use attache_tool::untrusted;

const NAME: &str = "read_background_output";
const DEFAULT_LINES: usize = 100;
const MAX_DELAY: u64 = 60_000;
/// Bytes of the output that are searched for lines.
const MAX_OUTPUT: usize = 64 * 1024;

#[derive(Debug)]
pub struct ReadBackgroundOutput {
    background: Arc<BackgroundProcesses>,
}

#[derive(Debug, Deserialize)]
struct Input {
    pid: i32,
    lines: Option<usize>,
    #[serde(default)]
    delay_ms: u64,
}

impl ReadBackgroundOutput {
    pub fn new(background: Arc<BackgroundProcesses>) -> Self {
        Self { background }
    }
}

#[async_trait]
impl Tool for ReadBackgroundOutput {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    async fn propose(&self, input: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        let Input { pid, .. } = parse(input)?;
        let shown = Preview::Plain { summary: format!("read the output of process {pid}") };
        Ok(Proposal { input: input.clone(), effects: vec![], shown })
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { pid, lines, delay_ms } = parse(&proposal.input)?;
        tokio::select! {
            () = context.cancel.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(delay_ms)) => {}
        }
        let (state, text) = self.background.read(pid).ok_or_else(|| unknown(pid, &self.background.list()))?;
        let text = last_lines(&text, lines.unwrap_or(DEFAULT_LINES));
        let output = if text.is_empty() { "(empty)" } else { text };
        let text = format!("Process {pid}: {state}\n{}", untrusted(&format!("Output: {output}")));
        Ok(ToolOutput { content: vec![Content::Text(text)], summary: state, diff: None, files: Vec::new() })
    }
}

fn parse(input: &ToolInput) -> Result<Input, ToolError> {
    let parsed: Input = serde_json::from_value(Value::Object(input.clone()))
        .map_err(|error| ToolError::bad_input(format!("{NAME}: {error}")))?;
    if parsed.lines == Some(0) {
        return Err(ToolError::bad_input("`lines` has to be 1 or more"));
    }
    if parsed.delay_ms > MAX_DELAY {
        return Err(ToolError::bad_input(format!("`delay_ms` may be at most {MAX_DELAY}")));
    }
    Ok(parsed)
}

pub(crate) fn unknown(pid: i32, known: &[String]) -> ToolError {
    let known = if known.is_empty() { "there are none".into() } else { known.join("; ") };
    ToolError::bad_input(format!("no background process of this conversation has the pid {pid}: {known}"))
}

fn last_lines(text: &str, count: usize) -> &str {
    let text = text.trim_end();
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_OUTPUT))..];
    let start = text.rmatch_indices('\n').nth(count - 1).map_or(0, |(index, _)| index + 1);
    &text[start..]
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(spec);

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.into(),
        title: "Read Background Output".into(),
        description:
            "Gives the last lines that a command in the background has written, and whether it still runs."
                .into(),
        kind: ToolKind::Read,
        parameters: json!({
            "type": "object",
            "properties": {
                "pid": { "type": "integer", "description": "The pid that starting it returned." },
                "lines": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "How many lines; 100 if left out. At most 64 KiB are given."
                },
                "delay_ms": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MAX_DELAY,
                    "description": "How long to wait before looking."
                }
            },
            "required": ["pid"]
        }),
        repeatable: true,
        parallel: true,
        origin: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        for (text, count, expected) in [
            ("", 3, ""),
            ("a\nb\nc\n", 2, "b\nc"),
            ("a\nb\nc", 3, "a\nb\nc"),
            ("a\nb\nc", 9, "a\nb\nc"),
            ("a\n\nc\n\n", 2, "\nc"),
        ] {
            assert_eq!(last_lines(text, count), expected, "{text:?} {count}");
        }
        assert!(last_lines(&"€".repeat(MAX_OUTPUT), 1).len() <= MAX_OUTPUT);
    }
}
