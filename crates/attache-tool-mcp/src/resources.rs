//! Two tools for the resources of servers: one lists them, one reads them.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use attache_domain::{Content, Effect, Preview, Proposal, excerpt_in_bytes};
use attache_tool::{
    MAX_OUTPUT_CHARACTERS, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec, untrusted,
};
use serde_json::{Value, json};

use crate::connection::RequestOptions;
use crate::mcp_tool::words;
use crate::server::Server;
use crate::tool_result::{self, ResultSource};

/// The servers; weak, because a conversation owns them.
pub(crate) type WeakServers = Weak<[Arc<Server>]>;

const LIST: &str = "list_mcp_resources";
const READ: &str = "read_mcp_resource";

/// Lists the known resources.
pub(crate) struct ListResources {
    spec: ToolSpec,
    servers: WeakServers,
}

impl ListResources {
    pub(crate) fn new(servers: WeakServers) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": { "serverName": { "type": "string", "description": "Only those of this MCP server." } },
        });
        let description = "Lists the resources that MCP servers offer: documents, records and other data, each with \
                           the URI that read_mcp_resource takes.";
        Self { spec: spec(LIST, "List MCP resources", description, parameters), servers }
    }
}

#[async_trait]
impl Tool for ListResources {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        crate::input::check(&self.spec.parameters, input)?;
        let servers = chosen(&self.servers, input)?;
        let names: Vec<&str> = servers.iter().map(|server| server.options.name.as_str()).collect();
        let summary = format!("List the resources of {}", names.join(", "));
        // Uses the lists that were read when the servers connected.
        Ok(Proposal { input: input.clone(), effects: Vec::new(), shown: Preview::Plain { summary } })
    }

    async fn run(&self, proposal: Proposal, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut lines = Vec::new();
        for server in chosen(&self.servers, &proposal.input)? {
            for resource in server.resources() {
                let about = [&resource.name, &resource.media_type, &resource.description];
                let about: Vec<&str> =
                    about.into_iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
                lines.push(format!("{}: {} ({})", server.options.name, resource.uri, about.join("; ")));
            }
        }
        let summary = format!("{} resources", lines.len());
        let text = if lines.is_empty() {
            "There are none.".into()
        } else {
            untrusted(&excerpt_in_bytes(&lines.join("\n"), MAX_OUTPUT_CHARACTERS))
        };
        Ok(ToolOutput { content: vec![Content::Text(text)], summary, ..ToolOutput::default() })
    }
}

/// Reads a resource.
pub(crate) struct ReadResource {
    spec: ToolSpec,
    servers: WeakServers,
}

impl ReadResource {
    pub(crate) fn new(servers: WeakServers) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "uri": { "type": "string", "description": "The URI, as list_mcp_resources tells it." },
                "serverName": { "type": "string", "description": "The MCP server that has it, if several might." },
            },
            "required": ["uri"],
        });
        let description = "Reads a resource of an MCP server.";
        Self { spec: spec(READ, "Read MCP resource", description, parameters), servers }
    }

    fn find(&self, input: &ToolInput) -> Result<(Arc<Server>, String), ToolError> {
        let uri = input.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut servers = chosen(&self.servers, input)?;
        if !input.contains_key("serverName") {
            servers.retain(|server| server.resources().iter().any(|resource| resource.uri == uri));
        }
        match servers.pop() {
            Some(server) => Ok((server, uri)),
            None => Err(ToolError::bad_input(format!(
                "no MCP server lists the resource {uri:?}; see {LIST}, or name the server in serverName"
            ))),
        }
    }
}

#[async_trait]
impl Tool for ReadResource {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        crate::input::check(&self.spec.parameters, input)?;
        let (server, uri) = self.find(input)?;
        let address = server.options.client_address().map(|address| format!(" at {address}"));
        let server = server.options.name.clone();
        // Uses the server's real name from here on, so that the approved server is the one that is asked.
        let mut input = input.clone();
        input.insert("serverName".into(), json!(server));
        let address = address.unwrap_or_default();
        let summary = format!("Read {} of the MCP server {server}{address}", excerpt_in_bytes(&uri, 200));
        Ok(Proposal {
            input,
            effects: vec![Effect::UseServer { server, tool: READ.into() }],
            shown: Preview::Plain { summary },
        })
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (server, uri) = self.find(&proposal.input)?;
        let source = ResultSource { server: &server.options.name, tool: READ };
        let terms = RequestOptions { timeout: server.options.timeout, cancel: &context.cancel, live: None };
        let answer = server.request("resources/read", json!({ "uri": uri }), terms).await;
        let result = answer.map_err(|error| tool_result::failure(source, &words(&error)))?;
        Ok(tool_result::of_resource(result, source, &context.workspace.scratch).await)
    }
}

fn spec(name: &str, title: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        title: title.into(),
        description: description.into(),
        kind: ToolKind::Read,
        parameters,
        repeatable: true,
        parallel: true,
        origin: None,
    }
}

/// The named server, or all.
fn chosen(servers: &WeakServers, input: &ToolInput) -> Result<Vec<Arc<Server>>, ToolError> {
    let servers = servers.upgrade().map(|servers| servers.to_vec()).unwrap_or_default();
    let Some(name) = input.get("serverName").and_then(Value::as_str) else { return Ok(servers) };
    let found: Vec<_> = servers.iter().filter(|server| server.options.name == name).cloned().collect();
    if found.is_empty() {
        let names: Vec<&str> = servers.iter().map(|server| server.options.name.as_str()).collect();
        let known = names.join(", ");
        return Err(ToolError::bad_input(format!("there is no MCP server {name:?}; there are: {known}")));
    }
    Ok(found)
}
