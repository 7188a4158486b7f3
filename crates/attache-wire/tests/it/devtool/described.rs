//! The schema, the protobuf definitions and what is really sent say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use attache_domain::{CommandArgument, CommandSpec};
use attache_testkit::extension::{SCHEMA, check};
use attache_wire::JsonForm;
use attache_wire::devtool::URI;
use attache_wire::devtool::commands::{ExecutionStatus, write_execution, write_list};
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use serde_json::{Value, json};

use super::stories;
use super::world::{calls, tell};

/// Definitions of the schema that are A2A's, and not the extension's.
const ENVELOPE: &[&str] = &[
    "ArtifactUpdate",
    "EventMetadata",
    "Message",
    "OfKindTextContent",
    "OfKindThought",
    "OfKindToolCallUpdate",
    "Part",
    "Status",
    "StatusUpdate",
    "StatusWithText",
    "StatusWithThought",
    "StatusWithToolCall",
    "Task",
    "TextPart",
    "ThoughtPart",
    "ToolCallPart",
    "Usage",
    "Wrapped",
];

/// Members that the RFC has and the server never sends.
const UNSENT: &[&str] = &["ErrorDetails.status_code"];

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/extension");
    let mut compiler = protox::Compiler::new([folder]).unwrap();
    compiler.open_file("development-tool.proto").unwrap_or_else(|error| panic!("{error:?}"));
    compiler.descriptor_pool()
});

