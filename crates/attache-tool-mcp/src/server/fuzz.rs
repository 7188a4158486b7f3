//! Arbitrary bytes as all messages of a server.

use attache_domain::{Content, IgnorePoison};
use attache_tool::{LiveOutput, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolOutput, Workspace};
use tokio::io::{AsyncWriteExt, DuplexStream};

use super::*;
use crate::connection::fuzz::over;
use crate::resources::{ListResources, ReadResource};
use crate::visible::is_drawn;
use crate::{Transport, tool_list};

/// The maximum number of turns; later ones are dropped.
const MAX_TURNS: usize = 64;
/// The number of yields before the next turn: enough for all pending writes.
const MAX_POLLS: usize = 40;
/// A pipe size that no write exceeds.
const ROOM: usize = 1 << 20;
const CALLS: usize = 2;

/// The server sends one turn after the other, with a pause before each. Whatever it sends, the run ends, and
/// everything stored or shown is bounded.
pub(crate) fn said(script: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        if run_session(script, false).await.is_none() {
            run_session(script, true).await;
        }
    });
}

/// None if the server should be restarted for another handshake.
async fn run_session(script: &[u8], again: bool) -> Option<()> {
    let (ours, theirs) = tokio::io::duplex(ROOM);
    let (met, ()) = tokio::join!(run_client(ours, again, script.len()), write_script(theirs, script));
    met
}

async fn write_script(mut pipe: DuplexStream, script: &[u8]) {
    let text = String::from_utf8_lossy(script);
    for turn in text.split("\n\n").take(MAX_TURNS) {
        wait_a_moment().await;
        // The reader may have been dropped.
        let _ = pipe.write_all(format!("{turn}\n").as_bytes()).await;
    }
    wait_a_moment().await;
}

async fn wait_a_moment() {
    for _ in 0..MAX_POLLS {
        tokio::task::yield_now().await;
    }
}

async fn run_client(pipe: DuplexStream, again: bool, said: usize) -> Option<()> {
    let (from, to) = tokio::io::split(pipe);
    // A lost connection cannot be restored: the address is no server.
    let transport = Transport::Http { url: "nowhere".into(), headers: Vec::new() };
    let context = Arc::new(ConnectContext::new("/", Vec::new()));
    let connection = match over(from, to, &context, again).await? {
        Ok(connection) => Arc::new(connection),
        Err(error) => {
            assert!(error.to_string().len() <= 5_000, "{error}");
            return Some(());
        }
    };
    let options = McpServerOptions::new("server", transport);
    let server = Arc::new(Server::new(options, context, Arc::default()));
    server.current.send_replace(Some(connection.clone()));
    for _ in 0..2 {
        let Ok(listed) = lists::read(&server, &connection).await else { return Some(()) };
        server.publish(&connection, listed);
        check_kept(&server);
        use_all(&server, said).await;
        // A changed list is read again.
        tokio::select! {
            biased;
            _ = connection.over() => break,
            () = connection.lists_changed() => {}
        }
    }
    Some(())
}

fn check_kept(server: &Server) {
    let status = server.status();
    assert!(status.tools.len() <= tool_list::MAX_TOOLS);
    assert!(status.notes.len() <= 21 && status.notes.iter().all(|note| note.len() <= 1_000), "{status:?}");
    assert!(status.instructions.is_none_or(|text| text.len() <= MAX_INSTRUCTIONS_LENGTH + 3));
    let resources = server.resources();
    assert!(resources.len() <= 1_000, "{} resources", resources.len());
    for resource in resources {
        let Resource { uri, name, media_type, description } = resource;
        assert!(!uri.is_empty());
        assert!([uri, name, media_type, description].iter().all(|text| text.len() <= 1_003));
    }
}

