//! The request bodies of the REST API.

use attache_domain::{
    ApiKey, CommandCall, ContextId, Fault, Message, MessageAnswers, MessageId, Part, PartAnswers,
    PartContent, RequestedSettings, Role, SendConfiguration, SendMessage, SendOptions, TaskId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::approval_answers::read_answers;
use crate::decode::decoder::{invalid_id_reason, kind_of};
use crate::devtool::incoming::api_key_problem;
use crate::devtool::setting_names::IN_WORKSPACE_ROOT;

/// The members of all bodies, and where each belongs.
const MEMBERS: [(&str, &str); 9] = [
    ("contextId", "POST /tasks"),
    ("agentSettings", "POST /tasks or POST /tasks/{taskId}/execute"),
    ("message", "POST /tasks/{taskId}/execute"),
    ("messageId", "POST /tasks/{taskId}/execute"),
    ("toolCallId", "POST /tasks/{taskId}/confirmations"),
    ("optionId", "POST /tasks/{taskId}/confirmations"),
    ("newContent", "POST /tasks/{taskId}/confirmations"),
    ("answers", "POST /tasks/{taskId}/confirmations"),
    ("args", "POST /commands/{name}/execute"),
];
/// The members of [`AgentSettings`].
const SETTINGS: [&str; 7] =
    ["workspaceRoot", "model", "apiKey", "approvalMode", "mcpServers", "allowedTools", "autoExecute"];

/// The body of `POST /tasks`. Everything may be left out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub struct CreateTask {
    /// The conversation of the task; a new one by default.
    #[schemars(length(max = 1024), regex(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    pub context_id: Option<String>,
    pub agent_settings: Option<AgentSettings>,
}

/// What the task works with. The operator's settings limit what counts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub struct AgentSettings {
    /// The folder to work in, below one of the operator's allowed roots.
    workspace_root: Option<String>,
    /// The language model.
    model: Option<String>,
    /// The key for the model's provider. It is kept in memory for this task, and never stored.
    #[schemars(with = "Option<String>")]
    api_key: Option<ApiKey>,
    approval_mode: Option<String>,
    /// By name; each as in the settings of an MCP server.
    mcp_servers: Option<Map<String, Value>>,
    /// Tools that may be used without asking.
    allowed_tools: Option<Vec<String>>,
    /// Run everything without asking, where the operator lets clients decide that.
    auto_execute: Option<bool>,
}

/// The body of `POST /tasks/{taskId}/execute`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub struct ExecuteTask {
    /// The prompt.
    #[schemars(length(min = 1))]
    message: String,
    /// A message that is sent again with the same id is not taken twice.
    #[schemars(length(max = 1024), regex(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    message_id: Option<String>,
    /// What changes from this prompt on.
    agent_settings: Option<AgentSettings>,
}

/// The body of `POST /tasks/{taskId}/confirmations`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub struct Confirmation {
    #[schemars(length(min = 1, max = 1024), regex(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    pub tool_call_id: String,
    /// One of the call's options.
    #[schemars(length(min = 1, max = 1024), regex(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    pub option_id: String,
    /// What an edit writes instead.
    new_content: Option<String>,
    /// The answers to the agent's own questions: a list, or by the number of the question from 0.
    answers: Option<Value>,
}

/// The body of `POST /commands/{name}/execute`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub struct ExecuteCommand {
    /// The words after the command's name.
    args: Option<Vec<String>>,
    /// The conversation of the command; a new one by default.
    #[schemars(length(max = 1024), regex(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    context_id: Option<String>,
    agent_settings: Option<AgentSettings>,
}

/// Whether the body of `POST /tasks` is that of a client of Gemini CLI's server, which expects the id alone.
pub fn is_gemini_create(body: &Value) -> bool {
    let settings = &body["agentSettings"];
    !settings["kind"].is_null() || !settings["workspacePath"].is_null()
}

impl CreateTask {
    /// An empty body and `null` mean an empty object.
    pub fn read(body: Value) -> Result<Self, Fault> {
        let read: Self = if body.is_null() { Self::default() } else { read_body(body)? };
        check_id("contextId", read.context_id.as_deref())?;
        read.agent_settings.as_ref().map_or(Ok(()), AgentSettings::check)?;
        Ok(read)
    }

    pub fn into_parts(self) -> (Option<ContextId>, Option<Box<RequestedSettings>>) {
        let context = self.context_id.filter(|context| !context.is_empty()).map(ContextId::from);
        (context, self.agent_settings.map(AgentSettings::into_requested))
    }
}

impl AgentSettings {
    /// A key becomes a header, so it must fit into one. It is never quoted.
    fn check(&self) -> Result<(), Fault> {
        let Some(key) = self.api_key.as_ref().map(ApiKey::expose) else { return Ok(()) };
        api_key_problem(key).map_or(Ok(()), |problem| Err(Fault::invalid("agentSettings.apiKey", problem)))
    }

