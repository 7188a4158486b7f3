//! The commands of the development-tool extension in protobuf.
//!
//! Commands are rare, so they go through JSON, where their rules are implemented.

use attache_domain::{CommandSpec, Fault, OperationKind};
use bytes::Bytes;
use prost_reflect::DynamicMessage;
use serde_json::Value;

use super::json_form;
use super::transcode::{message_descriptor, transcode};
use crate::devtool::commands::{self, ExecutionStatus};
use crate::{DecodedOperation, Version};

/// The prefix of its method paths.
pub(crate) const SERVICE: &str = "/development_tool.v0.DevelopmentToolService/";

/// Decodes a request to list commands or to execute one.
pub(super) fn decode(
    version: Version,
    kind: OperationKind,
    message: Bytes,
) -> Result<DecodedOperation, Fault> {
    let name = match kind {
        OperationKind::Execute => "development_tool.v0.ExecuteSlashCommandRequest",
        _ => "development_tool.v0.GetAllSlashCommandsRequest",
    };
    crate::decode(json_form(version), kind, Some(read(name, message)?))
}

fn read(name: &str, message: Bytes) -> Result<Value, Fault> {
    let unreadable =
        |error: String| Fault::InvalidRequest { what: format!("the message cannot be read: {error}") };
    let definition = message_descriptor(name).map_err(|_| Fault::Internal)?;
    let message =
        DynamicMessage::decode(definition, message).map_err(|error| unreadable(error.to_string()))?;
    serde_json::to_value(message).map_err(|error| unreadable(error.to_string()))
}

/// The response to `GetAllSlashCommands`.
pub fn write_commands(specs: &[CommandSpec], out: &mut Vec<u8>) -> Result<(), String> {
    let mut json = Vec::new();
    commands::write_list(specs, &mut json);
    write("development_tool.v0.GetAllSlashCommandsResponse", &json, out)
}

/// The response to `ExecuteSlashCommand`; `task` is empty when nothing was started.
pub fn write_execution(
    task: &str,
    status: ExecutionStatus,
    message: &str,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let mut json = Vec::new();
    commands::write_execution(task, status, message, &mut json);
    write("development_tool.v0.ExecuteSlashCommandResponse", &json, out)
}

fn write(name: &str, json: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let json = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    out.extend_from_slice(&transcode(name, json)?);
    Ok(())
}
