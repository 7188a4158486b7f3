//! A conversation with one scripted agent, and what its calls save and show.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_client::{CardSource, ClientOptions, CredentialSource, Origin, REPLAY};
use attache_domain::Content;
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest, ResponseEnd};
use attache_tool::{
    CallEnd, CallKey, CallStart, CallState, Delegation, IgnoreSources, LiveOutput, QuestionAnswer, Tool,
    ToolContext, ToolError, ToolInput, Workspace,
};
use attache_tool_remote::{
    AgentAccess, AgentConnections, AgentOptions, ConversationAgents, OwnOrigin, WarnedAgents,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct World {
    pub(crate) agent: ModelServer,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) context: ToolContext,
    pub(crate) memory: Arc<Memory>,
    pub(crate) shown: Arc<LiveText>,
    pub(crate) scratch: TempDir,
}

/// What the log would hold.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) saved: Mutex<Vec<Value>>,
    pub(crate) kept: Mutex<BTreeMap<String, Value>>,
}

#[async_trait]
impl CallState for Memory {
    async fn save(&self, value: Value) -> Result<(), ToolError> {
        self.saved.lock().unwrap().push(value);
        Ok(())
    }

    fn kept(&self, key: &str) -> Option<Value> {
        self.kept.lock().unwrap().get(key).cloned()
    }

    async fn keep(&self, key: &str, value: Value) -> Result<(), ToolError> {
        self.kept.lock().unwrap().insert(key.to_owned(), value);
        Ok(())
    }
}

/// What was shown, and in how many pieces.
#[derive(Default)]
pub(crate) struct LiveText(pub(crate) Mutex<String>, pub(crate) AtomicUsize);

