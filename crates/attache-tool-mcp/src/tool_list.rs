//! Decodes a server's list of tools: an invalid entry is skipped and reported, the others stay.

use std::collections::BTreeSet;

use attache_domain::excerpt_in_bytes;
use attache_tool::{ToolKind, ToolOrigin, ToolSpec};
use serde_json::{Map, Value, json};

use crate::McpServerOptions;
use crate::selection::wanted;
use crate::tool_name::tool_name;
use crate::visible::{in_lines, is_drawn, on_one_line};

/// The maximum tools of one server. Models choose badly long before this number.
pub(crate) const MAX_TOOLS: usize = 512;
const MAX_NAME_LENGTH: usize = 256;
const MAX_TITLE_LENGTH: usize = 256;
const MAX_DESCRIPTION_LENGTH: usize = 10_000;
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
const MAX_ANNOTATIONS_BYTES: usize = 4 * 1024;
/// The maximum bytes of the descriptions and schemas of a server's tools, which every request to a model contains.
const MAX_LIST_BYTES: usize = 2 * 1024 * 1024;
/// The maximum number of notes.
const MAX_NOTES: usize = 20;

/// The used tools, and notes about ignored ones.
#[derive(Debug, Default)]
pub(crate) struct ToolList {
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) notes: Vec<String>,
    names: BTreeSet<String>,
    size: usize,
    left_out: usize,
}

impl ToolList {
    /// Adds one entry of a server's list.
    pub(crate) fn add(&mut self, options: &McpServerOptions, entry: Value) {
        let named = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !named.is_empty() && !wanted(options, &named) {
            return;
        }
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        match spec(options, &named, entry) {
            Ok(spec) if self.names.contains(&spec.name) => {
                self.note(format!("{} is left out: another tool has its name already", quoted(&named)));
            }
            Ok(spec) => {
                self.size += spec.description.len() + spec.parameters.to_string().len();
                self.names.insert(spec.name.clone());
                self.tools.push(spec);
            }
            Err(why) => self.note(format!("{} is left out: {why}", quoted(&named))),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.tools.len() >= MAX_TOOLS || self.size >= MAX_LIST_BYTES
    }

    /// Called after the last entry; `more` if the list was not read to its end.
    pub(crate) fn finish(&mut self, more: bool) {
        if self.left_out > 0 || more {
            let kept = self.tools.len();
            self.notes.push(format!(
                "only the first {kept} tools are used: that is as much as a model can be told of; choose with includeTools"
            ));
        }
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        }
    }
}

