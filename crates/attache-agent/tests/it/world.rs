//! A session with a scripted model, tools that note what they do, and a memory store that outlives it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_agent::{AgentModel, CodingAgent, ContextFiles, ConversationLimits, ConversationSetup};
use attache_domain::{
    CallId, CancelTask, Content, Exchange, ListTasks, Message, ModelPart, ModelPartContent, Rights, Role,
    Scope, SendConfiguration, SendMessage, SendOptions, TaskId, TaskView, ToolCall, Usage,
};
use attache_model::{
    AnswerEvent, AnswerPiece, BuiltInModel, LanguageError, LanguageModel, LanguageStream, Prompt, StopReason,
};
use attache_session::{SendReply, SessionOptions, SessionService};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_tool::{ToolContext, ToolRegistry, Workspace};
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};

use crate::recording_log::{Failure, RecordingLog};
use crate::recording_tools::{NoLeftoverProcesses, Notes, RecordingTool};
use crate::remote_tool::RemoteTool;

/// One answer of the model.
pub(crate) type Script = Vec<Result<AnswerEvent, LanguageError>>;

pub(crate) struct World {
    pub(crate) stores: Stores,
    /// How many events were written together, each time.
    pub(crate) appends: Arc<Mutex<Vec<usize>>>,
    /// Which appends fail.
    pub(crate) failure: Arc<Mutex<Option<Failure>>>,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) tools: Arc<Notes>,
    pub(crate) session: Arc<SessionService>,
    setup: Setup,
}

/// What differs between worlds.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) limits: ConversationLimits,
    pub(crate) opening: &'static str,
    /// In place of the scripted model.
    pub(crate) built_in: Option<Arc<dyn BuiltInModel>>,
    pub(crate) attended: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let limits = ConversationLimits { turn_requests: 5, ..ConversationLimits::default() };
        Self { limits, opening: "", built_in: None, attended: true }
    }
}