impl LiveOutput for LiveText {
    fn show(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Access(Option<Arc<dyn CredentialSource>>, Vec<Origin>);

#[async_trait]
impl AgentAccess for Access {
    async fn client_options(&self) -> Result<ClientOptions, String> {
        let (credential, allowed_origins) = (self.0.clone(), self.1.clone());
        Ok(ClientOptions { max_retries: 3, credential, allowed_origins, ..ClientOptions::default() })
    }

    fn allowed_origins(&self) -> Vec<Origin> {
        self.1.clone()
    }
}

/// The tool for an agent that wants a credential.
pub(crate) fn tool_with(url: &str, credential: Arc<dyn CredentialSource>) -> Arc<dyn Tool> {
    let agents = vec![agent(url, "helper", Access(Some(credential), Vec::new()))];
    let agents = AgentConnections::new(agents, OwnOrigin::default(), WarnedAgents::default());
    ConversationAgents::new(agents, true).tool().unwrap()
}

/// The tool for an agent whose card at `url` may lead to `allowed`.
pub(crate) fn tool_allowing(url: &str, allowed: &str, own: Option<&str>) -> Arc<dyn Tool> {
    let access = Access(None, vec![Origin::parse(allowed).unwrap()]);
    tool_of(vec![agent(url, "helper", access)], true, own)
}

fn agent(url: &str, name: &str, access: Access) -> AgentOptions {
    AgentOptions {
        name: name.to_owned(),
        display_name: None,
        description: Some("It helps.".to_owned()),
        card: CardSource::Address(url.to_owned()),
        access: Arc::new(access),
    }
}

/// The tool for agents of these names, all at `url`.
pub(crate) fn tool(url: &str, names: &[&str], attended: bool, own: Option<&str>) -> Arc<dyn Tool> {
    let agent = |name: &&str| agent(url, name, Access::default());
    tool_of(names.iter().map(agent).collect(), attended, own)
}

fn tool_of(agents: Vec<AgentOptions>, attended: bool, own: Option<&str>) -> Arc<dyn Tool> {
    let own_origin = OwnOrigin::default();
    if let Some(own) = own {
        own_origin.set(own.to_owned()).unwrap();
    }
    let agents = AgentConnections::new(agents, own_origin, WarnedAgents::default());
    ConversationAgents::new(agents, attended).tool().unwrap()
}

impl World {
    /// An agent that answers with these responses, its card first.
    pub(crate) fn new(responses: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::with(ModelServer::with_responses(responses), true)
    }

    pub(crate) fn with(agent: ModelServer, attended: bool) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let (memory, shown) = (Arc::<Memory>::default(), Arc::<LiveText>::default());
        let workspace = Workspace {
            roots: vec![PathBuf::from("/")],
            scratch: scratch.path().to_owned(),
            environment: Vec::new(),
            ignore: IgnoreSources::default(),
        };
        let context = ToolContext {
            workspace: Arc::new(workspace),
            cancel: CancellationToken::new(),
            live: shown.clone(),
            mark: None,
            call: CallKey {
                task: "task".into(),
                context: "context".into(),
                call: attache_domain::CallId("call".into()),
            },
            state: memory.clone(),
            delegation: Arc::new(Delegation::default()),
        };
        let tool = tool(&agent.url(), &["helper", "other"], attended, None);
        Self { agent, tool, context, memory, shown, scratch }
    }

    pub(crate) fn start(&self) -> CallStart {
        CallStart::first(self.context.call.call.clone())
    }

    /// A person decided that the call runs again.
    pub(crate) fn runs_again(&self) -> CallStart {
        CallStart { run: attache_domain::CallId("lost-1".into()), saved: self.saved(), ..self.start() }
    }

    pub(crate) fn answered(&self, text: &str) -> CallStart {
        let question = attache_domain::CallId("ask-1".into());
        let answer = Some(QuestionAnswer { question: question.clone(), text: text.to_owned() });
        CallStart { saved: self.saved(), answer, ..CallStart::first(question) }
    }

    pub(crate) fn saved(&self) -> Option<Value> {
        self.memory.saved.lock().unwrap().last().cloned()
    }

    pub(crate) fn shown(&self) -> String {
        self.shown.0.lock().unwrap().clone()
    }

    pub(crate) async fn call(&self, prompt: &str) -> Result<String, String> {
        self.run(prompt, self.start()).await.map(finished)
    }

    pub(crate) async fn run(&self, prompt: &str, start: CallStart) -> Result<CallEnd, String> {
        run(self.tool.as_ref(), "helper", prompt, start, &self.context).await
    }

    /// The requests after the card, by method.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.agent.received().into_iter().filter(|request| request.method == "POST").collect()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        self.requests().iter().map(|it| it.json()["method"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) async fn run(
    tool: &dyn Tool,
    agent: &str,
    prompt: &str,
    start: CallStart,
    context: &ToolContext,
) -> Result<CallEnd, String> {
    let proposal = tool.propose(&input(agent, prompt), context).await.map_err(|error| error.message)?;
    tool.resumable().unwrap().run_from(proposal, start, context).await.map_err(|error| error.message)
}

pub(crate) fn input(agent: &str, prompt: &str) -> ToolInput {
    json!({"agent_name": agent, "prompt": prompt}).as_object().unwrap().clone()
}

/// The text for the model.
#[track_caller]
pub(crate) fn finished(end: CallEnd) -> String {
    let CallEnd::Finished(output) = end else { panic!("{end:?}") };
    let [Content::Text(text)] = output.content.as_slice() else { panic!("{output:?}") };
    text.clone()
}

/// As the tool marks it.
pub(crate) fn said(text: &str) -> String {
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}

pub(crate) fn card(streaming: bool) -> PlannedResponse {
    answer(&json!({
        "name": "agent", "supportedInterfaces": [interface()], "capabilities": {"streaming": streaming},
    }))
}

/// Of an agent with the replay extension.
pub(crate) fn replaying_card() -> PlannedResponse {
    extended_card(REPLAY)
}

/// Of an agent that streams and has an extension.
pub(crate) fn extended_card(uri: &str) -> PlannedResponse {
    let capabilities = json!({"streaming": true, "extensions": [{"uri": uri}]});
    answer(&json!({"name": "agent", "supportedInterfaces": [interface()], "capabilities": capabilities}))
}

/// Of an agent that is called elsewhere.
pub(crate) fn card_to(url: &str) -> PlannedResponse {
    let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    answer(&json!({"name": "agent", "supportedInterfaces": [interface], "capabilities": {"streaming": true}}))
}

fn interface() -> Value {
    json!({"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"})
}

pub(crate) fn answer(body: &Value) -> PlannedResponse {
    PlannedResponse::text(200, "application/json", &body.to_string())
}

pub(crate) fn refusal(code: i64, message: &str) -> PlannedResponse {
    answer(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}}))
}

pub(crate) fn result(result: &Value) -> PlannedResponse {
    answer(&json!({"jsonrpc": "2.0", "id": 1, "result": result}))
}

pub(crate) fn stream(items: &[Value]) -> PlannedResponse {
    stream_from(1, items, ResponseEnd::Whole)
}

/// Numbered events.
pub(crate) fn stream_from(first: usize, items: &[Value], end: ResponseEnd) -> PlannedResponse {
    let numbered = items.iter().enumerate();
    let planned = numbered.fold(PlannedResponse::stream(), |planned, (place, item)| {
        let frame = json!({"jsonrpc": "2.0", "id": 1, "result": item});
        planned.bytes(format!("id: {}\ndata: {frame}\n\n", first + place))
    });
    planned.ending(end)
}

pub(crate) fn task(state: &str) -> Value {
    json!({"task": bare_task(state)})
}

pub(crate) fn bare_task(state: &str) -> Value {
    json!({"id": "t-1", "contextId": "c-1", "status": {"state": format!("TASK_STATE_{state}")}})
}

pub(crate) fn status(state: &str, text: Option<&str>) -> Value {
    let mut status = json!({"state": format!("TASK_STATE_{state}")});
    if let Some(text) = text {
        status["message"] = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
    }
    json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}})
}

pub(crate) fn piece(text: &str) -> Value {
    let artifact = json!({"artifactId": "a", "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact, "append": true}})
}
