//! Starts the real attache on a free port, with its own folder, and keeps its log.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The line the server prints once it accepts connections.
const LISTENING: &str = "attache is listening on ";

/// Starting takes milliseconds; this is for a machine that swaps.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Stops the server when dropped.
pub(super) struct Server {
    pub(super) url: String,
    child: Child,
    log: Log,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

/// What to start.
pub(super) struct Setup<'a> {
    pub(super) binary: &'a Path,
    /// The script of the model.
    pub(super) model: &'a Path,
    /// A file; without one the server has default settings.
    pub(super) settings: Option<&'a Path>,
    /// For the store, and the server's workspace. It is emptied first.
    pub(super) folder: &'a Path,
    pub(super) token: Option<&'a str>,
    pub(super) arguments: &'a [&'a str],
}

impl Server {
    /// Starts a server with an empty store.
    pub(super) fn start(setup: Setup<'_>) -> Result<Self, String> {
        let Setup { binary, model, settings, folder, token, arguments } = setup;
        if !model.is_file() {
            return Err(format!("{} is missing: the server's answers come from it", model.display()));
        }
        renew(folder)?;
        let mut command = Command::new(binary);
        command.args(["serve", "--trust", "--port", "0"]).args(arguments);
        if let Some(settings) = settings {
            command.arg("--config").arg(settings);
        }
        command.arg("--store").arg(format!("sqlite:{}", folder.join("attache.db").display()));
        command.arg("--model").arg(format!("script:{}", model.display()));
        // No settings, keys or data folder from the environment.
        command.env_clear().env("HOME", folder).env("RUST_BACKTRACE", "1").current_dir(folder);
        command.envs(token.map(|token| ("ATTACHE_TOKEN", token)));
        Self::spawn(&mut command)
    }

    /// Starts the scripted model server, which prints its URL and runs until its input ends.
    pub(super) fn start_model(binary: &Path) -> Result<Self, String> {
        Self::spawn(Command::new(binary).env_clear())
    }

    /// The last lines of both output streams.
    pub(super) fn log_tail(&self, lines: usize) -> String {
        self.log.tail(lines)
    }

    fn spawn(command: &mut Command) -> Result<Self, String> {
        let log = Log::default();
        // Held open: a server may end with its input.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("{program} did not start: {error}"))?;
        let (sender, receiver) = channel();
        log.keep(child.stdout.take(), Some(sender));
        log.keep(child.stderr.take(), None);
        let mut server = Self { url: String::new(), child, log };
        match receiver.recv_timeout(START_TIMEOUT) {
            Ok(url) => server.url = url,
            Err(_) => {
                let tail = server.log_tail(20);
                return Err(format!("the server did not print `{LISTENING}http://...`; it printed:\n{tail}"));
            }
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Log {
    /// Keeps every line of `stream`, and sends the address to `url`.
    fn keep(&self, stream: Option<impl Read + Send + 'static>, url: Option<Sender<String>>) {
        let (log, Some(stream)) = (self.clone(), stream) else { return };
        // Ends with the stream, which ends with the server.
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let (Some(sender), Some(found)) = (&url, address(&line)) {
                    // The receiver is gone once the first address has arrived.
                    let _ = sender.send(found.to_owned());
                }
                log.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
    }

    fn tail(&self, lines: usize) -> String {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log[log.len().saturating_sub(lines)..].join("\n")
    }
}

/// The base URL in a line of output. The model server prints only the URL.
fn address(line: &str) -> Option<&str> {
    let rest = line.split_once(LISTENING).map_or(line, |(_, rest)| rest);
    rest.split_whitespace().next().filter(|url| url.starts_with("http://"))
}

fn renew(folder: &Path) -> Result<(), String> {
    let failed = |error| format!("emptying {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::shell;

    #[test]
    fn the_address_is_read_from_its_line() {
        assert_eq!(address("attache is listening on http://127.0.0.1:41242"), Some("http://127.0.0.1:41242"));
        assert_eq!(
            address("attache is listening on http://127.0.0.1:1 (card: ...)"),
            Some("http://127.0.0.1:1")
        );
        assert_eq!(address("http://127.0.0.1:2"), Some("http://127.0.0.1:2"));
        assert_eq!(address("curl http://127.0.0.1:41242"), None);
    }

    #[test]
    fn a_started_server_tells_its_address_and_is_stopped() {
        let script = "echo hello; echo attache is listening on http://127.0.0.1:9; exec sleep 600";
        let server = Server::spawn(&mut shell(script)).unwrap();
        assert_eq!(server.url, "http://127.0.0.1:9");
        assert!(server.log_tail(9).contains("hello"));
        let id = server.child.id();
        drop(server);
        assert!(!Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn a_server_that_ends_at_once_shows_why() {
        let message = Server::spawn(&mut shell("echo error: port in use; exit 1")).err().unwrap();
        assert!(message.contains("port in use"), "{message}");
    }
}
