//! Arbitrary JSON as inputs of tools.
//!
//! Works in a given folder. Only read-only tools run, and nothing in the folder may change.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use attache_net::{AddressRules, HttpClient, NetworkSettings};
use attache_tool::{LiveOutput, NoConfinement, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::filled::filled;
use super::fuzz_workspace;
use super::proposed;
use crate::*;

/// The tools that run here: they only read files of the workspace.
const LOOKING: &[&str] = &["read_file", "list_directory", "glob", "grep_search", "share_file"];

/// The limit of an error message, which repeats escaped parts of the input and names files of the folder.
const MAX_OUTPUT: usize = 8192;

/// Every tool gets an object unchanged. Of any other input the first byte selects a tool, which gets an object that
/// matches its parameters, built from the texts after it. A tool returns an error or a valid proposal.
pub(super) fn given(folder: &Path, text: &[u8]) {
    let workspace = fuzz_workspace::FuzzWorkspace::at(folder);
    let context = ToolContext {
        workspace: Arc::new(workspace.workspace()),
        cancel: Default::default(),
        live: Arc::new(NoLiveOutput),
        mark: None,
        call: attache_tool::CallKey::none(),
        state: Arc::new(attache_tool::NoCallState),
        delegation: Arc::default(),
    };
    let before = workspace.listed();
    match serde_json::from_slice::<ToolInput>(text) {
        Ok(input) => TOOLS.iter().for_each(|tool| RUNTIME.block_on(check(&**tool, &input, &context))),
        Err(_) => {
            let (which, texts) = text.split_first().unwrap_or((&0, &[]));
            let tool = &TOOLS[usize::from(*which) % TOOLS.len()];
            let input = filled(&tool.spec().parameters, &String::from_utf8_lossy(texts));
            RUNTIME.block_on(check(&**tool, &input, &context));
        }
    }
    assert_eq!(workspace.listed(), before, "proposing and looking change nothing");
}

async fn check(tool: &dyn Tool, input: &ToolInput, context: &ToolContext) {
    let name = tool.spec().name.as_str();
    let input_text = Value::Object(input.clone()).to_string();
    let limit = MAX_OUTPUT + 40 * input_text.len();
    let proposed = tool.propose(input, context).await;
    assert_eq!(proposed, tool.propose(input, context).await, "{name} says the same when it is asked again");
    let proposal = match proposed {
        Ok(proposal) => proposal,
        Err(error) => return check_error(&error, limit),
    };
    proposed::check(tool.spec().kind, &proposal, &context.workspace);
    let kept = serde_json::to_string(&proposal).expect("a proposal can be recorded");
    assert!(kept.len() <= limit, "{name} proposes {} bytes for {}", kept.len(), input_text.len());
    assert_eq!(serde_json::from_str::<attache_tool::Proposal>(&kept).expect("as it was"), proposal);
    if !LOOKING.contains(&name) {
        return;
    }
    match tool.run(proposal, context).await {
        Ok(output) => {
            let all_text = fuzz_workspace::all_text(&output);
            assert!(
                all_text.len() <= limit,
                "{name} tells {} bytes for {}",
                all_text.len(),
                input_text.len()
            );
            let hidden = String::from_utf8_lossy(fuzz_workspace::OUTSIDE);
            assert!(
                !all_text.contains(&*hidden) || input_text.contains(&*hidden),
                "{name} looked outside: {all_text}"
            );
        }
        Err(error) => check_error(&error, limit),
    }
}

/// An error that a model can act on.
fn check_error(error: &ToolError, limit: usize) {
    assert!(!error.message.trim().is_empty() && error.message.len() <= limit, "{error}");
    // The message of a panic in another thread.
    assert_ne!(error.kind, ToolErrorKind::UnhandledException, "{error}");
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));