    /// Empty texts count as absent.
    fn into_requested(self) -> Box<RequestedSettings> {
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        Box::new(RequestedSettings {
            model: text(self.model),
            workspace: text(self.workspace_root).map(Into::into),
            approval_mode: text(self.approval_mode),
            mcp_servers: self.mcp_servers.unwrap_or_default(),
            local_servers: Vec::new(),
            allowed_tools: self.allowed_tools.unwrap_or_default(),
            auto_execute: self.auto_execute.unwrap_or(false),
            api_key_name: None,
            api_key_model: None,
            api_key: self.api_key.filter(|key| !key.expose().is_empty()),
            metadata_key: IN_WORKSPACE_ROOT.to_owned(),
        })
    }
}

impl ExecuteTask {
    pub fn read(body: Value) -> Result<Self, Fault> {
        let read: Self = read_body(body)?;
        check_id("messageId", read.message_id.as_deref())?;
        read.agent_settings.as_ref().map_or(Ok(()), AgentSettings::check)?;
        if read.message.trim().is_empty() {
            return Err(Fault::invalid("message", "must not be empty"));
        }
        Ok(read)
    }

    /// The prompt for `task`. Its id is empty unless the client gave one.
    pub fn into_send(self, task: TaskId) -> SendMessage {
        let parts = vec![Part::text(self.message)];
        let mut send = send_to(Some(task), self.message_id.unwrap_or_default(), parts);
        send.message.requested = self.agent_settings.map(AgentSettings::into_requested);
        send
    }
}

impl Confirmation {
    pub fn read(body: Value) -> Result<Self, Fault> {
        let read: Self = read_body(body)?;
        for (field, id) in [("toolCallId", &read.tool_call_id), ("optionId", &read.option_id)] {
            check_id(field, Some(id))?;
            if id.is_empty() {
                return Err(Fault::invalid(field, "must not be empty"));
            }
        }
        Ok(read)
    }

    /// The message to `task` with this answer. It has no id.
    pub fn to_send(&self, task: TaskId) -> SendMessage {
        let mut data = json!({ "tool_call_id": self.tool_call_id, "selected_option_id": self.option_id });
        if let Some(content) = &self.new_content {
            data["newContent"] = content.as_str().into();
        }
        if let Some(answers) = &self.answers {
            data["answers"] = answers.clone();
        }
        let mut send = send_to(Some(task), String::new(), vec![Part::new(PartContent::Data(data))]);
        // An option is named by its id: words may mean other options.
        for part in &mut send.answers.parts {
            let PartAnswers::Data(items) = part else { continue };
            for choice in items.iter_mut().filter_map(|item| item.choice.as_mut()) {
                choice.choices = vec![self.option_id.clone().into()];
            }
        }
        send
    }
}

impl ExecuteCommand {
    /// An empty body and `null` mean an empty object.
    pub fn read(body: Value) -> Result<Self, Fault> {
        let read: Self = if body.is_null() { Self::default() } else { read_body(body)? };
        check_id("contextId", read.context_id.as_deref())?;
        if read.agent_settings.as_ref().is_some_and(|settings| settings.api_key.is_some()) {
            return Err(Fault::invalid("agentSettings.apiKey", "belongs to a task, not to a command"));
        }
        Ok(read)
    }

    /// The message with the command `name`, which may name a sub-command after a space.
    pub fn into_send(self, name: &str) -> SendMessage {
        let path = name.trim_start_matches('/').split_whitespace().map(str::to_owned).collect();
        let command = CommandCall { path, arguments: self.args.unwrap_or_default().join(" ") };
        let mut send = send_to(None, String::new(), vec![Part::text(command.line())]);
        send.answers = MessageAnswers::default();
        send.message.context = self.context_id.filter(|context| !context.is_empty()).map(ContextId::from);
        send.message.requested = self.agent_settings.map(AgentSettings::into_requested);
        send.message.command = Some(Box::new(command));
        send
    }
}

fn send_to(task: Option<TaskId>, id: String, parts: Vec<Part>) -> SendMessage {
    let message = Message {
        id: MessageId::from(id),
        role: Role::User,
        parts,
        context: None,
        task,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
        requested: None,
        command: None,
        sender: None,
    };
    let answers = read_answers(&message);
    let (configuration, options) = (SendConfiguration::default(), SendOptions::default());
    SendMessage { message, answers, configuration, metadata: None, options }
}

/// Refuses a path with an id that no task can have.
pub fn check_task_id(id: &str) -> Result<(), Fault> {
    check_id("taskId", Some(id))
}

