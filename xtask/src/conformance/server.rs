//! A server of a subject: a program that prints where it listens and runs until it is stopped.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// What every subject prints once it accepts connections, before its URL.
const LISTENING: &str = "listening on ";

/// Starting takes a second at most; this is for a machine that swaps.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Stops the server when dropped.
pub(super) struct Server {
    pub(super) url: String,
    child: Child,
}

impl Server {
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        // Held open: a server may end with its input.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("{program} did not start: {error}"))?;
        let (sender, lines) = channel();
        pass_on(child.stdout.take(), sender.clone());
        pass_on(child.stderr.take(), sender);
        let mut server = Self { url: String::new(), child };
        let mut printed = Vec::new();
        loop {
            match lines.recv_timeout(START_TIMEOUT) {
                Ok(line) => match line.split_once(LISTENING) {
                    Some((_, url)) if url.starts_with("http") => {
                        server.url = url.trim().to_owned();
                        return Ok(server);
                    }
                    _ => printed.push(line),
                },
                Err(_) => {
                    let printed = printed.join("\n");
                    return Err(format!(
                        "{program} did not print `{LISTENING}http...`; it printed:\n{printed}"
                    ));
                }
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is left to do when it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads `stream` to its end, so that a server never waits for a reader.
fn pass_on(stream: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(stream) = stream else { return };
    // Ends with the stream, which ends with the server.
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // The receiver is dropped once the address is known.
            let _ = lines.send(line);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_among_other_lines() {
        let mut command = Command::new("sh");
        let script = "echo warming up; echo somebody is listening on http://127.0.0.1:7; exec sleep 60";
        let server = Server::start(command.args(["-c", script])).unwrap();
        assert_eq!(server.url, "http://127.0.0.1:7");
    }

    #[test]
    fn a_server_that_ends_tells_why() {
        let mut command = Command::new("sh");
        let message =
            Server::start(command.args(["-c", "echo no module named x >&2; exit 1"])).err().unwrap();
        assert!(message.contains("no module named x"), "{message}");
    }
}
