//! Tool calls that wait for an answer, as events of coding agents show them.
//!
//! The development-tool extension and Gemini CLI's server each have a form of their own, for the call and for the answer. Agents
//! that list their open calls with the question need none of this ([`OpenCall`](super::OpenCall)).

use attache_domain::{Part, PartContent};
use serde_json::{Value, json};

use crate::approval_words;

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
    Some(CallNews::Asked(AskedCall { call, title, choices, form: AnswerForm::DevelopmentTool }))
}

fn gemini_cli(data: &Value) -> Option<CallNews> {
    let request = data.get("request")?;
    let call = text(request.get("callId"))?;
    if data.get("status")? != "awaiting_approval" {
        return Some(CallNews::Other { call });
    }
    let details = data.get("confirmationDetails");
    let what = ["command", "fileDiff", "prompt", "toolName"];
    let what = details.and_then(|details| what.into_iter().find_map(|name| text(details.get(name))));
    let name = text(details.and_then(|details| details.get("title"))).or(text(request.get("name")));
    let arguments = || request.get("args").map(Value::to_string);
    let title = [name, what.or_else(arguments)].into_iter().flatten().collect::<Vec<_>>().join(": ");
    Some(CallNews::Asked(AskedCall { call, title, choices: Vec::new(), form: AnswerForm::GeminiCli }))
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
        assert_eq!(asked.title, "Confirm Shell Command: ls");
        let expected = json!({"callId": "c-1", "outcome": "cancel"});
        assert_eq!(asked.answer("no").unwrap().content, PartContent::Data(expected));
        call["status"] = "executing".into();
        assert_eq!(news(call), Some(CallNews::Other { call: "c-1".into() }));
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
