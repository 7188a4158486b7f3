//! The routes of Gemini CLI's server besides A2A: task metadata and commands.

use std::collections::{BTreeMap, BTreeSet};

use attache_domain::{
    CommandCall, CommandSpec, ContextId, Fault, Message, MessageAnswers, MessageId, Part, RequestedSettings,
    Role, SendConfiguration, SendMessage, SendOptions, TaskView,
};
use serde_json::{Value, json};

use super::gemini::{mcp_name, qualified_mcp_name};
use super::incoming;
use crate::decode::decoder::{Decoder, FieldPath};
use crate::encode::text::write_value;
use crate::{JsonForm, enum_names};

/// The model and tools of a task, for display.
#[derive(Debug, Clone, Default)]
pub struct TaskResources {
    pub model: String,
    /// Name, status and tools of each MCP server.
    pub servers: Vec<(String, String, Vec<ToolDescription>)>,
    pub tools: Vec<ToolDescription>,
}

/// A tool as models see it.
#[derive(Debug, Clone, Default)]
pub struct ToolDescription {
    pub name: String,
    pub description: String,
    /// JSON Schema of its input.
    pub parameters: Value,
    /// The MCP server of the tool, and its name there.
    pub origin: Option<(String, String)>,
}

pub fn task_metadata(view: &TaskView, equipment: &TaskResources) -> Value {
    let names = mcp_tool_names(&equipment.tools);
    let tool = |tool: &ToolDescription| {
        let name = names.get(tool.name.as_str()).unwrap_or(&tool.name);
        json!({ "name": name, "description": tool.description, "parameterSchema": tool.parameters })
    };
    let server = |(name, status, tools): &(String, String, Vec<ToolDescription>)| json!({ "name": name, "status": status, "tools": tools.iter().map(tool).collect::<Vec<_>>() });
    json!({
        "id": view.task.as_str(),
        "contextId": view.context.as_str(),
        "taskState": enum_names::state_name(JsonForm::V0_3Rpc, view.status.state),
        "model": equipment.model,
        "mcpServers": equipment.servers.iter().map(server).collect::<Vec<_>>(),
        "availableTools": equipment.tools.iter().map(tool).collect::<Vec<_>>(),
    })
}

/// The names of MCP tools for clients of these routes, by the names that models use. Of two equal names, the second
/// is qualified.
fn mcp_tool_names(tools: &[ToolDescription]) -> BTreeMap<&str, String> {
    let mut taken = BTreeSet::new();
    let mut names = BTreeMap::new();
    for tool in tools {
        let Some((server, own)) = &tool.origin else { continue };
        let mut name = mcp_name(server, own);
        if !taken.insert(name.clone()) {
            name = qualified_mcp_name(server, own);
        }
        names.insert(tool.name.as_str(), name);
    }
    names
}

/// The response to `GET /listCommands`: the name of a sub-command is its whole path.
pub fn command_list(commands: &[CommandSpec]) -> Value {
    json!({ "commands": commands.iter().map(|spec| command(spec, "")).collect::<Vec<_>>() })
}

fn command(spec: &CommandSpec, before: &str) -> Value {
    let name = format!("{before}{}", spec.name);
    let argument = |argument: &attache_domain::CommandArgument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "isRequired": argument.required,
        })
    };
    let below = format!("{name} ");
    json!({
        "name": name,
        "description": spec.description,
        "arguments": spec.arguments.iter().map(argument).collect::<Vec<_>>(),
        "subCommands": spec.sub_commands.iter().map(|spec| command(spec, &below)).collect::<Vec<_>>(),
    })
}

/// Reads `POST /tasks`: the conversation and the settings of a future task.
pub fn read_create(body: Value) -> Result<(Option<ContextId>, Option<Box<RequestedSettings>>), Fault> {
    let mut decoder = Decoder::new(JsonForm::V0_3Rpc);
    let read = read_members(&mut decoder, body);
    decoder.finish(read)
}

fn read_members(
    decoder: &mut Decoder,
    body: Value,
) -> Option<(Option<ContextId>, Option<Box<RequestedSettings>>)> {
    let mut members = match body {
        Value::Null => return Some((None, None)),
        body => decoder.members(body, FieldPath::Root)?,
    };
    let context = members.id(decoder, "contextId").map(ContextId::from);
    let here = members.path();
    let settings = members.take("agentSettings");
    let requested = settings
        .and_then(|settings| incoming::read_gemini_settings(decoder, settings, here.member("agentSettings")));
    Some((context, requested))
}

/// Reads `POST /executeCommand`. The error text is the route's own.
pub fn read_execute(body: &Value) -> Result<SendMessage, String> {
    let named = body["command"].as_str().map(str::trim).filter(|command| !command.is_empty());
    let Some(named) = named else {
        return Err(
            "Invalid \"command\" field: it must be the command's name, such as \"memory show\".".into()
        );
    };
    let path = named.trim_start_matches('/').split_whitespace().map(str::to_owned).collect();
    let words = match &body["args"] {
        Value::Null => Vec::new(),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .ok_or("\"args\" field must be an array of strings.")?,
        _ => return Err("\"args\" field must be an array.".into()),
    };
    let command = CommandCall { path, arguments: words.join(" ") };
    let message = Message {
        id: MessageId::from(""),
        role: Role::User,
        parts: vec![Part::text(command.line())],
        context: None,
        task: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
        requested: None,
        command: Some(Box::new(command)),
        sender: None,
    };
    let (configuration, options) = (SendConfiguration::default(), SendOptions::default());
    Ok(SendMessage { message, answers: MessageAnswers::default(), configuration, metadata: None, options })
}

/// The result of a command: its text, or its data for commands whose data the clients of this route expect.
pub fn execution_result(command: &CommandCall, view: &TaskView) -> Value {
    let name = command.path.join(" ");
    let data = view.command_result().cloned();
    let text = view.answer_text();
    let said = || match text.is_empty() {
        true => view.status.message.as_ref().map(|message| message.text()).unwrap_or_default(),
        false => text.clone(),
    };
    let message =
        |kind: &str, content: String| json!({ "type": "message", "messageType": kind, "content": content });
    let data = match (name.as_str(), data) {
        ("list-extensions", Some(data)) => data,
        // Clients parse the list from the text.
        ("restore list", Some(data)) => message("info", data["checkpoints"].to_string()),
        ("restore", _) => message("error", said()),
        _ => said().into(),
    };
    json!({ "name": name, "data": data })
}

/// One JSON value as bytes.
pub fn to_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(value, &mut out);
    out
}
