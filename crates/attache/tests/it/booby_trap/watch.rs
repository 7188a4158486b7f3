//! Watches what a run of the binary starts and connects to: a listener that no one should call, and strace.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Listens on loopback and keeps what it was sent.
pub(super) struct Listener {
    pub(super) port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = heard.clone();
        // Ends with the test's process.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let mut buffer = [0; 4096];
                let length = stream.read(&mut buffer).unwrap_or(0);
                kept.lock().unwrap().push(String::from_utf8_lossy(&buffer[..length]).into_owned());
            }
        });
        Self { port, heard }
    }

    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// A program that runs the binary, under strace where there is one, and the file that it writes to.
pub(super) struct Watched {
    pub(super) program: PathBuf,
    trace: Option<PathBuf>,
}

impl Watched {
    /// `folder` is for what is written.
    #[expect(clippy::print_stdout, reason = "people who run the tests should see what was skipped")]
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_attache");
        let works =
            Command::new("strace").args(["-D", "-o", "/dev/null", "-e", "trace=execve", "true"]).output();
        if !works.is_ok_and(|output| output.status.success()) {
            assert!(!is_ci(), "strace cannot be used here, and in CI what was not watched counts as failed");
            println!("skipped: strace cannot be used here, so only traces of the traps are looked for");
            return Self { program: binary.into(), trace: None };
        }
        let strace = Command::new("sh").args(["-c", "command -v strace"]).output().unwrap();
        let strace = String::from_utf8(strace.stdout).unwrap();
        let (program, trace) = (folder.join(format!("{name}.sh")), folder.join(format!("{name}.trace")));
        // As its own grandchild, so that signals reach the binary itself.
        let line = format!(
            "#!/bin/sh\nexec {} -D -f -qq -s 300 -o {} -e trace=execve,connect,sendto,getsockname {binary} \"$@\"\n",
            strace.trim(),
            trace.display()
        );
        fs::write(&program, line).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { program, trace: Some(trace) }
    }

    /// Nothing was started but the binary itself, and no one was called but on these ports. Call it when the run has ended.
    #[track_caller]
    pub(super) fn check(&self, ports: &[u16]) {
        let Some(trace) = &self.trace else { return };
        let text = fs::read_to_string(trace).unwrap();
        assert!(text.contains("execve("), "nothing was watched: {text}");
        // It starts itself anew by the path that the kernel knows, which no link is part of.
        let binary = Path::new(env!("CARGO_BIN_EXE_attache"));
        let binary = [binary.to_owned(), binary.canonicalize().unwrap()];
        // It may call itself, to learn whether the system tells users apart.
        let mut own = Vec::new();
        for line in text.lines() {
            if line.contains("execve(") {
                // A copy of it finds out whether commands can be confined.
                let probes = line.contains("execve(\"/proc/self/exe\", [\"/proc/self/exe\", \"__confined\"")
                    && line.contains(", \"true\"]");
                let itself =
                    binary.iter().any(|path| line.contains(&format!("execve(\"{}\"", path.display())));
                assert!(itself || probes, "started: {line}");
            }
            let Some(port) = port_in(line) else { continue };
            if line.contains("getsockname(") {
                own.push(port);
            } else {
                assert!(ports.contains(&port) || own.contains(&port), "connected: {line}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "CI says so itself")]
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

fn port_in(line: &str) -> Option<u16> {
    let (_, port) = line.split_once("sin_port=htons(").or_else(|| line.split_once("sin6_port=htons("))?;
    port.split(')').next()?.parse().ok()
}
