//! A tool that only notes its calls, and an approver that asks a person about each of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_agent::{ApprovalDecision, ApprovalRequest, Approver};
use attache_domain::{CallAnswer, Content, Preview, Proposal};
use attache_tool::{Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec};
use serde_json::json;

/// What was run, in this order.
pub(crate) type Notes = Arc<Mutex<Vec<String>>>;

pub(crate) struct Note {
    spec: ToolSpec,
    notes: Notes,
}

impl Note {
    pub(crate) fn new(notes: &Notes) -> Self {
        let spec = ToolSpec {
            name: "note".into(),
            title: "note".into(),
            description: "For tests".into(),
            kind: ToolKind::Other,
            parameters: json!({"type": "object"}),
            repeatable: false,
            parallel: false,
            origin: None,
        };
        Self { spec, notes: notes.clone() }
    }
}

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        let shown = Preview::Plain { summary: "a note".into() };
        Ok(Proposal { input: input.clone(), effects: Vec::new(), shown })
    }

    async fn run(&self, proposal: Proposal, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let text = proposal.input["text"].as_str().unwrap_or_default().to_owned();
        self.notes.lock().unwrap().push(text.clone());
        Ok(ToolOutput { content: vec![Content::Text(text.clone())], summary: text, ..ToolOutput::default() })
    }
}

pub(crate) struct AskAlways;

impl Approver for AskAlways {
    fn rule(&self, _: ApprovalRequest<'_>) -> ApprovalDecision {
        ApprovalDecision::Ask {
            choices: vec!["proceed_once".into(), "cancel".into()],
            grants: BTreeMap::new(),
            why: "a test".into(),
            access: None,
        }
    }

    fn remember_answer(&self, _: ApprovalRequest<'_>, _: &CallAnswer) {}

    fn restore_answer(&self, _: ApprovalRequest<'_>, _: &CallAnswer) {}
}
