//! A workspace in a temporary folder, with a folder beside it that no tool may see.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use attache_domain::Content;
use attache_tool::{Effect, LiveOutput, Tool, ToolContext, ToolError, ToolOutput, Workspace};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(super) struct World {
    folder: TempDir,
    pub(super) context: ToolContext,
}

struct Silence;

impl LiveOutput for Silence {
    fn show(&self, _: &str) {}
}

impl World {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let workspace = Workspace {
            roots: vec![real.join("project")],
            scratch: real.join("scratch"),
            environment: Vec::new(),
            ignore: Default::default(),
        };
        for name in ["project", "scratch", "outside"] {
            fs::create_dir(real.join(name)).unwrap();
        }
        let context = ToolContext {
            workspace: Arc::new(workspace),
            cancel: CancellationToken::new(),
            live: Arc::new(Silence),
            mark: None,
            call: attache_tool::CallKey::none(),
            state: Arc::new(attache_tool::NoCallState),
            delegation: Arc::default(),
        };
        let world = Self { folder, context };
        files.iter().for_each(|(name, content)| world.write(name, content));
        world
    }

    /// Of the project; `../outside/x` is a file that is none of its.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.context.workspace.roots[0].join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn link(&self, name: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    pub(super) fn changed_before(&self, name: &str, hours: u64) {
        let time = SystemTime::now() - Duration::from_secs(hours * 60 * 60);
        fs::File::options().write(true).open(self.path(name)).unwrap().set_modified(time).unwrap();
    }

    pub(super) fn add_root(&mut self, name: &str) {
        let root = self.folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(&root).unwrap();
        let mut workspace = Workspace::clone(&self.context.workspace);
        workspace.roots.push(root);
        self.context.workspace = Arc::new(workspace);
    }

    /// Proposes and runs, and sees that only reading inside the workspace was proposed.
    pub(super) async fn call(&self, tool: &dyn Tool, input: Value) -> Result<ToolOutput, ToolError> {
        let input = input.as_object().unwrap();
        let proposal = tool.propose(input, &self.context).await?;
        assert!(!proposal.effects.is_empty());
        for effect in &proposal.effects {
            let Effect::Read { path } = effect else { panic!("{effect:?}") };
            let mut allowed = self.context.workspace.roots.iter().chain([&self.context.workspace.scratch]);
            assert!(allowed.any(|root| path.starts_with(root)), "{}", path.display());
        }
        tool.run(proposal, &self.context).await
    }

    /// The text of the answer, in which the project's path is written as `@`.
    pub(super) async fn text(&self, tool: &dyn Tool, input: Value) -> String {
        let output = self.call(tool, input).await.unwrap();
        let text = |content: &Content| match content {
            Content::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        let text: String = output.content.iter().map(text).collect();
        text.replace(self.path("").to_str().unwrap().trim_end_matches('/'), "@")
    }

    pub(super) async fn refusal(&self, tool: &dyn Tool, input: Value) -> ToolError {
        self.call(tool, input).await.unwrap_err()
    }
}