static TOOLS: LazyLock<Vec<Arc<dyn Tool>>> = LazyLock::new(|| {
    let reads = Arc::new(ReadDigests::default());
    let background = Arc::new(BackgroundProcesses::default());
    let client =
        HttpClient::new(&WebFetch::client_options(AddressRules::public_only(), &NetworkSettings::default()))
            .expect("a client");
    vec![
        Arc::new(ReadFile::new(reads.clone())),
        Arc::new(ListDirectory::default()),
        Arc::new(Glob::default()),
        Arc::new(GrepSearch::default()),
        Arc::new(ShareFile::default()),
        // Records of earlier reads would change the proposals.
        Arc::new(WriteFile::new(Arc::default())),
        Arc::new(Replace::new(Arc::default())),
        Arc::new(SaveMemory::default()),
        Arc::new(RunShellCommand::new(
            ShellOptions::default(),
            background.clone(),
            Arc::<NoConfinement>::default(),
        )),
        Arc::new(ListBackgroundProcesses::new(background.clone())),
        Arc::new(ReadBackgroundOutput::new(background)),
        Arc::new(WebFetch::new(client, WebFetchOptions::default())),
        Arc::new(GoogleWebSearch::new(Arc::new(NoWebSearch))),
        Arc::new(AskUser::default()),
        Arc::new(WriteTodos::default()),
    ]
});

struct NoLiveOutput;

impl LiveOutput for NoLiveOutput {
    fn show(&self, _: &str) {}
}

/// A search that finds nothing.
struct NoWebSearch;

#[async_trait]
impl WebSearch for NoWebSearch {
    async fn search(&self, _: &str) -> Result<WebSearchResult, ToolError> {
        Err(ToolError::new(ToolErrorKind::WebSearchFailed, "nobody is asked"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of paths, patterns and commands.
    const PIECES: &[&str] = &[
        "a.txt",
        "src",
        "b.rs",
        "link",
        "folder",
        "odd",
        "out",
        "up",
        "loop",
        "GEMINI.md",
        "outside",
        "file",
        "/",
        "..",
        "./",
        "*",
        "**",
        "{",
        "[a",
        "(",
        "3",
        " ",
        "\n",
        "https://example.com/",
        "\u{202e}",
        "é",
    ];

    /// Valid inputs, and invalid ones.
    const INPUTS: &[&str] = &[
        r#"{"file_path":"a.txt"}"#,
        r#"{"file_path":"odd"}"#,
        r#"{"file_path":"up/outside/file"}"#,
        r#"{"file_path":"../outside/file","content":"x"}"#,
        r#"{"file_path":"new/x","content":"x"}"#,
        r#"{"file_path":"b.rs","instruction":"i","old_string":"c();","new_string":"d();"}"#,
        r#"{"dir_path":"folder"}"#,
        r#"{"pattern":"**","dir_path":"up"}"#,
        r#"{"include":["**"],"exclude":["{"]}"#,
        r#"{"command":"ls","dir_path":"out"}"#,
        r#"{"command":"ls","dir_path":"folder"}"#,
        r#"{"prompt":"https://example.com/"}"#,
        r#"{"questions":[{"question":"q","header":"h","type":"yesno"}]}"#,
        r#"{"todos":[{"description":"d","status":"pending"}]}"#,
        r#"{"pid":-1,"delay_ms":99999999999999999999}"#,
    ];

    #[test]
    fn likely_inputs_do_no_harm() {
        let folder = tempfile::tempdir().expect("a folder");
        for input in INPUTS {
            given(folder.path(), input.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn whatever_is_given_stays_inside(which: u8, texts in prop::collection::vec(
            prop::collection::vec(prop::sample::select(PIECES), 0..5), 1..8,
        )) {
            let folder = tempfile::tempdir().expect("a folder");
            let texts: Vec<String> = texts.iter().map(|pieces| pieces.concat()).collect();
            given(folder.path(), &[&[which], texts.join("\0").as_bytes()].concat());
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            let folder = tempfile::tempdir().expect("a folder");
            given(folder.path(), &bytes);
        }
    }
}
