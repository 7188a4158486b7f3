//! A server with little patience, looked at from outside: how long it takes, how much it holds.

use std::time::{Duration, Instant};

pub(super) use attache_testkit::{RawConnection as Connection, check_refused, raw_request as request};
use attache_testkit::{ServerProcess, WAIT_TIMEOUT};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::support::{SCRIPT, launch, message};

/// Everything that can run out runs out soon.
const IMPATIENT: &str = "[limits]\nheader_timeout_seconds = 1\nbody_timeout_seconds = 2\nidle_timeout_seconds = 1\n\
                         stall_timeout_seconds = 2\nbody_bytes = 2097152\nbody_room_bytes = 16777216\n";

/// What a server may grow by under any attack here. Allocators keep some of what they had.
const MAX_GROWTH: u64 = 96 << 20;

pub(super) struct World {
    server: ServerProcess,
    memory: u64,
    files: usize,
}

impl World {
    pub(super) async fn start() -> Self {
        Self::with(IMPATIENT).await
    }

    /// The same with time for bodies, which take a while on a busy machine.
    pub(super) async fn start_with_time_for_bodies() -> Self {
        Self::with(&IMPATIENT.replace("body_timeout_seconds = 2", "body_timeout_seconds = 25")).await
    }

    pub(super) async fn with(settings: &str) -> Self {
        let server = launch().in_memory().script(SCRIPT).settings(settings).start().await;
        let mut world = Self { server, memory: 0, files: 0 };
        world.others_are_served().await;
        (world.memory, world.files) = (world.memory_held(), world.open_files());
        world
    }

    pub(super) fn server(&self) -> &ServerProcess {
        &self.server
    }

    pub(super) async fn connect(&self) -> Connection {
        Connection::open(self.server.address()).await
    }

    /// An ordinary client is answered. That takes milliseconds; how long it may take is meant for a busy machine.
    pub(super) async fn others_are_served(&self) {
        let client = self.server.client();
        let answer = timeout(WAIT_TIMEOUT, client.rpc("SendMessage", message("m1", "echo x"))).await;
        let answer = answer.expect("another client is answered");
        assert!(answer["result"]["task"].is_object(), "{answer}");
    }

    /// The others are served, and what the attack took is given back.
    pub(super) async fn is_unharmed(&self) {
        self.others_are_served().await;
        let began = Instant::now();
        while self.open_files() > self.files + 1 {
            let open = self.open_files();
            assert!(began.elapsed() < WAIT_TIMEOUT, "{open} files are open, and {} were before", self.files);
            sleep(Duration::from_millis(50)).await;
        }
        self.holds_little();
        assert!(!self.server.log().contains("panicked"), "{}", self.server.log());
    }

    /// Waits until the server has closed the connection of an attack that still holds its own side open.
    pub(super) async fn until_closed_by_server(&self) {
        let began = Instant::now();
        while self.open_files() > self.files {
            assert!(began.elapsed() < WAIT_TIMEOUT, "the connection is still open");
            sleep(Duration::from_millis(50)).await;
        }
    }

    #[track_caller]
    pub(super) fn holds_little(&self) {
        let grown = self.memory_held().saturating_sub(self.memory);
        assert!(grown < MAX_GROWTH, "it grew by {} MB", grown >> 20);
    }

    fn memory_held(&self) -> u64 {
        let path = format!("/proc/{}/status", self.server.pid());
        let status = std::fs::read_to_string(path).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.server.pid())).expect("the server runs").count()
    }

    /// How often a call of this kind was let in, by the server's own count.
    pub(super) async fn tasks(&self) -> u64 {
        self.server.client().get("/health").await.json()["totalTasks"].as_u64().expect("a count")
    }
}

pub(super) fn send_body(id: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(id, "echo x")}).to_string()
}