fn spec(options: &McpServerOptions, named: &str, mut entry: Value) -> Result<ToolSpec, String> {
    if named.is_empty() {
        return Err("it has no name".into());
    }
    if named.len() > MAX_NAME_LENGTH {
        return Err(format!("its name is longer than {MAX_NAME_LENGTH} bytes"));
    }
    if !named.chars().all(is_drawn) {
        return Err("its name has characters that cannot be seen".into());
    }
    let parameters = parameters(entry.get_mut("inputSchema").map(Value::take))?;
    let annotations = match entry.get_mut("annotations").map(Value::take) {
        Some(Value::Object(said)) if size(&said) <= MAX_ANNOTATIONS_BYTES => said,
        _ => Map::new(),
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let title = text(entry.get("title")).or_else(|| text(annotations.get("title")));
    let title = title.map(|title| on_one_line(&title)).filter(|title| !title.is_empty());
    let claims = |hint: &str| annotations.get(hint) == Some(&Value::Bool(true));
    Ok(ToolSpec {
        name: tool_name(&options.name, named),
        title: excerpt_in_bytes(&title.unwrap_or_else(|| named.to_owned()), MAX_TITLE_LENGTH),
        description: excerpt_in_bytes(
            &in_lines(&text(entry.get("description")).unwrap_or_default()),
            MAX_DESCRIPTION_LENGTH,
        ),
        kind: ToolKind::Other,
        parameters,
        // A hint is a claim, which counts only for a trusted server.
        repeatable: options.trust && (claims("readOnlyHint") || claims("idempotentHint")),
        parallel: true,
        origin: Some(ToolOrigin { server: options.name.clone(), tool: named.to_owned(), annotations }),
    })
}

/// The schema, which must be one of an object.
fn parameters(schema: Option<Value>) -> Result<Value, String> {
    let mut schema = match schema {
        Some(Value::Object(schema)) => schema,
        Some(_) => return Err("its inputSchema is not an object".into()),
        None => Map::new(),
    };
    if size(&schema) > MAX_SCHEMA_BYTES {
        return Err(format!("its inputSchema is larger than {MAX_SCHEMA_BYTES} bytes"));
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        None => drop(schema.insert("type".into(), json!("object"))),
        Some(_) => return Err("its inputSchema does not describe an object".into()),
    }
    Ok(Value::Object(schema))
}

fn size(map: &Map<String, Value>) -> usize {
    serde_json::to_string(map).map_or(usize::MAX, |text| text.len())
}

fn quoted(name: &str) -> String {
    if name.is_empty() { "a tool".into() } else { format!("the tool {:?}", excerpt_in_bytes(name, 64)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transport;

    fn options(trust: bool) -> McpServerOptions {
        let transport = Transport::Http { url: String::new(), headers: vec![] };
        McpServerOptions { trust, ..McpServerOptions::new("srv", transport) }
    }

    fn offer(trust: bool, entries: impl IntoIterator<Item = Value>) -> ToolList {
        let mut offer = ToolList::default();
        entries.into_iter().for_each(|entry| offer.add(&options(trust), entry));
        offer.finish(false);
        offer
    }

    #[test]
    fn a_tool_is_taken_over_with_what_the_server_says_about_it() {
        let entry = json!({
            "name": "read it", "title": "Read", "description": "reads",
            "inputSchema": { "properties": { "a": { "type": "string" } } },
            "annotations": { "readOnlyHint": true },
        });
        let offer = offer(true, [entry]);
        let [spec] = &offer.tools[..] else { panic!("{offer:?}") };
        assert_eq!((spec.name.as_str(), spec.title.as_str()), ("mcp_srv_read_it", "Read"));
        assert_eq!(spec.parameters["type"], "object");
        let origin = spec.origin.as_ref().unwrap();
        assert_eq!((origin.server.as_str(), origin.tool.as_str()), ("srv", "read it"));
        assert_eq!(origin.annotations["readOnlyHint"], true);
        assert!(spec.repeatable && spec.parallel);
    }

    #[test]
    fn a_hint_counts_only_when_the_server_is_trusted() {
        for (trust, hint, expected) in [
            (true, "readOnlyHint", true),
            (true, "idempotentHint", true),
            (true, "openWorldHint", false),
            (false, "readOnlyHint", false),
        ] {
            let offer =
                offer(trust, [json!({ "name": "a", "inputSchema": {}, "annotations": { hint: true } })]);
            assert_eq!(offer.tools[0].repeatable, expected, "{trust} {hint}");
        }
    }

    #[track_caller]
    fn refused(entry: Value, why: &str) {
        let offer = offer(false, [entry, json!({ "name": "good", "inputSchema": { "type": "object" } })]);
        assert_eq!(offer.tools.len(), 1, "{offer:?}");
        assert!(offer.notes[0].contains(why), "{:?}", offer.notes);
    }

    #[test]
    fn a_bad_tool_is_left_out_and_the_others_stay() {
        refused(json!({ "name": "a", "inputSchema": "text" }), "not an object");
        refused(json!({ "name": "a", "inputSchema": { "type": "array" } }), "does not describe an object");
        refused(json!({ "name": "a", "inputSchema": { "x": "y".repeat(70_000) } }), "larger than");
        refused(json!({ "inputSchema": {} }), "no name");
        refused(json!({ "name": "x".repeat(300) }), "longer than");
        refused(json!({ "name": "a\u{202e}b" }), "cannot be seen");
        refused(json!(17), "no name");
        refused(json!({ "name": "good" }), "another tool has its name");
    }

    #[test]
    fn an_endless_list_is_cut() {
        let offer = offer(false, (0..10_000).map(|number| json!({ "name": format!("t{number}") })));
        assert_eq!(offer.tools.len(), MAX_TOOLS);
        assert!(offer.notes[0].contains("only the first 512"), "{:?}", offer.notes);
    }
}
