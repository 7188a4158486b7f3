//! `write_todos`: the model's task list, replaced as a whole each time.

use async_trait::async_trait;
use attache_domain::Content;
use attache_tool::{
    Preview, Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NAME: &str = "write_todos";
/// The maximum number of tasks.
const MAX_ITEMS: usize = 100;
const MAX_DESCRIPTION: usize = 1_000;

#[derive(Debug)]
pub struct WriteTodos {
    spec: ToolSpec,
}

#[derive(Debug, Deserialize)]
struct Input {
    todos: Vec<Todo>,
}

#[derive(Debug, Deserialize)]
struct Todo {
    description: String,
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
    Blocked,
}

impl Default for WriteTodos {
    fn default() -> Self {
        Self { spec: spec() }
    }
}

#[async_trait]
impl Tool for WriteTodos {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        let todos = parse(input)?;
        let shown = Preview::Plain { summary: format!("list {} things to do", todos.len()) };
        Ok(Proposal { input: input.clone(), effects: vec![], shown })
    }

    async fn run(&self, proposal: Proposal, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let todos = parse(&proposal.input)?;
        let done = todos.iter().filter(|todo| todo.status == Status::Completed).count();
        let summary = format!("{done} of {} done", todos.len());
        Ok(ToolOutput {
            content: vec![Content::Text(listed(&todos))],
            summary,
            diff: None,
            files: Vec::new(),
        })
    }
}

fn parse(input: &ToolInput) -> Result<Vec<Todo>, ToolError> {
    let Input { todos } = serde_json::from_value(Value::Object(input.clone()))
        .map_err(|error| ToolError::bad_input(format!("{NAME}: {error}")))?;
    if todos.len() > MAX_ITEMS {
        return Err(ToolError::bad_input(format!(
            "`todos` may have at most {MAX_ITEMS} items; join some of them"
        )));
    }
    for (index, todo) in todos.iter().enumerate() {
        if todo.description.trim().is_empty() {
            return Err(ToolError::bad_input(format!("the description of item {} is empty", index + 1)));
        }
        if todo.description.chars().count() > MAX_DESCRIPTION {
            let message = format!("the description of item {} is too long; say it shorter", index + 1);
            return Err(ToolError::bad_input(message));
        }
    }
    let in_progress = todos.iter().filter(|todo| todo.status == Status::InProgress).count();
    if in_progress > 1 {
        return Err(ToolError::bad_input(format!(
            "{in_progress} items are in_progress; only one may be: mark the others as pending or completed"
        )));
    }
    Ok(todos)
}

fn listed(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "The list was cleared.".into();
    }
    let lines = todos
        .iter()
        .zip(1..)
        .map(|(todo, number)| format!("{number}. [{}] {}", todo.status.name(), todo.description.trim()));
    lines.collect::<Vec<_>>().join("\n")
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
        }
    }
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.into(),
        title: "WriteTodos".into(),
        description: "Writes down the steps of a task that has several, for the user to follow. The list given \
            replaces the one before, so give all items each time. Mark the one you work on as in_progress, at most \
            one at a time, and mark it as completed as soon as it is."
            .into(),
        kind: ToolKind::Other,
        parameters: json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "maxItems": MAX_ITEMS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "description": { "type": "string", "description": "What is to be done." },
                            "status": {
                                "type": "string",
                                "enum": ["pending", "in_progress", "completed", "cancelled", "blocked"]
                            }
                        },
                        "required": ["description", "status"]
                    },
                    "description": "The whole list; an empty one clears it."
                }
            },
            "required": ["todos"]
        }),
        repeatable: true,
        parallel: true,
        origin: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(todos: Value, expected: Result<&str, &str>) {
        let input = json!({ "todos": todos }).as_object().cloned().unwrap();
        match (parse(&input).map(|todos| listed(&todos)), expected) {
            (Ok(list), Ok(expected)) => assert_eq!(list, expected),
            (Err(error), Err(part)) => assert!(error.message.contains(part), "{error}"),
            (found, expected) => panic!("found {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn a_list_is_numbered_with_its_states() {
        check(
            json!([
                { "description": "read", "status": "completed" },
                { "description": " write ", "status": "in_progress" },
                { "description": "test", "status": "pending" }
            ]),
            Ok("1. [completed] read\n2. [in_progress] write\n3. [pending] test"),
        );
        check(json!([]), Ok("The list was cleared."));
    }

    #[test]
    fn a_list_that_makes_no_sense_is_refused() {
        let busy = json!({ "description": "a", "status": "in_progress" });
        check(json!([busy, busy]), Err("only one may be"));
        check(json!([{ "description": "  ", "status": "pending" }]), Err("item 1 is empty"));
        check(json!([{ "description": "a", "status": "late" }]), Err("in_progress"));
        check(json!([{ "status": "pending" }]), Err("description"));
        check(json!("all"), Err("sequence"));
    }
}
