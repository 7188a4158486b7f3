//! Nothing that was started stays.

use std::path::Path;
use std::time::{Duration, Instant};

use attache_tool_mcp::{McpServerOptions, McpServers, Transport};
use serde_json::json;

use crate::world::{PATIENCE, World, shell, tool, why};

/// A server that ignores every polite request to end, and so does the program it starts.
const STUBBORN: &str = r#"trap '' TERM HUP INT; sh -c 'trap "" TERM HUP INT; echo $$ > grandchild; while :; do sleep 1; done' &
    echo $$ > child; hello; tools "$(tool a)"; while :; do sleep 1; done"#;

async fn stubborn(world: &World) -> (McpServers, [i32; 2]) {
    let servers = world.connect(vec![shell("srv", STUBBORN)]).await;
    let number = async |name: &str| {
        let path = world.folder.path().join(name);
        let begun = Instant::now();
        loop {
            match std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
                Some(number) => return number,
                None => tokio::task::yield_now().await,
            }
            assert!(begun.elapsed() < PATIENCE, "no process has written {}", path.display());
        }
    };
    let numbers = [number("child").await, number("grandchild").await];
    (servers, numbers)
}

/// Runs, and is not just a name that its parent has not struck off yet.
fn runs(number: i32) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc").join(number.to_string()).join("stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

async fn gone(numbers: [i32; 2]) {
    let begun = Instant::now();
    while numbers.into_iter().any(runs) {
        assert!(begun.elapsed() < PATIENCE, "{numbers:?} still run");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn closing_ends_the_whole_group() {
    let world = World::new();
    let (servers, numbers) = stubborn(&world).await;
    // Both ignore every polite request, so this also shows that the wait for a polite end has a limit.
    tokio::time::timeout(PATIENCE, servers.close()).await.expect("it closes in time");
    gone(numbers).await;
    assert!(why(&servers).contains("closed"));
}

#[tokio::test]
async fn dropping_ends_the_whole_group_too() {
    let world = World::new();
    let (servers, numbers) = stubborn(&world).await;
    let held = tool(&servers, "mcp_srv_a");
    drop(servers);
    gone(numbers).await;
    let context = world.tool_context();
    let error = held.propose(&serde_json::Map::new(), &context).await.unwrap_err();
    assert!(error.message.contains("closed"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_given_up_is_ended() {
    let mut world = World::new();
    world.context.connect_timeout = Duration::from_millis(500);
    let script = STUBBORN.replace("hello; tools \"$(tool a)\"; ", "");
    let servers = world.connect(vec![shell("srv", &script)]).await;
    assert!(why(&servers).contains("did not answer"));
    let number = |name: &str| std::fs::read_to_string(world.folder.path().join(name)).unwrap();
    gone(["child", "grandchild"].map(|name| number(name).trim().parse().unwrap())).await;
}

#[tokio::test]
async fn a_polite_server_ends_by_itself() {
    let world = World::new();
    let script = r#"hello; tools "$(tool a)"; cat > /dev/null; echo goodbye > farewell"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    servers.close().await;
    assert!(world.folder.path().join("farewell").exists());
    let error = world.call(&servers, "mcp_srv_a", json!({})).await.unwrap_err();
    assert!(error.message.contains("closed"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_started_says_how_to_mend_it() {
    let world = World::new();
    let start = async |command: &str, directory: Option<&str>| {
        let transport = Transport::Stdio {
            command: command.into(),
            args: vec![],
            env: vec![],
            directory: directory.map(Into::into),
        };
        why(&world.connect(vec![McpServerOptions::new("srv", transport)]).await)
    };
    let why = start("no-such-program-at-all", None).await;
    assert!(
        why.contains("`no-such-program-at-all` cannot be started") && why.contains("install it"),
        "{why}"
    );
    assert!(start("sh", Some("nowhere")).await.contains("there is no folder"));
    assert!(start(" ", None).await.contains("`command` is empty"));
}
