//! Settings that a client requests: the RFC's `AgentSettings`, Gemini CLI's, or attache's own.

use attache_domain::{Metadata, RequestedSettings};
use serde_json::Value;

use super::{GEMINI, OWN, api_key};
use crate::decode::decoder::{Decoder, FieldPath, Members};
use crate::devtool::is_devtool_uri;
use crate::devtool::setting_names::{IN_WORKSPACE_PATH, IN_WORKSPACE_ROOT};

/// The settings in the metadata of a message; later members of this list override earlier ones.
pub(super) fn read(
    decoder: &mut Decoder,
    metadata: Option<&mut Metadata>,
    path: FieldPath<'_>,
) -> Option<RequestedSettings> {
    let metadata = metadata?;
    let mut keys = api_key::take_out(metadata);
    api_key::refuse_misplaced(decoder, metadata, path);
    let names = metadata.keys().map(String::as_str);
    let extension = names.filter(|key| is_devtool_uri(key)).max();
    let mut requested: Option<RequestedSettings> = None;
    for key in [Some(GEMINI), extension, Some(OWN)].into_iter().flatten() {
        let Some(value) = metadata.get(key).filter(|value| !value.is_null()) else { continue };
        let here = path.member(key);
        let Some(members) = decoder.members(value.clone(), here) else { continue };
        let api_key = keys.remove(key).and_then(|given| api_key::read(decoder, given, here));
        if let Some(mut read) = read_members(decoder, members, key) {
            read.api_key = api_key;
            requested = Some(match requested {
                Some(before) => read.over(before),
                None => read,
            });
        }
    }
    requested
}

/// The settings of `POST /tasks` of Gemini CLI's clients. The member of the REST API counts too.
pub(super) fn read_gemini(
    decoder: &mut Decoder,
    settings: Value,
    path: FieldPath<'_>,
) -> Option<RequestedSettings> {
    let mut members = decoder.members(settings, path)?;
    let api_key = members.take(api_key::NAME).and_then(|given| api_key::read(decoder, given, path));
    let root = members.nonempty_text(decoder, "workspaceRoot");
    let mut requested = read_members(decoder, members, GEMINI)?;
    requested.metadata_key = IN_WORKSPACE_PATH.to_owned();
    requested.api_key = api_key;
    if let (None, Some(root)) = (&requested.workspace, root) {
        requested.workspace = Some(root.into());
        requested.metadata_key = IN_WORKSPACE_ROOT.to_owned();
    }
    Some(requested)
}

/// Accepts camelCase and snake_case. Only attache's own object refuses unknown members: the others may hold members
/// of later versions.
fn read_members(decoder: &mut Decoder, mut members: Members<'_>, key: &str) -> Option<RequestedSettings> {
    if key == GEMINI && members.text(decoder, "kind").is_some_and(|kind| kind != "agent-settings") {
        return None;
    }
    let workspace = members.nonempty_text(decoder, "workspacePath");
    let requested = RequestedSettings {
        model: members.nonempty_text(decoder, "model"),
        workspace: workspace.or_else(|| members.nonempty_text(decoder, "workspace")).map(Into::into),
        approval_mode: members.nonempty_text(decoder, "approvalMode"),
        mcp_servers: members.object(decoder, "mcpServers").unwrap_or_default(),
        local_servers: Vec::new(),
        allowed_tools: members.texts(decoder, "allowedTools"),
        auto_execute: members.boolean(decoder, "autoExecute").unwrap_or(false),
        api_key_name: None,
        api_key_model: None,
        api_key: None,
        metadata_key: key.to_owned(),
    };
    if key == OWN
        && let Some(unknown) = members.first_name()
    {
        let here = members.path();
        let known = "model, workspace, approvalMode, mcpServers, allowedTools, autoExecute and apiKey";
        return decoder.refuse(here, format!("cannot hold {unknown:?}; it may hold {known}"));
    }
    Some(requested)
}