fn check_id(field: &str, id: Option<&str>) -> Result<(), Fault> {
    match id.and_then(invalid_id_reason) {
        Some(problem) => Err(Fault::invalid(field, problem)),
        None => Ok(()),
    }
}

/// A body, by the members that count in it.
trait Body: DeserializeOwned {
    const MEMBERS: &'static [&'static str];
}

impl Body for CreateTask {
    const MEMBERS: &'static [&'static str] = &["contextId", "agentSettings"];
}

impl Body for ExecuteTask {
    const MEMBERS: &'static [&'static str] = &["message", "messageId", "agentSettings"];
}

impl Body for Confirmation {
    const MEMBERS: &'static [&'static str] = &["toolCallId", "optionId", "newContent", "answers"];
}

impl Body for ExecuteCommand {
    const MEMBERS: &'static [&'static str] = &["args", "contextId", "agentSettings"];
}

/// Unknown members are ignored, as of later versions; but not one that is misspelt or in the wrong place: a client that
/// sends `new_content` must not get the content that it has replaced.
fn check_names(body: &Value, members: &[&str]) -> Result<(), Fault> {
    check_spelling(body, "", MEMBERS.map(|(name, _)| name).as_slice())?;
    let settings = &body["agentSettings"];
    check_spelling(settings, "agentSettings.", &SETTINGS)?;
    if settings.get("workspacePath").is_some() {
        return Err(misspelt("agentSettings.", "workspacePath", SETTINGS[0]));
    }
    for (name, place) in MEMBERS.iter().filter(|(name, _)| !members.contains(name)) {
        check_absent(body, "", name, place)?;
    }
    for (name, _) in MEMBERS {
        check_absent(settings, "agentSettings.", name, "the body itself, beside agentSettings")?;
    }
    let is_setting = |name: &&String| SETTINGS.iter().any(|known| letters(known) == letters(name));
    match body.as_object().into_iter().flat_map(Map::keys).find(is_setting) {
        Some(name) => check_absent(body, "", name, "agentSettings"),
        None => Ok(()),
    }
}

/// Refuses a member that would be ignored.
fn check_absent(object: &Value, above: &str, name: &str, place: &str) -> Result<(), Fault> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(Fault::invalid(
            format!("{above}{name}"),
            format!("does not count here: it belongs in {place}"),
        )),
    }
}

fn check_spelling(object: &Value, above: &str, known: &[&str]) -> Result<(), Fault> {
    let names = object.as_object().into_iter().flat_map(Map::keys);
    for name in names.filter(|name| !known.contains(&name.as_str())) {
        if let Some(meant) = known.iter().find(|known| letters(known) == letters(name)) {
            return Err(misspelt(above, name, meant));
        }
    }
    Ok(())
}

fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

fn misspelt(above: &str, name: &str, meant: &str) -> Fault {
    Fault::invalid(format!("{above}{name}"), format!("is unknown; did you mean {meant}?"))
}

