//! The tools and resources that a server lists.

use std::collections::HashSet;

use attache_domain::excerpt_in_bytes;
use serde_json::{Value, json};

use super::{Resource, Server};
use crate::connection::{Connection, RequestOptions};
use crate::error::{CallError, ConnectError};
use crate::tool_list::ToolList;

/// The maximum pages of one list.
const MAX_PAGES: usize = 100;
const MAX_RESOURCES: usize = 1_000;
const MAX_TEXT_LENGTH: usize = 1_000;
/// The code of "method not found": a server without tools need not implement the method.
const METHOD_NOT_FOUND: i32 = -32601;

pub(super) struct ServerLists {
    pub(super) offer: ToolList,
    pub(super) resources: Vec<Resource>,
}

pub(super) async fn read(server: &Server, connection: &Connection) -> Result<ServerLists, ConnectError> {
    let mut offer = ToolList::default();
    let more = pages(server, connection, "tools", |entry| {
        offer.add(&server.options, entry);
        !offer.is_full()
    });
    match more.await {
        Ok(more) => offer.finish(more),
        Err(CallError::Refused { code: METHOD_NOT_FOUND, .. }) => {}
        Err(CallError::Lost(why)) => return Err(ConnectError::Unreachable(why)),
        Err(error) => {
            return Err(ConnectError::NotUnderstood(format!("it does not tell its tools: {error}")));
        }
    }
    let mut resources = Vec::new();
    if connection.has_resources() {
        let reading = pages(server, connection, "resources", |entry| {
            // A page is always read to its end.
            if resources.len() < MAX_RESOURCES {
                resources.extend(resource(&entry));
            }
            resources.len() < MAX_RESOURCES
        });
        if let Err(error) = reading.await {
            tracing::debug!(server = server.options.name, %error, "its resources are not known");
        }
    }
    Ok(ServerLists { offer, resources })
}

/// Passes every entry of a list to `take` until it returns false. True if the list has more.
async fn pages(
    server: &Server,
    connection: &Connection,
    what: &str,
    mut take: impl FnMut(Value) -> bool,
) -> Result<bool, CallError> {
    let timeout = server.context.connect_timeout.min(server.options.timeout);
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let terms = RequestOptions { timeout, cancel: &server.closed, live: None };
        let mut page = connection.request(&format!("{what}/list"), params, terms).await?;
        let mut enough = false;
        if let Some(Value::Array(entries)) = page.get_mut(what).map(Value::take) {
            entries.into_iter().for_each(|entry| enough = !take(entry));
        }
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        match &cursor {
            None => return Ok(false),
            // A server that repeats a cursor would never end.
            Some(next) if enough || !cursors.insert(next.clone()) => return Ok(true),
            Some(_) => {}
        }
    }
    Ok(true)
}

fn resource(entry: &Value) -> Option<Resource> {
    let text = |key: &str| {
        excerpt_in_bytes(entry.get(key).and_then(Value::as_str).unwrap_or_default(), MAX_TEXT_LENGTH)
    };
    let uri = entry.get("uri")?.as_str().filter(|uri| !uri.is_empty() && uri.len() <= MAX_TEXT_LENGTH)?;
    Some(Resource {
        uri: uri.to_owned(),
        name: text("name"),
        media_type: text("mimeType"),
        description: text("description"),
    })
}
