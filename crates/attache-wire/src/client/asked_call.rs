//! Tool calls that wait for an answer, as events of coding agents show them.
//!
//! The development-tool extension and Gemini CLI's server each have a form of their own, for the call and for the answer. Agents
//! that list their open calls with the question need none of this ([`OpenCall`](super::OpenCall)).

use attache_domain::{Part, PartContent};
use serde_json::{Map, Value, json};

use crate::approval_words;

/// Bytes of the details of a call.
const MAX_DETAILS: usize = 128 << 10;

/// What a part says about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallNews {
    /// It waits for an answer.
    Asked(AskedCall),
    /// It waits no longer, or not yet.
    Other { call: String },
}

/// A tool call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    pub call: String,
    /// What it would do, in the agent's words.
    pub title: String,
    /// What the answer is about, such as the command or the changes of a file, in lines; at most 128 KiB.
    pub details: String,
    /// The ids of the answers that it takes; empty where the agent does not list them.
    pub choices: Vec<String>,
    form: AnswerForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    DevelopmentTool,
    GeminiCli,
}

impl CallNews {
    /// `None` if the part is about no tool call.
    pub fn of(part: &Part) -> Option<Self> {
        let PartContent::Data(data) = &part.content else { return None };
        development_tool(data).or_else(|| gemini_cli(data))
    }

    pub fn call(&self) -> &str {
        match self {
            Self::Asked(asked) => &asked.call,
            Self::Other { call } => call,
        }
    }
}

