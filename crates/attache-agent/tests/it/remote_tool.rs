//! A tool whose calls continue after a restart and ask people. What a call does follows from its id.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Content, Effect, Preview, Proposal, QuestionKind};
use attache_tool::{
    CallEnd, CallQuestion, CallStart, PeerNotice, ResumableTool, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde_json::{Value, json};

use crate::recording_tools::Notes;

pub(crate) struct RemoteTool {
    spec: ToolSpec,
    notes: Arc<Notes>,
}

impl RemoteTool {
    pub(crate) fn new(notes: Arc<Notes>) -> Self {
        let spec = ToolSpec {
            name: "remote".into(),
            title: "remote".into(),
            description: "For tests".into(),
            kind: ToolKind::Other,
            parameters: json!({"type": "object"}),
            repeatable: false,
            parallel: true,
            origin: None,
        };
        Self { spec, notes }
    }

    fn note(&self, text: String) {
        self.notes.done.lock().unwrap().push(text);
    }

    async fn save(&self, value: Value, context: &ToolContext) -> Result<(), ToolError> {
        context.state.save(value.clone()).await?;
        self.note(format!("saved {value}"));
        Ok(())
    }
}

#[async_trait]
impl Tool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        let (agent, origin) = ("weather".to_owned(), "https://agents.example".to_owned());
        let shown = Preview::Agent {
            agent: agent.clone(),
            url: "https://agents.example/a2a".into(),
            prompt: "Will it rain?".into(),
            files: Vec::new(),
        };
        Ok(Proposal { input: input.clone(), effects: vec![Effect::Delegate { agent, origin }], shown })
    }

    async fn run(&self, _: Proposal, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new(ToolErrorKind::Unknown, "only `run_from` is called"))
    }

    fn resumable(&self) -> Option<&dyn ResumableTool> {
        Some(self)
    }
}

#[async_trait]
impl ResumableTool for RemoteTool {
    async fn run_from(
        &self,
        proposal: Proposal,
        start: CallStart,
        context: &ToolContext,
    ) -> Result<CallEnd, ToolError> {
        let what = proposal.input["what"].as_str().unwrap_or_default().to_owned();
        let CallStart { run, saved, answer, restarted, .. } = start;
        let answer = answer.map(|answer| answer.text);
        self.note(format!(
            "run {what}{}{}{}",
            saved.as_ref().map(|saved| format!(", saved {saved}")).unwrap_or_default(),
            answer.as_ref().map(|answer| format!(", answered {answer}")).unwrap_or_default(),
            if restarted { ", restarted" } else { "" },
        ));
        assert_eq!(context.call.call.0, what);
        assert_eq!(run.0 != what, answer.is_some(), "{run:?} of {what}");
        let asks = |kind, url: Option<&str>| {
            let url = url.map(str::to_owned);
            Ok(CallEnd::Asks(CallQuestion { kind, text: "Which city?".into(), url }))
        };
        match (what.trim_end_matches(char::is_numeric), &answer) {
            ("ask", None) => {
                self.save(json!({ "sent": what }), context).await?;
                return asks(QuestionKind::Input, None);
            }
            ("sign-in", None) => return asks(QuestionKind::Auth, Some("https://agents.example/login")),
            ("unknown", _) if restarted => return Ok(CallEnd::Unknown),
            ("deep", _) => self.note(format!("depth {}", context.delegation.depth)),
            ("large", _) => self.save("x".repeat(20_000).into(), context).await?,
            ("stubborn", _) => std::future::pending().await,
            ("wait" | "unknown", _) | ("ask", Some(_)) => {
                if answer.is_none() {
                    self.save(json!({ "sent": what }), context).await?;
                }
                tokio::select! {
                    _ = self.notes.go.acquire() => {}
                    () = context.cancel.cancelled() => {
                        self.note(format!("{what} tells its peer"));
                        return Err(ToolError::new(ToolErrorKind::ExecutionFailed, "cancelled"));
                    }
                }
            }
            _ => {}
        }
        let text = format!("{what} says {}", answer.as_deref().unwrap_or("yes"));
        Ok(CallEnd::Finished(ToolOutput { content: vec![Content::Text(text)], ..ToolOutput::default() }))
    }

    async fn cancel(&self, _: &Proposal, saved: Option<Value>, context: &ToolContext) -> PeerNotice {
        let call = &context.call.call.0;
        let missed = format!("peer of {call} not reached");
        if call == "wait9" && !self.notes.done.lock().unwrap().contains(&missed) {
            self.note(missed);
            return PeerNotice::NotYet;
        }
        if call == "wait8" {
            return PeerNotice::Never("The agent weather was not told.".to_owned());
        }
        let saved = saved.map(|saved| saved.to_string()).unwrap_or_default();
        self.note(format!("peer of {} told, {saved}", context.call.call.0));
        PeerNotice::Told
    }
}
