//! The faults of a disk, one by one: `/health` tells each of them while it lasts, and no longer.
//!
//! The disk is a file system in memory that only the server sees, in a namespace of its own; no privileges are needed.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use attache_testkit::{ServerLaunch, ServerProcess, TestClient, WAIT_TIMEOUT};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use serde_json::Value;
use tonic::Code;

use crate::grpc::world::{Grpc, Speaks, info};
use crate::support::{SCRIPT, has_namespaces, launch, message};

/// A server whose store is on a small disk of its own; none where the system does not allow it.
fn on_small_disk() -> Option<ServerLaunch> {
    if !has_namespaces() {
        return None;
    }
    let launch = launch().script(SCRIPT).argument("--store").argument("sqlite:disk/tasks.db");
    std::fs::create_dir(launch.folder().join("disk")).unwrap();
    let inside = r#"mount -t tmpfs -o size=4m none disk && exec "$0" "$@""#;
    Some(launch.through_shell("", &format!("exec unshare -rm bash -c '{inside}'")))
}

/// Runs a command where the server sees its disk.
fn inside(launch: &ServerLaunch, server: &ServerProcess, line: &str) {
    let mut command = Command::new("nsenter");
    command.args(["--preserve-credentials", "-U", "-m", "-t", &server.pid().to_string(), "bash", "-c"]);
    let folder = launch.folder().display();
    let output = command.arg(format!("cd '{folder}' && {line}")).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

/// The reason that `/health` gives, once there is one; nothing, once there is none.
async fn until_health(client: &TestClient, healthy: bool) -> String {
    let begun = std::time::Instant::now();
    loop {
        let answer = client.get("/health").await;
        if (answer.status == 200) == healthy {
            let health: Value = answer.json();
            return health["reason"].as_str().unwrap_or_default().to_owned();
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{}", answer.text());
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_full_disk() {
    let Some(launch) = on_small_disk() else { return };
    let server = launch.start().await;
    let client = server.client();
    inside(&launch, &server, "dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null; true");
    let new = message("m1", &format!("echo {}", "x".repeat(60_000)));
    let answer = client.with("a2a-version", "1.0").post("/message:send", &new).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{}", answer.text());
    assert_eq!(answer.json()["error"]["status"], "RESOURCE_EXHAUSTED", "{}", answer.text());
    assert_eq!(until_health(&client, false).await, "the store cannot be written: the disk is full");
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let large = Speaks::V10.text("m1", &format!("echo {}", "x".repeat(60_000)));
    let status = grpc.call("SendMessage", large).await.unwrap_err();
    assert_eq!((status.code(), info(&status).reason.as_str()), (Code::ResourceExhausted, "STORE_FULL"));
    inside(&launch, &server, "rm disk/filler");
    until_health(&client, true).await;
    let sent = client.rpc("SendMessage", new).await;
    assert!(sent["result"].is_object(), "{sent}");
}

#[tokio::test]
async fn a_database_that_another_process_has_locked() {
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client();
    let lock = WriteLock::take(&launch.folder().join("tasks.db-shm"));
    let reason = until_health(&client, false).await;
    let locked = "the store cannot be written: another process has locked it";
    assert!(["the store does not answer in time", locked].contains(&reason.as_str()), "{reason}");
    drop(lock);
    until_health(&client, true).await;
}

/// What SQLite locks to write, held by this process: one byte of the file that its processes share.
struct WriteLock {
    _file: File,
}

impl WriteLock {
    fn take(path: &Path) -> Self {
        let file = File::options().read(true).write(true).open(path).unwrap();
        let range = libc::flock {
            l_type: libc::F_WRLCK as i16,
            l_whence: libc::SEEK_SET as i16,
            l_start: 120,
            l_len: 1,
            l_pid: 0,
        };
        fcntl(&file, FcntlArg::F_SETLK(&range)).unwrap();
        Self { _file: file }
    }
}
