//! The conversations of one workspace: each has its own tools and approvals.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_agent::{
    AgentModel, ContextFiles, ConversationLimits, ConversationSetup, Conversations, PolicyApprover,
    PolicyOptions, SettingsRefusal,
};
use attache_command::CommandRegistry;
use attache_domain::{Content, ContextId, RequestedSettings, Scope};
use attache_model::script::ScriptModel;
use attache_model_http::gemini::{Backend, GeminiCredential, GeminiOptions, with_fallback};
use attache_model_http::retry::RetryOptions;
use attache_net::{AddressRules, BaseUrl, HttpClient, HttpClientOptions, NetworkSettings, Secret};
use attache_tool::policy::{Policy, PolicyMode};
use attache_tool::{
    ConfinedProgram, Confinement, Confiner, IgnoreSources, Launch, Tool, ToolContext, ToolRegistry, Workspace,
};
use attache_tool_std::{
    AskUser, BackgroundProcesses, Glob, GrepSearch, ListBackgroundProcesses, ListDirectory, MarkedProcesses,
    ReadBackgroundOutput, ReadDigests, ReadFile, Replace, RunShellCommand, SaveMemory, ShareFile,
    ShellOptions, StopBackgroundProcess, WebFetch, WebFetchOptions, WorkspaceFiles, WriteFile, WriteTodos,
    mentions,
};

use super::{AgentLaunch, Model, work};

pub(super) struct TestConversations {
    model: AgentModel,
    mode: PolicyMode,
    limits: ConversationLimits,
    root: PathBuf,
    scratch: PathBuf,
    open: Mutex<HashMap<(Scope, ContextId), Arc<ConversationSetup>>>,
}

impl TestConversations {
    pub(super) fn new(launch: &AgentLaunch) -> Self {
        let scratch = launch.folder().join("scratch");
        std::fs::create_dir_all(&scratch).unwrap();
        Self {
            model: agent_model(&launch.model),
            mode: launch.mode,
            limits: launch.limits.clone(),
            root: work(launch).canonicalize().unwrap(),
            scratch: scratch.canonicalize().unwrap(),
            open: Mutex::default(),
        }
    }

    fn setup(&self) -> ConversationSetup {
        let workspace = Workspace {
            roots: vec![self.root.clone()],
            scratch: self.scratch.clone(),
            environment: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
            ignore: IgnoreSources::default(),
        };
        let confiner = Arc::new(SupposedConfinement(Confinement::full()));
        let approver = PolicyApprover::new(PolicyOptions {
            policy: Policy::default(),
            mode: self.mode,
            roots: workspace.roots.clone(),
            plans: Some(self.scratch.join("plans")),
            trusted: true,
            confinement: confiner.confinement().clone(),
            files: Arc::new(WorkspaceFiles::new(workspace.clone())),
            unattended: false,
            only_once: false,
            keeper: None,
            client_servers: Default::default(),
        });
        ConversationSetup {
            model: self.model.clone(),
            tool_source: Arc::new(standard_tools(confiner)),
            approver: Arc::new(approver),
            instructions: attache_agent::instructions(&self.root).into(),
            opening: vec![Content::Text(format!("The workspace is {}.", self.root.display()))],
            context_files: Some(Arc::new(MentionedFiles)),
            info: None,
            notices: Vec::new(),
            limits: self.limits.clone(),
            leftovers: Arc::new(MarkedProcesses::other_than(uuid::Uuid::new_v4().to_string())),
            attended: true,
            workspace: Arc::new(workspace),
        }
    }
}

#[async_trait]
impl Conversations for TestConversations {
    /// What clients request is not looked at here.
    fn check(&self, _: &RequestedSettings) -> Result<(), SettingsRefusal> {
        Ok(())
    }

    fn model(&self, _: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
        Ok(self.model.clone())
    }

    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        _: &RequestedSettings,
    ) -> Result<Arc<ConversationSetup>, SettingsRefusal> {
        let conversation = (scope.clone(), context.clone());
        let mut open = self.open.lock().unwrap();
        Ok(open.entry(conversation).or_insert_with(|| Arc::new(self.setup())).clone())
    }

    async fn commands(&self, _: &RequestedSettings) -> Result<CommandRegistry, SettingsRefusal> {
        Ok(CommandRegistry::standard())
    }

    async fn refresh(&self, _: &Scope, _: &ContextId) {}
}

fn agent_model(model: &Model) -> AgentModel {
    let url = match model {
        Model::Gemini(url) => url,
        Model::Script(script) => {
            return AgentModel::BuiltIn(Arc::new(ScriptModel::from_yaml(script).unwrap()));
        }
    };
    let backend = Backend::Developer { base_url: Some(BaseUrl::parse(url).unwrap()) };
    let key = GeminiCredential::ApiKey(Secret::new("key-for-tests"));
    let short = Duration::from_millis(20);
    let retry = RetryOptions { first_delay: short, first_stream_delay: short, ..RetryOptions::default() };
    let options = GeminiOptions { retry, ..GeminiOptions::new("gemini-2.5-pro", key, backend) };
    let client = HttpClient::new(&HttpClientOptions::default()).unwrap();
    AgentModel::Language(with_fallback(&options, &client).unwrap())
}

/// The tools of one conversation: what it has read and started is its own.
fn standard_tools(confiner: Arc<dyn Confiner>) -> ToolRegistry {
    let (reads, background) = (Arc::new(ReadDigests::default()), Arc::new(BackgroundProcesses::default()));
    // The pages of tests are on this machine.
    let addresses = AddressRules::public_only().allow("127.0.0.1").unwrap();
    let fetching = WebFetch::client_options(addresses, &NetworkSettings::default());
    let fetch = WebFetch::new(HttpClient::new(&fetching).unwrap(), WebFetchOptions::default());
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile::new(reads.clone())),
        Arc::new(WriteFile::new(reads.clone())),
        Arc::new(Replace::new(reads)),
        Arc::new(RunShellCommand::new(ShellOptions::default(), background.clone(), confiner)),
        Arc::new(ListBackgroundProcesses::new(background.clone())),
        Arc::new(ReadBackgroundOutput::new(background.clone())),
        Arc::new(StopBackgroundProcess::new(background)),
        Arc::new(ListDirectory::default()),
        Arc::new(Glob::default()),
        Arc::new(GrepSearch::default()),
        Arc::new(SaveMemory::default()),
        Arc::new(ShareFile::default()),
        Arc::new(AskUser::default()),
        Arc::new(WriteTodos::default()),
        Arc::new(fetch),
    ];
    let mut registry = ToolRegistry::default();
    tools.into_iter().for_each(|tool| registry.add(tool));
    registry
}

/// Is taken for a full confinement by the rules, and starts programs unconfined: the sandbox is an implementation that needs
/// the binary.
#[derive(Debug)]
struct SupposedConfinement(Confinement);

impl Confiner for SupposedConfinement {
    fn confinement(&self) -> &Confinement {
        &self.0
    }

    fn confine(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        Ok(Launch::plain(program))
    }
}

/// The files that a message mentions.
struct MentionedFiles;

#[async_trait]
impl ContextFiles for MentionedFiles {
    async fn referenced_by(&self, text: &str, context: &ToolContext) -> Vec<Content> {
        mentions::expand(text, context).await.unwrap().contents
    }

    async fn nearby(&self, _: &[PathBuf]) -> Option<String> {
        None
    }
}
