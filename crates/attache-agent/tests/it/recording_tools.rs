//! Tools that note what they do, and the rules for them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_agent::{ApprovalDecision, ApprovalRequest, Approver};
use attache_domain::{CallAnswer, Content, Effect, Preview, Proposal};
use attache_tool::{
    LeftoverProcesses, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde_json::json;
use tokio::sync::Semaphore;

/// What the tools did, and what they may.
pub(crate) struct Notes {
    pub(crate) done: Mutex<Vec<String>>,
    pub(crate) learnt: Mutex<Vec<String>>,
    /// What `slow` waits for.
    pub(crate) go: Semaphore,
    numbers: Mutex<u32>,
}

impl Default for Notes {
    fn default() -> Self {
        Self {
            done: Mutex::default(),
            learnt: Mutex::default(),
            go: Semaphore::new(0),
            numbers: Mutex::default(),
        }
    }
}

impl Notes {
    pub(crate) fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }

    pub(crate) fn next_number(&self) -> u32 {
        let mut number = self.numbers.lock().unwrap();
        *number += 1;
        *number
    }

    /// Waits until a tool has noted `what`.
    pub(crate) async fn until(&self, what: &str) {
        while !self.done().iter().any(|done| done == what) {
            tokio::task::yield_now().await;
        }
    }
}

impl Approver for Notes {
    fn rule(&self, ApprovalRequest { tool, proposal, .. }: ApprovalRequest<'_>) -> ApprovalDecision {
        let why = "test".to_owned();
        match (tool.name.as_str(), what_of(&proposal.input)) {
            (_, Some("forbidden")) => ApprovalDecision::Deny { message: "not this".into() },
            ("write" | "save_memory", _) => ApprovalDecision::Ask {
                choices: ["proceed_once", "proceed_always", "modify_with_editor", "cancel"]
                    .map(str::to_owned)
                    .to_vec(),
                grants: [("proceed_always".to_owned(), "Always: write anything.".to_owned())].into(),
                why,
                access: None,
            },
            _ => ApprovalDecision::Allow { why, access: None },
        }
    }

    fn remember_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer) {
        self.learnt.lock().unwrap().push(format!("{} {}", case.tool.name, answer.choice));
    }

    fn restore_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer) {
        self.learnt.lock().unwrap().push(format!("again {} {}", case.tool.name, answer.choice));
    }
}

/// Tools of commands are given other input.
fn what_of(input: &ToolInput) -> Option<&str> {
    input.get("what")?.as_str()
}

pub(crate) struct RecordingTool {
    spec: ToolSpec,
    notes: Arc<Notes>,
}

impl RecordingTool {
    pub(crate) fn new(name: &str, repeatable: bool, parallel: bool, notes: Arc<Notes>) -> Self {
        let spec = ToolSpec {
            name: name.into(),
            title: name.into(),
            description: "For tests".into(),
            kind: ToolKind::Other,
            parameters: json!({"type": "object"}),
            repeatable,
            parallel,
            origin: None,
        };
        Self { spec, notes }
    }
}

#[async_trait]
impl Tool for RecordingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        if what_of(input) == Some("bad") {
            return Err(ToolError::bad_input("what must be good"));
        }
        // `NAME@FILE` says which file it is about.
        let what = what_of(input).unwrap_or_default();
        let path = what.split_once('@').map_or("file", |(_, file)| file);
        let path = if what == "b" { "other" } else { path };
        let (effect, shown) = if self.spec.name == "write" {
            let edit = Preview::Edit {
                path: path.into(),
                diff: String::new(),
                original: None,
                original_digest: None,
                new_content: "proposed".into(),
            };
            (Effect::Write { path: path.into() }, edit)
        } else {
            (Effect::Read { path: path.into() }, Preview::Plain { summary: "a look".into() })
        };
        Ok(Proposal { input: input.clone(), effects: vec![effect], shown })
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let what = what_of(&proposal.input).unwrap_or_default().to_owned();
        let note = |text: String| self.notes.done.lock().unwrap().push(text);
        if what == "long" {
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        if self.spec.name == "slow" {
            note(format!("begin {what}"));
            context.live.show("half way");
            if what == "thread" {
                let (cancel, notes) = (context.cancel.clone(), self.notes.clone());
                std::thread::spawn(move || {
                    while !cancel.is_cancelled() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    notes.done.lock().unwrap().push("the thread ends".into());
                });
            }
            self.notes
                .go
                .acquire()
                .await
                .map_err(|_| ToolError::new(ToolErrorKind::Unknown, "closed"))?
                .forget();
        }
        note(match proposal.shown {
            Preview::Edit { new_content, .. } => format!("{} {what} {new_content}", self.spec.name),
            _ => format!("{} {what}", self.spec.name),
        });
        if what == "breaks" {
            return Err(ToolError::new(ToolErrorKind::ExecutionFailed, "it broke"));
        }
        let content = vec![Content::Text(format!("result of {what}"))];
        Ok(ToolOutput { content, ..ToolOutput::default() })
    }
}

/// The tools of the tests start no processes.
pub(crate) struct NoLeftoverProcesses;

#[async_trait]
impl LeftoverProcesses for NoLeftoverProcesses {
    async fn end(&self, _mark: &str) -> Vec<i32> {
        Vec::new()
    }
}