impl AskedCall {
    /// Answers with a choice or a word for one, such as `yes`, `no` and `always`. An error lists the choices.
    pub fn answer(&self, choice: &str) -> Result<Part, String> {
        let choice = choice.trim();
        let offers = |id: &str| self.choices.iter().any(|known| known == id);
        let meanings = approval_words::meanings(choice);
        let id = match meanings.iter().copied().find(|id| offers(id)) {
            Some(offered) => offered,
            // An agent that does not list its choices takes the usual ones.
            None if self.choices.is_empty() => meanings.first().copied().unwrap_or(choice),
            None if offers(choice) => choice,
            None => return Err(format!("it takes yes, no or one of {}", self.choices.join(", "))),
        };
        let data = match self.form {
            AnswerForm::DevelopmentTool => json!({ "tool_call_id": self.call, "selected_option_id": id }),
            AnswerForm::GeminiCli => json!({ "callId": self.call, "outcome": id }),
        };
        Ok(Part::new(PartContent::Data(data)))
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

fn development_tool(data: &Value) -> Option<CallNews> {
    let call = text(data.get("tool_call_id"))?;
    data.get("status")?;
    let Some(request) = data.get("confirmation_request").filter(|request| request.is_object()) else {
        return Some(CallNews::Other { call });
    };
    let options = request.get("options").and_then(Value::as_array).into_iter().flatten();
    let choices = options.filter_map(|option| text(option.get("id"))).collect();
    let title = [text(data.get("tool_name")), text(data.get("description"))];
    let title = title.into_iter().flatten().collect::<Vec<_>>().join(": ");
    // A form of the extension has the details one level deeper.
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let nested = request.get("details").map(members).unwrap_or_default();
    let details = members(request).into_iter().filter(|(name, _)| name != "options" && name != "details");
    let mut details = details.chain(nested).collect::<Map<_, _>>();
    // The others say the input in their own way.
    if !details.contains_key("execute_details") && !details.contains_key("file_edit_details") {
        let input = data.get("input_parameters").filter(|input| !is_empty(input));
        details.extend(input.map(|input| ("input".to_owned(), input.clone())));
    }
    let details = lines_of(details.iter().flat_map(|(name, value)| match value {
        Value::Object(members) if name != "input" => members.iter().collect(),
        value => vec![(name, value)],
    }));
    Some(CallNews::Asked(AskedCall { call, title, details, choices, form: AnswerForm::DevelopmentTool }))
}

fn gemini_cli(data: &Value) -> Option<CallNews> {
    let request = data.get("request")?;
    let call = text(request.get("callId"))?;
    if data.get("status")? != "awaiting_approval" {
        return Some(CallNews::Other { call });
    }
    let details = data.get("confirmationDetails").and_then(Value::as_object);
    let of_details = |name: &str| details.and_then(|details| details.get(name)).filter(|it| !is_empty(it));
    let shown = ["command", "filePath", "fileDiff", "prompt", "urls", "serverName", "toolName"];
    let mut shown: Vec<_> = shown.into_iter().filter_map(|name| Some((name, of_details(name)?))).collect();
    // A command and a change are the whole input; the rest tells less.
    if !shown.iter().any(|(name, _)| matches!(*name, "command" | "fileDiff")) {
        shown.extend(request.get("args").filter(|input| !is_empty(input)).map(|input| ("input", input)));
    }
    let title = text(of_details("title")).or(text(request.get("name"))).unwrap_or_default();
    let details = lines_of(shown);
    Some(CallNews::Asked(AskedCall {
        call,
        title,
        details,
        choices: Vec::new(),
        form: AnswerForm::GeminiCli,
    }))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// One line for each member, or several below its name. A file's content is left out where its changes are shown.
fn lines_of<'a, N: AsRef<str>>(members: impl IntoIterator<Item = (N, &'a Value)>) -> String {
    let members: Vec<_> = members.into_iter().filter(|(_, value)| !is_empty(value)).collect();
    let has_changes = members.iter().any(|(name, _)| name.as_ref() == "formatted_diff");
    let is_content = |name: &str| matches!(name, "old_content" | "new_content");
    let members = members.iter().filter(|(name, _)| !has_changes || !is_content(name.as_ref()));
    let line = |(name, value): &(N, &Value)| {
        let name = name.as_ref();
        let value = match value {
            Value::String(text) => text.trim_end().to_owned(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let between = if value.contains('\n') { "\n" } else { " " };
        format!("{name}:{between}{value}")
    };
    let mut lines = members.map(line).collect::<Vec<_>>().join("\n");
    if lines.len() > MAX_DETAILS {
        let end = lines.floor_char_boundary(MAX_DETAILS);
        let more = lines[end..].chars().count();
        lines.truncate(end);
        lines.push_str(&format!("\n({more} more characters are not shown)"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(data: Value) -> Option<CallNews> {
        CallNews::of(&Part::new(PartContent::Data(data)))
    }

    #[track_caller]
    fn asked(data: Value) -> AskedCall {
        match news(data) {
            Some(CallNews::Asked(asked)) => asked,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_of_the_extension_is_answered_in_its_form() {
        let options = json!([{"id": "proceed_once"}, {"id": "cancel"}]);
        let mut call = json!({
            "tool_call_id": "k1", "status": "PENDING", "tool_name": "shell", "description": "ls",
            "confirmation_request": {"options": options},
        });
        let asked = asked(call.clone());
        assert_eq!((asked.title.as_str(), asked.choices.len()), ("shell: ls", 2));
        let answer = asked.answer(" Yes ").unwrap();
        let expected = json!({"tool_call_id": "k1", "selected_option_id": "proceed_once"});
        assert_eq!(answer.content, PartContent::Data(expected));
        assert_eq!(asked.answer("okay").unwrap(), asked.answer("proceed_once").unwrap());
        assert_eq!(asked.answer("always").unwrap_err(), "it takes yes, no or one of proceed_once, cancel");
        call["confirmation_request"] = Value::Null;
        assert_eq!(news(call), Some(CallNews::Other { call: "k1".into() }));
    }

    #[test]
    fn a_call_of_gemini_cli_is_answered_in_its_form() {
        let mut call = json!({
            "request": {"callId": "c-1", "name": "run_shell_command", "args": {"command": "ls"}},
            "status": "awaiting_approval", "confirmationDetails": {"title": "Confirm Shell Command", "command": "ls"},
        });
        let asked = asked(call.clone());
        assert_eq!((asked.title.as_str(), asked.details.as_str()), ("Confirm Shell Command", "command: ls"));
        let expected = json!({"callId": "c-1", "outcome": "cancel"});
        assert_eq!(asked.answer("no").unwrap().content, PartContent::Data(expected));
        call["status"] = "executing".into();
        assert_eq!(news(call), Some(CallNews::Other { call: "c-1".into() }));
    }

    #[test]
    fn everything_that_an_answer_approves_stands_in_the_details() {
        let of_extension = |request: Value| {
            asked(json!({
                "tool_call_id": "k1", "status": "PENDING", "confirmation_request": request,
                "input_parameters": {"path": "x"},
            }))
        };
        let diff = json!({"file_name": "d", "file_path": "/w/d", "old_content": "a", "new_content": "b", "formatted_diff": "-a\n+b\n"});
        let mut created = diff.clone();
        created["formatted_diff"] = Value::Null;
        for (request, expected) in [
            (
                json!({"execute_details": {"command": "rm x", "working_directory": "/w", "access": ""}}),
                "command: rm x\nworking_directory: /w",
            ),
            (json!({"file_edit_details": diff}), "file_name: d\nfile_path: /w/d\nformatted_diff:\n-a\n+b"),
            (
                json!({"details": {"file_edit_details": created}}),
                "file_name: d\nfile_path: /w/d\nnew_content: b\nold_content: a",
            ),
            (
                json!({"mcp_details": {"server_name": "s", "tool_name": "t"}}),
                "server_name: s\ntool_name: t\ninput:\n{\n  \"path\": \"x\"\n}",
            ),
            (
                json!({"generic_details": {"description": "d"}, "later": [1]}),
                "description: d\nlater:\n[\n  1\n]\ninput:\n{\n  \"path\": \"x\"\n}",
            ),
        ] {
            let (found, expected) = (of_extension(request).details, expected.to_owned());
            let sorted =
                |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
            assert_eq!(sorted(&found), sorted(&expected), "{found}");
        }
        let gemini = asked(json!({
            "request": {"callId": "c", "name": "edit", "args": {"new_string": "b"}}, "status": "awaiting_approval",
            "confirmationDetails": {"type": "edit", "fileDiff": "-a\n+b", "filePath": "/w/d", "newContent": "b"},
        }));
        assert_eq!(gemini.details, "filePath: /w/d\nfileDiff:\n-a\n+b");
        let endless = of_extension(json!({"execute_details": {"command": "ü".repeat(MAX_DETAILS)}}));
        assert!(endless.details.ends_with("more characters are not shown)"));
        assert!(endless.details.len() < MAX_DETAILS + 100);
    }

    #[test]
    fn other_data_is_about_no_call() {
        for data in [
            json!({}),
            json!([]),
            json!({"request": 1}),
            json!({"tool_call_id": "k"}),
            json!({"callId": "c"}),
        ] {
            assert_eq!(news(data), None);
        }
        assert_eq!(CallNews::of(&Part::text("tool_call_id")), None);
    }
}