async fn use_all(server: &Arc<Server>, said: usize) {
    let shown = Arc::new(ShownLines::default());
    let context = ToolContext {
        workspace: Arc::new(Workspace {
            roots: Vec::new(),
            // Small results are never stored in it.
            scratch: "/nonexistent/scratch".into(),
            environment: Vec::new(),
            ignore: Default::default(),
        }),
        cancel: CancellationToken::new(),
        live: shown.clone(),
        mark: None,
        call: attache_tool::CallKey::none(),
        state: Arc::new(attache_tool::NoCallState),
        delegation: Arc::default(),
    };
    let servers: Arc<[Arc<Server>]> = Arc::new([server.clone()]);
    let mut calls: Vec<(Arc<dyn Tool>, ToolInput)> =
        server.tools().into_iter().take(CALLS).map(|tool| (tool, ToolInput::new())).collect();
    calls.push((Arc::new(ListResources::new(Arc::downgrade(&servers))), ToolInput::new()));
    let uri = server.resources().into_iter().next().map_or("none".into(), |resource| resource.uri);
    let input = ToolInput::from_iter([("uri".to_owned(), Value::String(uri))]);
    calls.push((Arc::new(ReadResource::new(Arc::downgrade(&servers))), input));
    for (tool, input) in calls {
        let called = match tool.propose(&input, &context).await {
            Ok(proposal) => tool.run(proposal, &context).await,
            Err(error) => Err(error),
        };
        check_output(called, said);
    }
    for text in shown.texts.lock().ignore_poison().iter() {
        let line = text.strip_suffix('\n').expect("a line has an end");
        assert!(line.chars().all(is_drawn) && line.len() <= 1_000, "{line:?}");
    }
}

fn check_output(called: Result<ToolOutput, ToolError>, said: usize) {
    let limit = 8 * said + 15_000;
    match called {
        Ok(output) => {
            assert!(!output.content.is_empty(), "a model is always told something");
            let length = |content: &Content| match content {
                Content::Text(text) => text.len(),
                _ => 0,
            };
            let length: usize = output.content.iter().map(length).sum();
            assert!(length <= limit, "{length} bytes of {said}");
            assert!(output.summary.len() <= 2_000, "{:?}", output.summary);
        }
        Err(error) => {
            assert!(
                matches!(error.kind, ToolErrorKind::McpToolError | ToolErrorKind::InvalidToolParams),
                "{error}"
            );
            assert!(!error.message.is_empty() && error.message.len() <= limit, "{error}");
        }
    }
}

/// The live output of a call. Kept, because a panic in another task would not fail the test.
#[derive(Default)]
struct ShownLines {
    texts: Mutex<Vec<String>>,
}

impl LiveOutput for ShownLines {
    fn show(&self, text: &str) {
        self.texts.lock().ignore_poison().push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    const TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b"}]}}"#;

    /// What servers say after that. `ID` is the number of the request that is waiting, if it is said in time.
    const TURNS: &[&str] = &[
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resources":[{"uri":"u","name":"n"},{"uri":7},{}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resources":[{"uri":"u"}],"nextCursor":"c"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x"}],"isError":true}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"contents":[{"uri":"u","blob":"AA=="}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":"x","structuredContent":[1]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":[]}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":"ID","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":9999,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":1,"total":0,"message":"a\nb\u001b[2J"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#,
        r#"[{"jsonrpc":"2.0","id":ID,"result":{}}]"#,
        r#"{"jsonrpc":"1.0"}"#,
        "Welcome!",
        "\0",
    ];

    fn script(turns: &[&str]) -> String {
        let mut turns: Vec<String> = turns.iter().map(|turn| (*turn).to_owned()).collect();
        let answers = turns.iter_mut().filter(|turn| turn.contains("ID") && turn.contains("result"));
        for (turn, id) in answers.zip(2..) {
            *turn = turn.replace("ID", &format!("{id}"));
        }
        let said: Vec<String> = turns.iter().map(|turn| turn.replace("ID", "3")).collect();
        [GREETING, TOOLS].into_iter().map(str::to_owned).chain(said).collect::<Vec<_>>().join("\n\n")
    }

    #[test]
    fn a_list_of_resources_without_end_is_cut() {
        let entries = vec![r#"{"uri":"u"}"#; 1_200].join(",");
        let listed = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"resources":[{entries}]}}}}"#);
        said(script(&[&listed]).as_bytes());
    }

    proptest! {
        #[test]
        fn likely_servers_do_no_harm(turns in prop::collection::vec(prop::sample::select(TURNS), 0..8)) {
            said(script(&turns).as_bytes());
        }
    }
}
