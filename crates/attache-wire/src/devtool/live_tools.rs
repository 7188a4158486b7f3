//! The requests of the live endpoint by which a client brings MCP servers into a session, and the event about them.

use attache_domain::{Fault, TaskId, TaskView};
use serde_json::{Map, Value, json};

use crate::JsonForm;
use crate::decode::decoder::{Decoder, FieldPath};

/// Brings servers into the session, for as long as the socket is open.
pub const REGISTER: &str = "tools/register";

/// Takes them away before that.
pub const UNREGISTER: &str = "tools/unregister";

/// Servers in one request.
const MAX_SERVERS: usize = 16;

/// The parameters of [`REGISTER`].
#[derive(Debug, Clone, PartialEq)]
pub struct RegisterTools {
    pub task: Option<TaskId>,
    /// By name; each as in the settings of an MCP server.
    pub servers: Map<String, Value>,
}

/// The parameters of [`UNREGISTER`].
#[derive(Debug, Clone, PartialEq)]
pub struct UnregisterTools {
    pub task: Option<TaskId>,
    /// Empty: all that the client has brought.
    pub names: Vec<String>,
}

/// A server that a client has brought, as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtServer {
    pub name: String,
    /// Without what may be a secret.
    pub address: String,
    pub by: String,
}

/// Reads `{"taskId"?, "mcpServers": {"NAME": {"httpUrl": "…"}}}`.
pub fn read_register(params: Value) -> Result<RegisterTools, Fault> {
    let mut decoder = Decoder::new(JsonForm::V0_3Rpc);
    let read = register(&mut decoder, params);
    decoder.finish(read)
}

fn register(decoder: &mut Decoder, params: Value) -> Option<RegisterTools> {
    let mut params = decoder.members(params, FieldPath::Root)?;
    let task = params.id(decoder, "taskId").map(TaskId::from);
    let path = FieldPath::Root.member("mcpServers");
    let Some(servers) = params.take("mcpServers") else { return decoder.refuse(path, "is required") };
    let servers = decoder.object(servers, path)?;
    if servers.is_empty() || servers.len() > MAX_SERVERS {
        return decoder.refuse(path, format!("must name between 1 and {MAX_SERVERS} servers"));
    }
    Some(RegisterTools { task, servers })
}

/// Reads `{"taskId"?, "names"?: ["NAME"]}`.
pub fn read_unregister(params: Value) -> Result<UnregisterTools, Fault> {
    let mut decoder = Decoder::new(JsonForm::V0_3Rpc);
    let read = unregister(&mut decoder, params);
    decoder.finish(read)
}

fn unregister(decoder: &mut Decoder, params: Value) -> Option<UnregisterTools> {
    let mut params = decoder.members(params, FieldPath::Root)?;
    let task = params.id(decoder, "taskId").map(TaskId::from);
    Some(UnregisterTools { task, names: params.texts(decoder, "names") })
}

/// The response to [`REGISTER`].
pub fn registered(view: &TaskView, names: &[String]) -> Value {
    json!({ "taskId": view.task.as_str(), "contextId": view.context.as_str(), "names": names })
}

/// The session that a request means, on a socket that is `only` for one session or whose `current` one is known.
pub fn session_of(
    named: Option<TaskId>,
    only: Option<&TaskId>,
    current: Option<&TaskId>,
) -> Result<TaskId, Fault> {
    let refused = |what: String| Err(Fault::invalid("taskId", what));
    match (named, only) {
        (Some(named), Some(only)) if named != *only => {
            refused(format!("is not {only}, which this socket is for"))
        }
        (Some(named), _) => Ok(named),
        (None, _) => match current {
            Some(current) => Ok(current.clone()),
            None => refused("is required: no prompt of this socket has begun a session yet".into()),
        },
    }
}

/// All servers that clients have brought into the session.
pub fn tools_change(task: &TaskId, servers: &[BroughtServer]) -> Value {
    let shown =
        |server: &BroughtServer| json!({ "name": server.name, "address": server.address, "by": server.by });
    let servers: Vec<_> = servers.iter().map(shown).collect();
    json!({ "kind": "TOOLS_CHANGE", "servers": servers, "taskId": task.as_str() })
}

/// The address in the settings of a server.
pub fn address_of(server: &Value) -> Option<&str> {
    server.get("httpUrl").or_else(|| server.get("url")).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_or_say_what_is_wrong() {
        let read = |params: Value| read_register(params).map(|read| (read.task, read.servers.len()));
        let servers = json!({"a": {"httpUrl": "http://127.0.0.1:1/mcp"}});
        assert_eq!(read(json!({"mcpServers": servers})), Ok((None, 1)));
        assert_eq!(read(json!({"taskId": "t", "mcpServers": servers})), Ok((Some(TaskId::from("t")), 1)));
        for (params, expected) in [
            (json!({}), "mcpServers is required"),
            (json!({"mcpServers": {}}), "must name between 1 and 16 servers"),
            (json!({"mcpServers": ["a"]}), "mcpServers"),
            (json!({"mcpServers": servers, "taskId": 1}), "taskId"),
            (json!([]), "invalid parameters"),
        ] {
            let error = read(params.clone()).unwrap_err().to_string();
            assert!(error.contains(expected), "{params}: {error}");
        }
        let names = |params: Value| read_unregister(params).map(|read| read.names);
        assert_eq!(names(json!({"names": ["a", "b"]})), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(names(json!({})), Ok(Vec::new()));
        assert!(names(json!({"names": [1]})).is_err());
        assert!(names(json!({"names": "a"})).is_err());
    }
}