impl World {
    pub(crate) async fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::with(Setup::default(), scripts).await
    }

    pub(crate) async fn with(setup: Setup, scripts: impl IntoIterator<Item = Script>) -> Self {
        let (inner, appends) = (Arc::new(MemoryStore::default()), Arc::<Mutex<Vec<usize>>>::default());
        let failure = Arc::<Mutex<Option<Failure>>>::default();
        let log = Arc::new(RecordingLog {
            inner: inner.clone(),
            appends: appends.clone(),
            failure: failure.clone(),
        });
        let stores = Stores { log, ..Stores::of(inner) };
        let model = Arc::new(ScriptedModel::default());
        model.scripts.lock().unwrap().extend(scripts);
        let tools = Arc::new(Notes::default());
        let session = start(&stores, &model, &tools, &setup).await;
        Self { stores, appends, failure, model, tools, session, setup }
    }

    /// Everything in memory is lost, as in a crash: what has been started is not waited for.
    pub(crate) async fn restart(self) -> Self {
        let setup = self.setup.clone();
        self.restart_with(setup).await
    }

    pub(crate) async fn restart_with(self, setup: Setup) -> Self {
        let Self { stores, appends, failure, model, tools, session, .. } = self;
        session.shutdown().await;
        drop(session);
        let session = start(&stores, &model, &tools, &setup).await;
        Self { stores, appends, failure, model, tools, session, setup }
    }

    pub(crate) async fn send(&self, text: &str) -> Arc<TaskView> {
        self.say(None, vec![attache_domain::Part::text(text)]).await.unwrap()
    }

    pub(crate) async fn reply(
        &self,
        task: &TaskId,
        text: &str,
    ) -> Result<Arc<TaskView>, attache_domain::Fault> {
        self.say(Some(task.clone()), vec![attache_domain::Part::text(text)]).await
    }

    pub(crate) async fn reply_data(&self, task: &TaskId, data: Value) -> Arc<TaskView> {
        self.answer_data(task, data).await.unwrap()
    }

    pub(crate) async fn answer_data(
        &self,
        task: &TaskId,
        data: Value,
    ) -> Result<Arc<TaskView>, attache_domain::Fault> {
        let part = attache_domain::Part::new(attache_domain::PartContent::Data(data));
        self.say(Some(task.clone()), vec![part]).await
    }

    async fn say(
        &self,
        task: Option<TaskId>,
        parts: Vec<attache_domain::Part>,
    ) -> Result<Arc<TaskView>, attache_domain::Fault> {
        self.say_with(task, parts, SendConfiguration::default()).await
    }

    /// Replies, and does not wait for what follows.
    pub(crate) async fn reply_at_once(
        &self,
        task: &TaskId,
        text: &str,
    ) -> Result<Arc<TaskView>, attache_domain::Fault> {
        let configuration = SendConfiguration { return_immediately: true, ..SendConfiguration::default() };
        self.say_with(Some(task.clone()), vec![attache_domain::Part::text(text)], configuration).await
    }

    async fn say_with(
        &self,
        task: Option<TaskId>,
        parts: Vec<attache_domain::Part>,
        configuration: SendConfiguration,
    ) -> Result<Arc<TaskView>, attache_domain::Fault> {
        let message = Message { task, parts, ..Message::from_agent("".into(), "c".into(), None, "") };
        self.send_message(message, configuration).await
    }

    /// Sends a message of a person under a new id.
    pub(crate) async fn send_message(
        &self,
        message: Message,
        configuration: SendConfiguration,
    ) -> Result<Arc<TaskView>, attache_domain::Fault> {
        let number = self.tools.next_number();
        let message = Message { id: format!("m{number}").into(), role: Role::User, ..message };
        let answers = attache_wire::read_answers(&message);
        let options = SendOptions { rights: Rights::ALL, ..SendOptions::default() };
        let send = SendMessage { message, answers, configuration, metadata: None, options };
        match self.session.send(&scope(), send).await? {
            SendReply::Task(view) => Ok(view),
            SendReply::Message(_) => panic!("a task"),
        }
    }

    /// Sends, and goes on once a tool has noted `what`; the sender has left by then.
    pub(crate) async fn send_until(&self, text: &str, what: &str) {
        tokio::select! {
            _ = self.send(text) => panic!("it settled before {what}"),
            () = self.tools.until(what) => {}
        }
    }

    pub(crate) async fn cancel_newest(&self) -> Arc<TaskView> {
        let list = ListTasks { page_size: 1, ..ListTasks::default() };
        let task = self.session.list(&scope(), &list).await.unwrap().tasks[0].task.clone();
        self.session.cancel(&scope(), &CancelTask { task, metadata: None }).await.unwrap()
    }

    /// Sends without waiting for the answer, then cancels.
    pub(crate) async fn cancel_when_sent(&self, text: &str) -> Arc<TaskView> {
        let sending = self.send(text);
        tokio::pin!(sending);
        assert!(futures_util::poll!(&mut sending).is_pending());
        self.cancel_newest().await
    }

    /// The task that was opened last.
    pub(crate) async fn newest(&self) -> Arc<TaskView> {
        let list = ListTasks { page_size: 1, ..ListTasks::default() };
        self.session.list(&scope(), &list).await.unwrap().tasks[0].clone()
    }

    /// The task that was opened last, once it is as wanted.
    pub(crate) async fn newest_when(&self, is_so: impl Fn(&TaskView) -> bool) -> Arc<TaskView> {
        loop {
            let view = self.newest().await;
            if is_so(&view) {
                return view;
            }
            tokio::task::yield_now().await;
        }
    }

    /// The task that was opened last, once it is at rest.
    pub(crate) async fn newest_at_rest(&self) -> Arc<TaskView> {
        loop {
            let list = ListTasks { page_size: 1, ..ListTasks::default() };
            let view = self.session.list(&scope(), &list).await.unwrap().tasks[0].clone();
            if view.progress.is_settled() {
                return view;
            }
            tokio::task::yield_now().await;
        }
    }

    /// The kinds of facts in the task's log, joined.
    pub(crate) async fn log(&self, view: &TaskView) -> String {
        let events = self.stores.log.read(&view.key(), attache_domain::Seq::START, 1000).await.unwrap();
        let names = events.iter().map(|event| match serde_json::to_value(&event.fact).unwrap() {
            Value::String(name) => name,
            Value::Object(members) => members.keys().next().unwrap().clone(),
            other => panic!("{other}"),
        });
        names.collect::<Vec<_>>().join(" ")
    }
}

async fn start(
    stores: &Stores,
    model: &Arc<ScriptedModel>,
    notes: &Arc<Notes>,
    setup: &Setup,
) -> Arc<SessionService> {
    let mut tools = ToolRegistry::default();
    for (name, repeatable, parallel) in
        [("look", true, true), ("write", false, false), ("slow", false, true), ("save_memory", false, false)]
    {
        tools.add(Arc::new(RecordingTool::new(name, repeatable, parallel, notes.clone())));
    }
    tools.add(Arc::new(RemoteTool::new(notes.clone())));
    let workspace = Workspace {
        roots: vec!["work".into()],
        scratch: "scratch".into(),
        environment: Vec::new(),
        ignore: Default::default(),
    };
    let place = ConversationSetup {
        model: setup
            .built_in
            .clone()
            .map_or_else(|| AgentModel::Language(model.clone()), AgentModel::BuiltIn),
        tool_source: Arc::new(tools),
        approver: notes.clone(),
        workspace: Arc::new(workspace),
        instructions: "Be good.".into(),
        opening: Some(setup.opening)
            .filter(|text| !text.is_empty())
            .map(|text| Content::Text(text.into()))
            .into_iter()
            .collect(),
        context_files: Some(Arc::new(Shouting)),
        info: None,
        notices: Vec::new(),
        limits: setup.limits.clone(),
        leftovers: Arc::new(NoLeftoverProcesses),
        attended: setup.attended,
    };
    let agent = CodingAgent::new(Arc::new(place));
    SessionService::start(stores.clone(), Arc::new(agent), SessionOptions::default()).await.unwrap()
}

