//! A workspace to run commands in, and eyes for what they do.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use attache_domain::Content;
use attache_tool::{
    LiveOutput, NoConfinement, Proposal, Tool, ToolContext, ToolError, ToolOutput, Workspace,
};
use attache_tool_std::{BackgroundProcesses, RunShellCommand, ShellOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) context: ToolContext,
    pub(crate) background: Arc<BackgroundProcesses>,
    pub(crate) options: ShellOptions,
    pub(crate) live: Arc<LiveText>,
}

/// Remembers all live output.
pub(crate) struct LiveText(watch::Sender<Vec<String>>);

impl LiveOutput for LiveText {
    fn show(&self, text: &str) {
        self.0.send_modify(|all| all.push(text.into()));
    }
}

impl LiveText {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    pub(crate) async fn until(&self, text: &str) {
        let mut receiver = self.0.subscribe();
        let found = receiver.wait_for(|all| all.concat().contains(text));
        tokio::time::timeout(Duration::from_secs(30), found).await.expect("it is said in time").unwrap();
    }
}

impl World {
    /// Commands write to a pipe: what they say does not depend on a terminal.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        let scratch = folder.path().canonicalize().unwrap().join("scratch");
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&scratch).unwrap();
        let path = "/usr/local/bin:/usr/bin:/bin".into();
        let environment = vec![("PATH".into(), path), ("WORLD".into(), root.display().to_string())];
        let live = Arc::new(LiveText(watch::channel(Vec::new()).0));
        let context = ToolContext {
            workspace: Arc::new(Workspace {
                roots: vec![root],
                scratch,
                environment,
                ignore: Default::default(),
            }),
            cancel: CancellationToken::new(),
            live: live.clone(),
            mark: None,
            call: attache_tool::CallKey::none(),
            state: Arc::new(attache_tool::NoCallState),
            delegation: Arc::default(),
        };
        let options = ShellOptions { terminal: false, ..ShellOptions::default() };
        Self { folder, context, background: Arc::default(), options, live }
    }

    pub(crate) fn on_terminal() -> Self {
        let mut world = Self::new();
        world.options.terminal = true;
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.context.workspace.roots[0].clone()
    }

    pub(crate) fn tool(&self) -> RunShellCommand {
        RunShellCommand::new(self.options.clone(), self.background.clone(), Arc::<NoConfinement>::default())
    }

    pub(crate) async fn propose(&self, input: Value) -> Result<Proposal, ToolError> {
        self.tool().propose(input.as_object().unwrap(), &self.context).await
    }

    pub(crate) async fn run_with(&self, input: Value) -> Result<ToolOutput, ToolError> {
        self.tool().run(self.propose(input).await?, &self.context).await
    }

    /// The text for the model.
    pub(crate) async fn run(&self, command: &str) -> String {
        text(&self.run_with(json!({ "command": command })).await.unwrap())
    }

    /// The processes of this world that run now.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mark = format!("WORLD={}", self.root().display());
        let pids = std::fs::read_dir("/proc").unwrap();
        let pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        })
        .collect()
    }

    /// Cancels, and says how long it took until `call` returned.
    pub(crate) async fn cancel<T>(&self, call: impl Future<Output = T>) -> (T, Duration) {
        let cancelled = async {
            self.live.until("ready").await;
            self.context.cancel.cancel();
            Instant::now()
        };
        let (result, begun) = tokio::join!(call, cancelled);
        (result, begun.elapsed())
    }
}

/// What a command has led to, without the marks around what others wrote.
pub(crate) fn text(output: &ToolOutput) -> String {
    whole_text(output).replace(BEGINNING, "").replace(END, "")
}

const BEGINNING: &str = "<untrusted_context>\n";
const END: &str = "\n</untrusted_context>";

pub(crate) fn whole_text(output: &ToolOutput) -> String {
    match output.content.as_slice() {
        [Content::Text(text)] => text.clone(),
        other => panic!("not one text: {other:?}"),
    }
}
