//! Arbitrary texts as names of tools.

use async_trait::async_trait;
use serde_json::json;

use super::*;
use crate::{Proposal, ToolContext, ToolInput, ToolKind, ToolOutput, ToolSpec};

const MAX_TOOLS: usize = 50;

/// The first line is looked up, the others are names of tools. Only registered tools are found; the error for an unknown
/// name lists them, at bounded length.
pub(crate) fn found(text: &str) {
    let mut lines = text.lines();
    let requested = lines.next().unwrap_or_default();
    let names: Vec<&str> = lines.take(MAX_TOOLS).collect();
    let mut registry = ToolRegistry::default();
    names.iter().for_each(|name| registry.add(Arc::new(NamedTool(spec(name)))));
    let kept: Vec<&str> = registry.tools().map(|tool| tool.spec().name.as_str()).collect();
    assert!(kept.is_sorted_by(|one, next| one < next), "each once and in order: {kept:?}");
    for name in names.iter().chain([&requested]) {
        let today = ALIASES.iter().find(|(alias, _)| alias == name).map_or(*name, |(_, today)| today);
        match registry.find(name) {
            Ok(tool) => assert_eq!(tool.spec().name, today),
            Err(error) => {
                assert!(error.kind == ToolErrorKind::ToolNotRegistered && !names.contains(&today), "{error}");
                // Every letter of the name may be escaped.
                assert!(error.message.len() <= 12 * text.len() + 200, "{error}");
                let near = registry.nearest(name);
                assert!(near.len() <= 3 && near.iter().all(|near| names.contains(near)), "{error}");
            }
        }
    }
}

struct NamedTool(ToolSpec);

#[async_trait]
impl Tool for NamedTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn propose(&self, _: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        Err(ToolError::bad_input("it is only a name"))
    }

    async fn run(&self, _: Proposal, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::bad_input("it is only a name"))
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: String::new(),
        description: String::new(),
        kind: ToolKind::Other,
        parameters: json!({}),
        repeatable: false,
        parallel: false,
        origin: None,
    }
}
