//! One server for one database and one port, and a start that waits a moment for what a killed one leaves.

use std::fs;
use std::net::TcpListener;

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::ModelServer;

use super::{durable, send};
use crate::agent_world::{calls, launch_with, says, work};
use crate::support::{SCRIPT, launch};
use crate::watching::eventually;

#[tokio::test]
async fn a_second_server_is_refused_by_every_name_of_the_database() {
    let first = durable();
    let server = first.start().await;
    let path = first.folder().join("tasks.db");
    let other = launch().script(SCRIPT);
    let (symbolic, hard) = (other.folder().join("symbolic.db"), first.folder().join("hard.db"));
    std::os::unix::fs::symlink(&path, &symbolic).unwrap();
    fs::hard_link(&path, &hard).unwrap();
    let _ = fs::remove_file(first.folder().join("tasks.db.lock"));
    for name in [&path, &symbolic, &hard] {
        let second =
            launch().script(SCRIPT).argument("--store").argument(format!("sqlite:{}", name.display()));
        let (code, text) = second.start_failing().await;
        assert_eq!(code, Some(1), "{text}");
        let holder = format!("is in use by another process ({}, attache)", server.pid());
        assert!(text.contains(&holder), "{text}");
    }
    send(&server.client(), "m1", "echo one").await;
}

/// Starts a server while `held` keeps something that it needs, and lets go once the server says that it waits for it.
async fn waits_for(launch: ServerLaunch, held: impl FnOnce()) {
    let log = launch.folder().join("log");
    // Read while it starts, which the log of a server that listens is too late for.
    let launch = launch.argument("--log").argument("debug").through_shell("exec 2> log", "exec");
    let said = || fs::read_to_string(&log).unwrap_or_default().contains("waiting a moment for it");
    let letting_go = async {
        eventually("the wait", said).await;
        held();
    };
    let (server, ()) = tokio::join!(launch.start(), letting_go);
    send(&server.client(), "m1", "echo one").await;
}

/// A child process that has not started its program yet looks like this to the next server.
#[tokio::test]
async fn a_lock_and_a_port_that_are_free_in_a_moment_are_waited_for() {
    let launch = durable();
    launch.start().await.kill().await;
    let database = fs::File::open(launch.folder().join("tasks.db")).unwrap();
    database.lock().unwrap();
    waits_for(launch, || database.unlock().unwrap()).await;

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    waits_for(durable().argument("--port").argument(port), || drop(listener)).await;
}

#[tokio::test]
async fn a_command_inherits_no_socket_and_no_file_of_the_store() {
    let list = serde_json::json!({"command": "ls -l /proc/self/fd > descriptors; echo listed"});
    let model = ModelServer::with_responses([calls("run_shell_command", list), says("Done.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    send(&server.client(), "m1", "List them!").await;
    let listed = fs::read_to_string(work(&launch).join("descriptors")).unwrap();
    assert!(listed.contains("descriptors"), "{listed}");
    assert!(!listed.contains("tasks.db") && !listed.contains("socket:"), "{listed}");
}
