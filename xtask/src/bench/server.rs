//! A server as a process of its own, on a free port, stopped when it is no longer needed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::kernel;
use crate::process;

/// Far more than a start takes, even under valgrind.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// All servers of ours say this, followed by their address, once they can be called.
const GREETING: &str = "listening on ";

pub(super) struct Server {
    child: Child,
    pub(super) url: String,
    /// Reads what the server goes on to print, so that it never waits for a reader.
    drain: Option<JoinHandle<()>>,
}

impl Server {
    /// Returns once the server says where it listens.
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        Self::start_saying(GREETING, command)
    }

    /// The same for a server with a greeting of its own.
    pub(super) fn start_saying(greeting: &'static str, command: &mut Command) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let line = process::line(command);
        let mut child = command.spawn().map_err(|error| format!("`{line}` could not be started: {error}"))?;
        let stdout = child.stdout.take().ok_or("the server has no standard output")?;
        let (sender, receiver) = mpsc::channel();
        let drain = std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once(greeting) {
                    // The receiver is dropped after the first line.
                    let _ = sender.send(url.trim().replace("localhost", "127.0.0.1"));
                }
            }
        });
        let mut server = Self { child, url: String::new(), drain: Some(drain) };
        server.url = receiver
            .recv_timeout(START_TIMEOUT)
            .map_err(|_| format!("`{line}` did not say where it listens; run it by hand to see why"))?;
        Ok(server)
    }

    pub(super) fn cpu_seconds(&self) -> Result<f64, String> {
        kernel::cpu_seconds(self.child.id())
    }

    pub(super) fn resident_bytes(&self) -> Result<f64, String> {
        kernel::resident_bytes(self.child.id())
    }

    pub(super) fn peak_resident_bytes(&self) -> Result<f64, String> {
        kernel::peak_resident_bytes(self.child.id())
    }

    /// One GET on a connection of its own; the answer with its head.
    pub(super) fn get(&self, path: &str) -> Result<String, String> {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let fetch = || -> std::io::Result<String> {
            let mut socket = TcpStream::connect(address)?;
            socket.set_read_timeout(Some(START_TIMEOUT))?;
            write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
            let mut answer = String::new();
            socket.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = fetch().map_err(|error| format!("GET {path}: {error}"))?;
        if !answer.starts_with("HTTP/1.1 200") {
            return Err(format!("GET {path} was answered with: {answer}"));
        }
        Ok(answer)
    }

    /// Asks the server to end and waits until it has.
    pub(super) fn stop(mut self) -> Result<(), String> {
        process::succeed(Command::new("kill").args(["-TERM", &self.child.id().to_string()]))?;
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIMEOUT {
            if self.child.try_wait().map_err(|error| format!("waiting for a server: {error}"))?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err("a server did not end when asked to".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(drain) = self.drain.take() {
            let _ = drain.join();
        }
    }
}
