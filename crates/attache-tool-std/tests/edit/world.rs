//! A workspace in a temporary folder, beside a folder that is no part of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_domain::Content;
use attache_tool::{
    LiveOutput, Preview, Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolOutput,
    Workspace,
};
use attache_tool_std::{ReadDigests, Replace, WriteFile};
use serde_json::{Value, json};

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) context: ToolContext,
    pub(crate) reads: Arc<ReadDigests>,
    pub(crate) write_file: WriteFile,
    pub(crate) replace: Replace,
}

struct Silence;

impl LiveOutput for Silence {
    fn show(&self, _: &str) {}
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        for name in ["root", "scratch", "outside"] {
            std::fs::create_dir(place.join(name)).unwrap();
        }
        let workspace = Workspace {
            roots: vec![place.join("root")],
            scratch: place.join("scratch"),
            environment: Vec::new(),
            ignore: Default::default(),
        };
        let context = ToolContext {
            workspace: Arc::new(workspace),
            cancel: Default::default(),
            live: Arc::new(Silence),
            mark: None,
            call: attache_tool::CallKey::none(),
            state: Arc::new(attache_tool::NoCallState),
            delegation: Arc::default(),
        };
        let reads = Arc::new(ReadDigests::default());
        let (write_file, replace) = (WriteFile::new(reads.clone()), Replace::new(reads.clone()));
        Self { folder, context, reads, write_file, replace }
    }

    /// A workspace with one file, called `file`.
    pub(crate) fn with(content: impl AsRef<[u8]>) -> Self {
        let world = Self::new();
        std::fs::write(world.at("file"), content).unwrap();
        world
    }

    pub(crate) fn root(&self) -> &Path {
        &self.context.workspace.roots[0]
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("outside").join(path)
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.at(path)).unwrap()
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    pub(crate) async fn propose(&self, tool: &dyn Tool, input: Value) -> Result<Proposal, ToolError> {
        let input: ToolInput = input.as_object().unwrap().clone();
        tool.propose(&input, &self.context).await
    }

    pub(crate) async fn run(&self, tool: &dyn Tool, proposal: Proposal) -> Result<ToolOutput, ToolError> {
        tool.run(proposal, &self.context).await
    }

    /// Proposes and runs.
    pub(crate) async fn call(&self, tool: &dyn Tool, input: Value) -> Result<ToolOutput, ToolError> {
        let proposal = self.propose(tool, input).await?;
        self.run(tool, proposal).await
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> Result<ToolOutput, ToolError> {
        self.call(&self.write_file, json!({ "file_path": path, "content": content })).await
    }

    pub(crate) async fn edit(&self, old: &str, new: &str) -> Result<ToolOutput, ToolError> {
        self.call(&self.replace, edit_of_file(old, new)).await
    }
}

pub(crate) fn edit_of_file(old: &str, new: &str) -> Value {
    json!({ "file_path": "file", "instruction": "test", "old_string": old, "new_string": new })
}

pub(crate) fn told(output: &ToolOutput) -> &str {
    let [Content::Text(text)] = output.content.as_slice() else { panic!("one text expected: {output:?}") };
    text
}

pub(crate) fn content_of(proposal: &mut Proposal) -> &mut String {
    let Preview::Edit { new_content, .. } = &mut proposal.shown else { panic!("an edit expected") };
    new_content
}

#[track_caller]
pub(crate) fn refused<Outcome: std::fmt::Debug>(
    outcome: Result<Outcome, ToolError>,
    kind: ToolErrorKind,
) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    error.message
}
