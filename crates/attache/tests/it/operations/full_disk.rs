//! A disk that is full: health and metrics say so, and say when it is over.

use std::os::unix::fs::PermissionsExt;

use attache_testkit::{ServerLaunch, TestClient};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use crate::support::{SCRIPT, launch, message};

/// Larger than what an empty store takes, and reached after a few messages.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A server none of whose files may grow beyond the limit: to it the disk is full.
fn limited(folder: &ServerLaunch) -> ServerLaunch {
    // The signal that comes with the limit is ignored, so that writing fails instead.
    let binary = env!("CARGO_BIN_EXE_attache");
    let script = format!("#!/bin/bash\ntrap '' XFSZ\nulimit -S -f 1024\nexec '{binary}' \"$@\"\n");
    let path = folder.write("limited", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    ServerLaunch::of(path).durable().script(SCRIPT)
}

/// The answer of `/health`, once it is as expected.
async fn until_health(client: &TestClient, expected: u16) -> Value {
    let begun = std::time::Instant::now();
    loop {
        let answer = client.get("/health").await;
        if answer.status == expected {
            return answer.json();
        }
        assert!(begun.elapsed() < attache_testkit::WAIT_TIMEOUT, "{}", answer.text());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn health_tells_of_a_full_disk_and_of_its_end() {
    let folder = launch();
    let server = limited(&folder).start().await;
    let client = server.client();
    assert_eq!(client.get("/health").await.status, 200);
    assert!(client.get("/metrics").await.text().contains("attache_store_writable 1\n"));
    let large = "x".repeat(200_000);
    let mut number = 0;
    while client.get("/health").await.status == 200 {
        // The end is not awaited: a task that cannot be written continues when the disk does.
        let mut params = message(&format!("m{number}"), &format!("echo {large}"));
        params["configuration"] = json!({ "returnImmediately": true });
        client.rpc("SendMessage", params).await;
        number += 1;
        assert!(number < 1000, "{MAX_FILE_BYTES} bytes are enough for everything");
    }
    let health = until_health(&client, 503).await;
    assert_eq!(health["status"], "unhealthy", "{health}");
    let reason = health["reason"].as_str().unwrap();
    assert!(reason.starts_with("the store cannot be written"), "{reason}");
    assert!(!reason.contains('/'), "{reason}");
    assert!(client.get("/metrics").await.text().contains("attache_store_writable 0\n"));
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap());
    prlimit(pid, Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    let health = until_health(&client, 200).await;
    assert_eq!(health["status"], "healthy", "{health}");
    assert!(client.get("/metrics").await.text().contains("attache_store_writable 1\n"));
    let answer = client.rpc("SendMessage", message("after", "echo x")).await;
    assert!(answer["result"].is_object(), "{answer}");
}
