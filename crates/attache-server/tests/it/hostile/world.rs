//! A server with little patience in this process: how long it takes, how much the process holds.

use std::time::{Duration, Instant};

use attache_server::{BodyBudget, Limits};
use attache_testkit::WAIT_TIMEOUT;
pub(super) use attache_testkit::{RawConnection as Connection, check_refused, raw_request as request};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::faults::Faults;
use crate::world::{TestServer, launch, message};

/// Everything that can run out runs out soon.
fn impatient(limits: &mut Limits) {
    limits.header_timeout = Duration::from_secs(1);
    limits.body_timeout = Duration::from_secs(2);
    limits.idle_timeout = Duration::from_secs(1);
    limits.stall_timeout = Duration::from_secs(2);
    limits.body_bytes = 2 << 20;
    limits.body_budget = BodyBudget::new(16 << 20);
}

/// What the process may grow by under any attack here. Allocators keep some of what they had.
const MAX_GROWTH: u64 = 96 << 20;

/// Waits for connections to be closed.
const INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct World {
    server: TestServer,
    faults: &'static Faults,
    memory: u64,
}

impl World {
    pub(super) async fn start() -> Self {
        Self::with(impatient).await
    }

    /// The same with time for bodies, which take a while on a busy machine.
    pub(super) async fn start_with_time_for_bodies() -> Self {
        Self::with(|limits| {
            impatient(limits);
            limits.body_timeout = Duration::from_secs(25);
        })
        .await
    }

    pub(super) async fn with(limits: impl FnOnce(&mut Limits) + 'static) -> Self {
        let faults = Faults::watch();
        let server = launch().limits(limits).start().await;
        let mut world = Self { server, faults, memory: 0 };
        world.others_are_served().await;
        world.memory = memory_held();
        world
    }

    pub(super) fn server(&self) -> &TestServer {
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
        // The connection of that call may be open for a while.
        self.until_open(1).await;
        self.holds_little();
        self.faults.check();
    }

    /// Waits until the server has closed the connections of an attack, which may still hold its own sides open.
    pub(super) async fn until_closed_by_server(&self) {
        self.until_open(0).await;
    }

    /// Waits until at most so many connections are open.
    async fn until_open(&self, most: usize) {
        let began = Instant::now();
        loop {
            let open = self.open_connections();
            if open <= most {
                return;
            }
            assert!(began.elapsed() < WAIT_TIMEOUT, "{open} connections are still open");
            sleep(INTERVAL).await;
        }
    }

    #[track_caller]
    pub(super) fn holds_little(&self) {
        let grown = memory_held().saturating_sub(self.memory);
        assert!(grown < MAX_GROWTH, "it grew by {} MB", grown >> 20);
    }

    /// The server's ends of connections that it has not closed: sockets on its port that a process still holds.
    fn open_connections(&self) -> usize {
        const LISTENING: &str = "0A";
        const NOT_HELD: &str = "0";
        let (_, port) = self.server.address().rsplit_once(':').expect("a port");
        let port = format!(":{:04X}", port.parse::<u16>().expect("a number"));
        let table = std::fs::read_to_string("/proc/self/net/tcp").expect("the sockets of this system");
        let is_open = |line: &&str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (fields[1], fields[3], fields[9]);
            local.ends_with(&port) && state != LISTENING && inode != NOT_HELD
        };
        table.lines().skip(1).filter(is_open).count()
    }

    /// How often a call of this kind was let in, by the server's own count.
    pub(super) async fn tasks(&self) -> u64 {
        self.server.client().get("/health").await.json()["totalTasks"].as_u64().expect("a count")
    }
}

fn memory_held() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

pub(super) fn send_body(id: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(id, "echo x")}).to_string()
}
