//! `save_memory`: stores a fact in the workspace's context file for this and later conversations.

use std::sync::Arc;

use async_trait::async_trait;
use attache_tool::{
    Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::edit::{self, Draft, OriginalFile};

/// The context file.
const FILE: &str = "GEMINI.md";
/// Facts are below this heading.
const HEADING: &str = "## Gemini Added Memories";
const MAX_FACT: usize = 2_000;

pub struct SaveMemory {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct Input {
    fact: String,
}

impl Default for SaveMemory {
    fn default() -> Self {
        Self { spec: spec() }
    }
}

// Adding a fact needs no reading of the file, and does not count as reading.
#[async_trait]
impl Tool for SaveMemory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let mut input = input.clone();
        input.insert("file_path".into(), Value::String(FILE.into()));
        edit::propose(&input, context, &Arc::default(), draft).await
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        edit::run(proposal, context, &Arc::default(), draft).await
    }
}

fn draft(input: &ToolInput, before: &OriginalFile) -> Result<Draft, ToolError> {
    let Input { fact } = edit::parse(input)?;
    let fact = in_one_line(&fact)?;
    let text = before.form.with_plain_ends(before.text.as_deref().unwrap_or_default()).into_owned();
    let content = before.form.with_own_ends(remember(&text, &fact)?);
    Ok(Draft { content, note: None })
}

/// Refuses a fact of several lines, which could contain headings or other facts.
fn in_one_line(fact: &str) -> Result<String, ToolError> {
    let words: Vec<&str> = fact.trim_start_matches(['-', '*', ' ', '\n']).split_whitespace().collect();
    let fact = words.join(" ");
    if fact.is_empty() {
        return Err(ToolError::bad_input("`fact` is empty; give one sentence that is worth remembering"));
    }
    if fact.chars().count() > MAX_FACT {
        let message = format!("`fact` is longer than {MAX_FACT} characters; say it shorter");
        return Err(ToolError::bad_input(message));
    }
    Ok(fact)
}

/// Adds the fact as the last one below the heading.
fn remember(text: &str, fact: &str) -> Result<String, ToolError> {
    let item = format!("- {fact}");
    let mut lines: Vec<&str> = text.lines().collect();
    let Some(heading) = lines.iter().position(|line| line.trim_end() == HEADING) else {
        let text = text.trim_end();
        let gap = if text.is_empty() { "" } else { "\n\n" };
        return Ok(format!("{text}{gap}{HEADING}\n\n{item}\n"));
    };
    let next = lines[heading + 1..].iter().position(|line| is_heading(line));
    let end = next.map_or(lines.len(), |next| heading + 1 + next);
    let section = &lines[heading..end];
    if section.contains(&item.as_str()) {
        return Err(ToolError::new(
            ToolErrorKind::EditNoChange,
            format!("{FILE} has this fact already; nothing has to be done"),
        ));
    }
    let filled = section.iter().rposition(|line| !line.trim().is_empty()).unwrap_or(0);
    let mut added = vec![item.as_str()];
    if filled == 0 {
        added.insert(0, "");
    }
    lines.splice(heading + filled + 1..heading + filled + 1, added);
    Ok(lines.join("\n") + "\n")
}

fn is_heading(line: &str) -> bool {
    let marks = line.chars().take_while(|character| *character == '#').count();
    marks > 0 && line[marks..].starts_with(' ')
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: "save_memory".into(),
        title: "SaveMemory".into(),
        description: "Remembers a fact about the user or the project in the workspace's GEMINI.md, which is read at \
            the beginning of every conversation. For what will still be true and useful later, and for what the \
            user asks to be remembered; not for what concerns only the task at hand."
            .into(),
        kind: ToolKind::Edit,
        parameters: json!({
            "type": "object",
            "properties": {
                "fact": { "type": "string", "description": "The fact, as one sentence that can stand alone." }
            },
            "required": ["fact"]
        }),
        repeatable: false,
        parallel: false,
        origin: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(remember(text, "new").unwrap(), expected, "{text:?}");
    }

    #[test]
    fn a_fact_is_added_below_the_heading() {
        check("", &format!("{HEADING}\n\n- new\n"));
        check("# About\nText", &format!("# About\nText\n\n{HEADING}\n\n- new\n"));
        check(&format!("{HEADING}\n- old\n"), &format!("{HEADING}\n- old\n- new\n"));
        check(&format!("{HEADING}\n"), &format!("{HEADING}\n\n- new\n"));
    }

    #[test]
    fn what_stands_below_stays_below() {
        let text = format!("a\n{HEADING}\n\n- old\n\n#hashtag\n\n## Next\n- other\n");
        check(&text, &format!("a\n{HEADING}\n\n- old\n\n#hashtag\n- new\n\n## Next\n- other\n"));
    }

    #[test]
    fn a_fact_that_is_known_is_refused() {
        let text = remember("", "new").unwrap();
        assert_eq!(remember(&text, "new").unwrap_err().kind, ToolErrorKind::EditNoChange);
    }

    #[test]
    fn a_fact_is_one_line() {
        assert_eq!(in_one_line("- one\n\n## Two\tthree ").unwrap(), "one ## Two three");
        for wrong in ["", " \n", "- ", &"x".repeat(MAX_FACT + 1)] {
            assert_eq!(in_one_line(wrong).unwrap_err().kind, ToolErrorKind::InvalidToolParams);
        }
    }
}
