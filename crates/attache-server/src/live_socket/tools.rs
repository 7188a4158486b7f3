//! The tools that the client of a socket brings.

use std::collections::BTreeMap;

use attache_domain::{CONNECT_SERVER, CallRecord, Fault, GetTask, Preview, RequestedSettings, Right, TaskId};
use attache_wire::devtool::live_tools::{
    BroughtServer, RegisterTools, UnregisterTools, address_of, registered, session_of,
};
use serde_json::{Value, json};

use super::LiveSocket;
use crate::live_tools::{BroughtTool, shown_address};

/// Servers that one socket may bring, into all of its sessions.
const MAX_BROUGHT: usize = 16;

impl LiveSocket {
    /// Brings servers into a session: all of them, or none.
    pub(super) async fn register_tools(&mut self, register: RegisterTools) -> Result<Value, Fault> {
        let RegisterTools { task, servers } = register;
        self.origin.caller.rights().require(Right::Prompt)?;
        if self.brought.len() + servers.len() > MAX_BROUGHT {
            let what = format!("a client may bring {MAX_BROUGHT} servers; take some of them away first");
            return Err(Fault::LimitReached { what });
        }
        let task = session_of(task, self.only.as_ref(), self.current.as_ref())?;
        let get = GetTask { task: task.clone(), history_length: None, at: None };
        let view = self.app.session.get(&self.scope, &get).await?.view.clone();
        let by = self.app.guard.shown_name(self.origin.caller, &self.headers);
        let (mut guards, mut names) = (Vec::new(), Vec::new());
        for (name, server) in servers {
            let address = shown_address(&name, address_of(&server).unwrap_or_default())?;
            let mut brought = RequestedSettings::default();
            brought.mcp_servers.insert(name.clone(), server);
            if self.origin.is_local {
                brought.mark_local_client();
            }
            let guard = self.app.session.bring_server(&view, &brought, &by).await?;
            names.push(name.clone());
            guards.push((BroughtServer { name, address, by: by.clone() }, guard));
        }
        let key = view.key();
        tracing::debug!(request = self.origin.number, %task, "[A2AService] A2A client brings MCP servers");
        let add = |(server, guard)| self.app.live_tools.add(key.clone(), server, guard);
        self.brought.extend(guards.into_iter().map(add));
        Ok(registered(&view, &names))
    }

    /// Takes away what this client has brought.
    pub(super) async fn unregister_tools(&mut self, unregister: &UnregisterTools) -> Result<Value, Fault> {
        let UnregisterTools { task, names } = unregister;
        let is_meant = |brought: &BroughtTool| {
            let in_session = task.as_ref().is_none_or(|task| brought.task.task == *task);
            in_session && (names.is_empty() || names.contains(&brought.name))
        };
        let known =
            |name: &&String| self.brought.iter().any(|brought| is_meant(brought) && brought.name == **name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let shown: String = unknown.chars().take(80).collect();
            return Err(Fault::invalid("names", format!("has {shown:?}, which this client has not brought")));
        }
        let taken: Vec<_> = self.brought.extract_if(.., |brought| is_meant(brought)).collect();
        let names: Vec<_> = taken.iter().map(|brought| brought.name.clone()).collect();
        self.take_tools(taken).await;
        Ok(json!({ "names": names }))
    }

    /// Takes the servers away, and withdraws the open questions about them: nothing could be done with an approval.
    pub(super) async fn take_tools(&mut self, taken: Vec<BroughtTool>) {
        let mut names: BTreeMap<TaskId, Vec<String>> = BTreeMap::new();
        for brought in taken {
            names.entry(brought.task.task.clone()).or_default().push(brought.name.clone());
        }
        if self.app.stop.is_cancelled() {
            return;
        }
        for (task, names) in names {
            if let Err(fault) = self.withdraw_questions(&task, &names).await {
                tracing::debug!(%task, %fault, "the questions about tools that were taken away stay");
            }
        }
    }

    async fn withdraw_questions(&mut self, task: &TaskId, servers: &[String]) -> Result<(), Fault> {
        let get = GetTask { task: task.clone(), history_length: None, at: None };
        let view = self.app.session.get(&self.scope, &get).await?.view.clone();
        for record in view.call_records.asked().filter(|record| is_about(record, servers)) {
            self.app.session.cancel_call(&self.scope, task, record.shown_id()).await?;
        }
        Ok(())
    }
}

/// Would the call connect to one of these servers, or use a tool of it?
fn is_about(record: &CallRecord, servers: &[String]) -> bool {
    let server = match record.preview() {
        Some(Preview::Mcp { server, .. }) => Some(server.as_str()),
        _ if record.call.name == CONNECT_SERVER => record.call.input.get("server").and_then(Value::as_str),
        _ => None,
    };
    server.is_some_and(|server| servers.iter().any(|name| name == server))
}