/// Explains every word after an `@`.
struct Shouting;

#[async_trait]
impl ContextFiles for Shouting {
    async fn referenced_by(&self, text: &str, _: &ToolContext) -> Vec<Content> {
        let words = text.split(' ').filter_map(|word| word.strip_prefix('@'));
        words.map(|word| Content::Text(word.to_uppercase())).collect()
    }

    async fn nearby(&self, _: &[std::path::PathBuf]) -> Option<String> {
        None
    }
}

pub(crate) fn scope() -> Scope {
    Scope::new("", "me")
}

/// Plays one script after the other and keeps the prompts.
#[derive(Default)]
pub(crate) struct ScriptedModel {
    pub(crate) scripts: Mutex<VecDeque<Script>>,
    pub(crate) prompts: Mutex<Vec<Prompt>>,
    /// In place of the scripts: the answer after so many results of calls, whenever it is asked for.
    pub(crate) after_results: Mutex<Vec<fn() -> Script>>,
}

impl ScriptedModel {
    /// The conversation of the latest prompt, a line for each exchange.
    pub(crate) fn heard(&self) -> Vec<String> {
        let prompts = self.prompts.lock().unwrap();
        prompts.last().unwrap().exchanges.iter().map(|exchange| shown(exchange)).collect()
    }
}

impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn window(&self) -> u64 {
        100_000
    }

    fn stream(&self, prompt: Prompt) -> LanguageStream {
        let is_result = |exchange: &&Arc<Exchange>| matches!(***exchange, Exchange::Results(_));
        let results = prompt.exchanges.iter().filter(is_result).count();
        self.prompts.lock().unwrap().push(prompt);
        if let Some(script) = self.after_results.lock().unwrap().get(results) {
            return stream::iter(script()).boxed();
        }
        match self.scripts.lock().unwrap().pop_front() {
            Some(script) => stream::iter(script).boxed(),
            // The last answer of the script never comes.
            None => stream::pending().boxed(),
        }
    }
}

pub(crate) fn says(text: &str) -> Script {
    let piece = |text: &str| Ok(AnswerEvent::Piece(AnswerPiece::Text(text.to_owned())));
    let parts = vec![ModelPart { what: ModelPartContent::Text(text.into()), opaque: None }];
    text.split_inclusive(' ').map(piece).chain([Ok(end(StopReason::Done, parts))]).collect()
}

pub(crate) fn end(stop: StopReason, parts: Vec<ModelPart>) -> AnswerEvent {
    AnswerEvent::End { stop, usage: Usage { input: 10, output: 1, ..Usage::default() }, parts }
}

/// Says `text` and calls tools, given as `id tool`.
pub(crate) fn calls(text: &str, calls: &[&str]) -> Script {
    let mut script = says(text);
    let called = calls.iter().map(|call| {
        let (id, name) = call.split_once(' ').unwrap();
        let input = Map::from_iter([("what".to_owned(), json!(id))]);
        ToolCall { id: CallId(id.into()), name: name.into(), input }
    });
    if let Some(Ok(AnswerEvent::End { parts, .. })) = script.last_mut() {
        parts.extend(called.map(|call| ModelPart { what: ModelPartContent::Call(call), opaque: None }));
    }
    script
}

fn shown(exchange: &Exchange) -> String {
    let content = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    match exchange {
        Exchange::User(contents) => {
            format!("user: {}", contents.iter().map(content).collect::<Vec<_>>().join("|"))
        }
        Exchange::Model(said) => {
            let said = said.iter().map(|said| match &said.what {
                ModelPartContent::Text(text) => text.clone(),
                ModelPartContent::Call(call) => format!("<{} {}>", call.name, call.id.0),
                other => format!("{other:?}"),
            });
            format!("model: {}", said.collect::<Vec<_>>().join(""))
        }
        Exchange::Results(results) => {
            let results = results.iter().map(|result| {
                let failed = if result.failed { "!" } else { "" };
                format!("{failed}{}", result.output.iter().map(content).collect::<Vec<_>>().join("|"))
            });
            format!("results: {}", results.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The text of the task's status.
pub(crate) fn status_text(view: &TaskView) -> String {
    view.status.message.as_ref().map(|message| message.text()).unwrap_or_default()
}
