//! A server that may open few files: connections wait for their turn, and nothing else goes without.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use attache_testkit::{ServerLaunch, WAIT_TIMEOUT};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::support::{SCRIPT, launch, message};

const FILES: usize = 100;

#[tokio::test]
async fn more_connections_than_the_system_has_files_for_wait_instead_of_failing() {
    let script = format!("#!/bin/sh\nulimit -n {FILES}\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_attache"));
    let folder = launch();
    let limited = folder.write("limited", &script);
    std::fs::set_permissions(&limited, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = "[limits]\nheader_timeout_seconds = 2\n";
    let server = ServerLaunch::of(&limited).durable().script(SCRIPT).settings(settings).start().await;
    let log = server.log();
    assert!(log.contains("50 connections at once instead of 16384") && log.contains("100 files"), "{log}");
    // Those that find no place are in the system's queue, and the server has files left for its work.
    let mut crowd = Vec::new();
    for _ in 0..2 * FILES {
        crowd.push(TcpStream::connect(server.address()).await.unwrap());
    }
    sleep(Duration::from_millis(300)).await;
    let open = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count();
    assert!(open < FILES, "all {open} files are taken");
    drop(crowd);
    // Until the server has seen that the others are gone, a new connection is one of the reserve: it is told so, or closed
    // when that takes long.
    let began = Instant::now();
    loop {
        let answer = server.client().try_rpc("SendMessage", message("m1", "echo x")).await;
        if answer.as_ref().is_some_and(|answer| answer["result"]["task"].is_object()) {
            break;
        }
        assert!(began.elapsed() < WAIT_TIMEOUT, "{answer:?}");
        sleep(Duration::from_millis(20)).await;
    }
    let log = server.log();
    assert!(!log.contains("could not be accepted"), "{log}");
}