/// Reads a body of this type. The fault names the member and what it must be, and quotes no value: a value in the wrong
/// place may be a secret.
fn read_body<T: Body>(body: Value) -> Result<T, Fault> {
    if !body.is_object() {
        return Err(Fault::invalid("body", format!("must be an object, not {}", kind_of(&body))));
    }
    check_names(&body, T::MEMBERS)?;
    serde_path_to_error::deserialize(body).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.inner().to_string());
        let path = if path == "." { String::new() } else { path };
        if let Some(missing) = reason.strip_prefix("missing field `").and_then(|rest| rest.split('`').next())
        {
            let dot = if path.is_empty() { "" } else { "." };
            return Fault::invalid(format!("{path}{dot}{missing}"), "is required");
        }
        let description = match reason.rsplit_once("expected ").map(|(_, expected)| expected) {
            Some("a map") => "must be an object".to_owned(),
            Some("a sequence") => "must be an array".to_owned(),
            Some(expected) => format!("must be {expected}"),
            None => "cannot be read".to_owned(),
        };
        Fault::invalid(if path.is_empty() { "body".to_owned() } else { path }, description)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(read: Result<T, Fault>, expected: &str) {
        assert_eq!(read.unwrap_err().to_string(), format!("invalid parameters: {expected}"));
    }

    #[test]
    fn a_refused_body_names_its_member_and_quotes_no_value() {
        check(CreateTask::read(json!([])), "body must be an object, not an array");
        check(CreateTask::read(json!({"contextId": 5})), "contextId must be a string");
        check(CreateTask::read(json!({"agentSettings": "sk-1"})), "agentSettings must be an object");
        let settings = |settings: Value| CreateTask::read(json!({ "agentSettings": settings }));
        check(settings(json!({"workspaceRoot": 5})), "agentSettings.workspaceRoot must be a string");
        check(settings(json!({"apiKey": ["sk-1"]})), "agentSettings.apiKey must be a string");
        check(settings(json!({"autoExecute": "sk-1"})), "agentSettings.autoExecute must be a boolean");
        check(settings(json!({"mcpServers": "sk-1"})), "agentSettings.mcpServers must be an object");
        check(
            settings(json!({"apiKey": "sk 1\n"})),
            "agentSettings.apiKey must consist of printable ASCII characters without spaces",
        );
        check(ExecuteTask::read(json!({})), "message is required");
        check(ExecuteTask::read(json!({"message": " "})), "message must not be empty");
        check(Confirmation::read(json!({"toolCallId": "k"})), "optionId is required");
        check(Confirmation::read(json!({"toolCallId": "", "optionId": "x"})), "toolCallId must not be empty");
        check(ExecuteCommand::read(json!({"args": "x"})), "args must be an array");
    }

    #[test]
    fn a_misspelt_setting_is_refused_and_an_unknown_one_is_not() {
        for (name, meant) in [
            ("workspaceroot", "workspaceRoot"),
            ("workspace_root", "workspaceRoot"),
            ("workspacePath", "workspaceRoot"),
            ("apikey", "apiKey"),
            ("api-key", "apiKey"),
            ("api key", "apiKey"),
            ("AUTO_EXECUTE", "autoExecute"),
        ] {
            let body = json!({"message": "x", "agentSettings": {name: "sk-1"}});
            check(
                ExecuteTask::read(body),
                &format!("agentSettings.{name} is unknown; did you mean {meant}?"),
            );
        }
        let unknown = json!({"message": "x", "later": 1, "agentSettings": {"kind": "x", "theme": 1}});
        assert!(ExecuteTask::read(unknown).is_ok());
    }

    #[test]
    fn a_misspelt_member_is_refused() {
        check(CreateTask::read(json!({"context_id": "c"})), "context_id is unknown; did you mean contextId?");
        check(ExecuteTask::read(json!({"Message": "x"})), "Message is unknown; did you mean message?");
        let changed = json!({"toolCallId": "k", "optionId": "proceed_once", "new_content": "mine"});
        check(Confirmation::read(changed), "new_content is unknown; did you mean newContent?");
        let settings = json!({"agent_settings": {"workspaceRoot": "/w"}});
        check(ExecuteCommand::read(settings), "agent_settings is unknown; did you mean agentSettings?");
    }

    #[test]
    fn a_member_in_the_wrong_place_is_refused_with_its_place() {
        let wrong = |field: &str, place: &str| format!("{field} does not count here: it belongs in {place}");
        for name in ["workspaceRoot", "model", "apiKey", "api key", "api_key"] {
            check(CreateTask::read(json!({ name: "sk-1" })), &wrong(name, "agentSettings"));
            check(ExecuteTask::read(json!({ "message": "x", name: "sk-1" })), &wrong(name, "agentSettings"));
        }
        check(CreateTask::read(json!({"message": "x"})), &wrong("message", "POST /tasks/{taskId}/execute"));
        let context = json!({"message": "x", "contextId": "c"});
        check(ExecuteTask::read(context), &wrong("contextId", "POST /tasks"));
        let settings = json!({"toolCallId": "k", "optionId": "x", "agentSettings": {}});
        let place = "POST /tasks or POST /tasks/{taskId}/execute";
        check(Confirmation::read(settings), &wrong("agentSettings", place));
        let nested = json!({"agentSettings": {"contextId": "c"}});
        let place = "the body itself, beside agentSettings";
        check(CreateTask::read(nested), &wrong("agentSettings.contextId", place));
        assert!(ExecuteTask::read(json!({"message": "x", "contextId": null, "model": null})).is_ok());
    }

    #[test]
    fn an_option_is_named_by_its_id_and_not_by_a_word() {
        for option in ["proceed_once", "yes", "PROCEED_ONCE"] {
            let confirmation = Confirmation::read(json!({"toolCallId": "k", "optionId": option})).unwrap();
            let send = confirmation.to_send(TaskId::from("t"));
            let [PartAnswers::Data(items)] = send.answers.parts.as_slice() else { panic!("{send:?}") };
            assert_eq!(items[0].choice.as_ref().unwrap().choices, [option]);
        }
    }

    #[test]
    fn a_key_is_not_among_the_stored_settings() {
        let body = json!({"agentSettings": {"workspaceRoot": "/w", "model": "m", "apiKey": "sk-1"}});
        let (context, requested) = CreateTask::read(body).unwrap().into_parts();
        assert!(!serde_json::to_string(&requested).unwrap().contains("sk-1"));
        let requested = requested.unwrap();
        assert_eq!((context, requested.api_key.as_ref().map(ApiKey::expose)), (None, Some("sk-1")));
        assert_eq!((requested.model.as_deref(), requested.workspace), (Some("m"), Some("/w".into())));
    }
}
