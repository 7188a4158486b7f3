//! Flags that cannot be used, and ids of sessions.

use std::net::TcpListener;
use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use tokio::process::Command;
use tokio::time::timeout;

use super::world::{CTRL_D, World};

#[tokio::test]
async fn what_cannot_be_used_is_told_with_what_would_be_right() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, code, told) in [
        (&["--resume"][..], 52, "there is no session of"),
        (&["--session-id", "mine"], 52, "must be a UUID"),
        (&["--yolo", "--approval-mode", "plan"], 2, "cannot be used with"),
        (&["--a2a-token-file", "x"], 2, "--a2a-port"),
        (&["--a2a-port", "70000"], 2, "70000"),
        (&["--a2a-port", &port], 52, "choose another port with --a2a-port"),
        (&["--resume", "--session-id", "x"], 2, "cannot be used with"),
    ] {
        let mut terminal = world.start(arguments);
        let (found, shown) = terminal.end().await;
        assert_eq!(found, Some(code), "{arguments:?}: {shown}");
        assert!(shown.contains(told), "{arguments:?}: {shown}");
    }
    assert_eq!(world.sessions(), [""; 0]);
}

#[tokio::test]
async fn a_session_gets_the_id_that_is_asked_for_once() {
    let world = World::new();
    let id = "0198c0de-0000-7000-8000-00000000cafe";
    let mut terminal = world.start(&["--session-id", id]);
    terminal.until(&format!("session {id}")).await;
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    terminal.press(CTRL_D).await;
    assert_eq!(terminal.end().await.0, Some(0));
    let (code, shown) = world.start(&["--session-id", id]).end().await;
    assert!(code == Some(52) && shown.contains(&format!("attache --resume {id}")), "{shown}");
}

#[tokio::test]
async fn flags_for_a_terminal_need_one() {
    let world = World::new();
    for arguments in [&["-i", "hello"][..], &["--resume"], &["-p", "hello", "--resume"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(world.arguments(arguments)).env_clear().envs(world.variables());
        command.current_dir(world.work("")).stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(WAIT_TIMEOUT, command.output()).await.unwrap().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("for a session at a terminal"), "{told}");
    }
}

/// Nothing is typed.
#[tokio::test]
async fn agents_that_cannot_be_used_are_told_of_soon() {
    let world = World::new();
    world.write(".gemini/settings.json", r#"{"experimental": {"enableAgents": true}}"#);
    let file = "---\nkind: remote\nname: gone\ndescription: It is gone.\nagent_card_url: http://127.0.0.1:9/card.json\n---\n";
    world.write(".gemini/agents/gone.md", file);
    let mut terminal = world.start(&[]);
    terminal.until("an agent cannot be used").await;
    terminal.press(CTRL_D).await;
    assert_eq!(terminal.end().await.0, Some(0));
}