fn message(name: &str) -> MessageDescriptor {
    let full = format!("development_tool.v0.{name}");
    POOL.get_message_by_name(&full).unwrap_or_else(|| panic!("there is no message {name}"))
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Reads `value` as proto3 does, refusing what it does not know.
fn read(name: &str, value: &Value) -> Result<DynamicMessage, String> {
    DynamicMessage::deserialize(message(name), value.clone()).map_err(|error| error.to_string())
}

fn members(value: &Value) -> BTreeSet<String> {
    value.as_object().into_iter().flat_map(|members| members.keys().cloned()).collect()
}

#[test]
fn the_schema_and_the_protobuf_definitions_have_the_same_members() {
    let schema = schema();
    let mut names = BTreeSet::new();
    for message in POOL.all_messages().filter(|message| message.package_name() == "development_tool.v0") {
        let definition = &schema["$defs"][message.name()]["properties"];
        // A2A's own members keep their names.
        let name_of =
            |name: &str, json: &str| if definition[json].is_object() { json } else { name }.to_owned();
        let fields: BTreeSet<_> =
            message.fields().map(|field| name_of(field.name(), field.json_name())).collect();
        assert_eq!(fields, members(definition), "{}", message.name());
        names.insert(message.name().to_owned());
    }
    for kind in POOL.all_enums().filter(|kind| kind.package_name() == "development_tool.v0") {
        let described = match kind.name() {
            "DevelopmentToolEventKind" => {
                &schema["$defs"]["DevelopmentToolEvent"]["properties"]["kind"]["enum"]
            }
            name => {
                names.insert(name.to_owned());
                &schema["$defs"][name]["enum"]
            }
        };
        let values: Vec<_> =
            kind.values().filter(|value| value.number() != 0).map(|value| json!(value.name())).collect();
        assert_eq!(described, &json!(values), "{}", kind.name());
    }
    names.extend(ENVELOPE.iter().map(|name| (*name).to_owned()));
    assert_eq!(members(&schema["$defs"]), names);
}

#[test]
fn every_tool_call_can_be_read_as_the_protobuf_message() {
    let told: Vec<_> = stories::all().into_iter().flat_map(calls).collect();
    assert!(told.len() > 200, "{}", told.len());
    for call in &told {
        let read = read("ToolCall", call).unwrap_or_else(|error| panic!("{error}\nin {call:#}"));
        assert!(read.has_field_by_name("status") && read.has_field_by_name("tool_call_id"), "{call:#}");
    }
    let mut odd = told[0].clone();
    odd["surprise"] = json!(1);
    read("ToolCall", &odd).unwrap_err();
}

#[test]
fn thoughts_and_the_metadata_of_events_can_be_read_as_protobuf_messages() {
    let mut thoughts = 0;
    for event in stories::all().into_iter().flat_map(tell).filter_map(|told| told.encoded(JsonForm::V0_3Rpc))
    {
        let about = &event["metadata"][URI];
        if about.is_object() {
            read("DevelopmentToolEvent", about).unwrap_or_else(|error| panic!("{error}\nin {about:#}"));
        }
        if about["kind"] == "THOUGHT" {
            thoughts += 1;
            read("AgentThought", &event["status"]["message"]["parts"][0]["data"]).unwrap();
        }
    }
    assert_eq!(thoughts, 2);
}

#[test]
fn everything_described_of_a_tool_call_really_occurs() {
    let schema = schema();
    let mut seen = BTreeMap::<String, BTreeSet<String>>::new();
    for call in stories::all().into_iter().flat_map(calls) {
        note(&schema, "ToolCall", &call, &mut seen);
    }
    for (definition, seen) in &seen {
        let unsent = |name: &String| !UNSENT.contains(&format!("{definition}.{name}").as_str());
        let described: BTreeSet<_> =
            members(&schema["$defs"][definition]["properties"]).into_iter().filter(unsent).collect();
        assert_eq!(*seen, described, "{definition}");
    }
    assert_eq!(seen.len(), 12, "{:?}", seen.keys());
}

/// Notes the members of `value`, and of all within it that a definition describes.
fn note(schema: &Value, definition: &str, value: &Value, seen: &mut BTreeMap<String, BTreeSet<String>>) {
    let properties = &schema["$defs"][definition]["properties"];
    if !properties.is_object() {
        return;
    }
    seen.entry(definition.to_owned()).or_default().extend(members(value));
    for (name, value) in value.as_object().into_iter().flatten() {
        let property = &properties[name];
        let reference = property["$ref"].as_str().or_else(|| property["items"]["$ref"].as_str());
        let Some(next) = reference.and_then(|reference| reference.strip_prefix("#/$defs/")) else { continue };
        match value {
            Value::Array(items) => items.iter().for_each(|item| note(schema, next, item, seen)),
            other => note(schema, next, other, seen),
        }
    }
}

#[track_caller]
fn check_both(name: &str, value: &Value) {
    check(name, value).unwrap_or_else(|error| panic!("{error}"));
    read(name, value).unwrap_or_else(|error| panic!("{name}: {error}"));
}

#[test]
fn what_clients_send_is_described_as_well() {
    let edited = json!({ "new_content": "mine\n" });
    let answer =
        json!({ "tool_call_id": "k1", "selected_option_id": "proceed_once", "file_details": edited });
    check_both("ToolCallConfirmation", &answer);
    for answers in [json!({ "0": "red" }), json!(["red", "Ann"]), json!("red")] {
        let answer = json!({ "tool_call_id": "k1", "selected_option_id": "answer", "answers": answers });
        check_both("ToolCallConfirmation", &answer);
    }
    check("ToolCallConfirmation", &json!({ "tool_call_id": "k1" })).unwrap_err();
    let settings = json!({
        "workspace_path": "/w", "model": "m", "approval_mode": "default", "mcp_servers": { "files": { "command": "x" } },
        "allowed_tools": ["read_file"], "auto_execute": false,
    });
    check_both("AgentSettings", &settings);
    check("AgentSettings", &json!({ "workspace_path": 7 })).unwrap_err();
}

#[test]
fn commands_are_described() {
    let argument = json!({ "name": "fact", "description": "To keep.", "is_required": true });
    let add = json!({ "name": "add", "description": "Keeps a fact.", "arguments": [argument] });
    let memory = json!({ "name": "memory", "description": "Facts.", "arguments": [], "sub_commands": [add] });
    check_both("GetAllSlashCommandsResponse", &json!({ "commands": [memory] }));
    let request = json!({
        "command_path": ["memory", "add"], "args": "tabs", "contextId": "c", "taskId": "t", "messageId": "m",
        "metadata": { URI: { "workspace_path": "/w" } },
    });
    check_both("ExecuteSlashCommandRequest", &request);
    check("ExecuteSlashCommandRequest", &json!({ "command_path": [] })).unwrap_err();
    check_both("ExecuteSlashCommandResponse", &json!({ "execution_id": "t-1", "status": "STARTED" }));
    let failed = json!({ "execution_id": "", "status": "FAILED_TO_START", "message": "There is none." });
    check_both("ExecuteSlashCommandResponse", &failed);
    check("ExecuteSlashCommandResponse", &json!({ "status": "FAILED_TO_START" })).unwrap_err();
    check("ExecuteSlashCommandResponse", &json!({ "status": "STARTED" })).unwrap_err();
}

#[test]
fn what_is_answered_about_commands_is_as_described() {
    let argument = CommandArgument { name: "fact".into(), description: "To keep.".into(), required: true };
    let spec = |name: &str, arguments: Vec<_>, sub_commands: Vec<_>| CommandSpec {
        name: name.into(),
        description: "Facts.".into(),
        arguments,
        sub_commands,
        is_followed: false,
    };
    let add = spec("add", vec![argument], Vec::new());
    let mut out = Vec::new();
    write_list(&[spec("memory", Vec::new(), vec![add])], &mut out);
    check_both("GetAllSlashCommandsResponse", &serde_json::from_slice(&out).unwrap());
    for (status, task, message) in [
        (ExecutionStatus::Started, "t-1", ""),
        (ExecutionStatus::FailedToStart, "", "There is none."),
        (ExecutionStatus::AwaitingShellConfirmation, "t-1", ""),
        (ExecutionStatus::AwaitingActionConfirmation, "t-1", ""),
    ] {
        let mut out = Vec::new();
        write_execution(task, status, message, &mut out);
        check_both("ExecuteSlashCommandResponse", &serde_json::from_slice(&out).unwrap());
    }
}

#[test]
fn the_numbers_are_those_of_the_rfc_and_ours_begin_at_100() {
    let numbers = |name: &str| -> Vec<(String, u32)> {
        message(name).fields().map(|field| (field.name().to_owned(), field.number())).collect()
    };
    let expected = [
        ("tool_call_id", 1),
        ("status", 2),
        ("tool_name", 3),
        ("description", 4),
        ("input_parameters", 5),
        ("live_content", 6),
        ("output", 7),
        ("error", 8),
        ("confirmation_request", 9),
        ("confirmation_answer", 100),
    ];
    assert_eq!(numbers("ToolCall"), expected.map(|(name, number)| (name.to_owned(), number)));
    for ours in ["Question", "QuestionOption"] {
        assert!(numbers(ours).iter().all(|(_, number)| *number >= 100), "{ours}");
    }
    assert_eq!(numbers("GenericDetails"), [("description".into(), 1), ("questions".into(), 100)]);
}
