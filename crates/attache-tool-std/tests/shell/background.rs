use std::time::{Duration, Instant};

use attache_tool::{Tool, ToolError, ToolErrorKind};
use attache_tool_std::{ListBackgroundProcesses, ReadBackgroundOutput, StopBackgroundProcess};
use serde_json::{Value, json};

use super::world::{World, text};

async fn start(world: &World, command: &str, delay: u64) -> String {
    let input = json!({ "command": command, "is_background": true, "delay_ms": delay });
    text(&world.run_with(input).await.unwrap())
}

fn pid(told: &str) -> i32 {
    told.lines().last().unwrap().strip_prefix("Background PIDs: ").unwrap().parse().unwrap()
}

async fn use_tool(world: &World, tool: impl Tool, input: Value) -> Result<String, ToolError> {
    let proposal = tool.propose(input.as_object().unwrap(), &world.context).await?;
    assert!(proposal.effects.is_empty());
    Ok(text(&tool.run(proposal, &world.context).await?))
}

async fn list(world: &World) -> String {
    use_tool(world, ListBackgroundProcesses::new(world.background.clone()), json!({})).await.unwrap()
}

async fn read(world: &World, input: Value) -> Result<String, ToolError> {
    use_tool(world, ReadBackgroundOutput::new(world.background.clone()), input).await
}

#[tokio::test]
async fn a_command_in_the_background_that_writes_too_much_is_ended() {
    let mut world = World::new();
    world.options.max_output_bytes = Some(1 << 20);
    let told = start(&world, "echo begun; until test -e go; do sleep 0.01; done; yes", 0).await;
    std::fs::write(world.root().join("go"), "").unwrap();
    eventually(&world, json!({ "pid": pid(&told) }), "ended after writing more than 1 MB").await;
    assert!(world.processes().is_empty());
}

/// Looks again until it is so.
async fn eventually(world: &World, input: Value, part: &str) -> String {
    let begun = Instant::now();
    loop {
        let told = read(world, input.clone()).await.unwrap();
        if told.contains(part) {
            return told;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{told}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_background_process_is_listed_read_and_ended() {
    for world in [World::new(), World::on_terminal()] {
        let told =
            start(&world, "echo first; until test -e go; do sleep 0.02; done; seq 200; exec sleep 1000", 500)
                .await;
        let pid = pid(&told);
        assert!(told.contains("Output: first\n"), "{told}");
        assert!(
            list(&world).await.starts_with(&format!("[PID {pid}] running: echo first;")),
            "{}",
            list(&world).await
        );

        std::fs::write(world.root().join("go"), "").unwrap();
        let told = eventually(&world, json!({ "pid": pid, "lines": 2 }), "\n200").await;
        assert_eq!(told, format!("Process {pid}: running\nOutput: 199\n200"));
        let log = world.context.workspace.scratch.join(format!("background-processes/background-{pid}.log"));
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.starts_with("first\n1\n2\n") && log.ends_with("\n200\n"), "{log}");

        world.background.shutdown().await;
        assert!(world.processes().is_empty());
        assert!(
            list(&world).await.starts_with(&format!("[PID {pid}] cancelled: ")),
            "{}",
            list(&world).await
        );
    }
}

#[tokio::test]
async fn one_that_ends_in_time_is_told_like_any_other() {
    let world = World::new();
    assert_eq!(start(&world, "echo quick; exit 4", 30_000).await, "Output: quick\nExit Code: 4");
    assert_eq!(list(&world).await, "There are no background processes.");
}

#[tokio::test]
async fn how_it_ended_is_known_afterwards() {
    let world = World::new();
    let pid = pid(&start(&world, "until test -e go; do sleep 0.02; done; echo done; exit 5", 0).await);
    std::fs::write(world.root().join("go"), "").unwrap();
    let told = eventually(&world, json!({ "pid": pid }), "exited").await;
    assert_eq!(told, format!("Process {pid}: exited with code 5\nOutput: done"));
}

#[tokio::test]
async fn dropping_the_owner_ends_all() {
    let mut world = World::on_terminal();
    start(&world, "trap '' TERM HUP; sleep 1000", 50).await;
    start(&world, "(setsid sleep 1000 &); sleep 1000", 50).await;
    assert!(world.processes().len() >= 2);
    world.background = Default::default();
    let begun = Instant::now();
    while !world.processes().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", world.processes());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_started_after_the_end_ends_at_once() {
    let world = World::new();
    world.background.shutdown().await;
    let pid = pid(&start(&world, "sleep 1000", 0).await);
    eventually(&world, json!({ "pid": pid }), "cancelled").await;
    assert!(world.processes().is_empty());
}

#[tokio::test]
async fn a_pid_that_is_not_ours_is_refused() {
    let world = World::new();
    let error = read(&world, json!({ "pid": 1 })).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::InvalidToolParams);
    assert!(error.message.contains("there are none"), "{error}");
    for input in [json!({}), json!({ "pid": "x" }), json!({ "pid": 1, "lines": 0 })] {
        assert_eq!(read(&world, input).await.unwrap_err().kind, ToolErrorKind::InvalidToolParams);
    }
}

#[tokio::test]
async fn a_background_process_can_be_stopped_and_others_cannot() {
    let world = World::new();
    let pid = pid(&start(&world, "echo ready; exec sleep 1000", 500).await);
    let stop = || StopBackgroundProcess::new(world.background.clone());
    assert_eq!(
        use_tool(&world, stop(), json!({ "pid": pid })).await.unwrap(),
        format!("Process {pid}: stopped")
    );
    eventually(&world, json!({ "pid": pid }), "ended by").await;
    let own = i32::try_from(std::process::id()).unwrap();
    let error = use_tool(&world, stop(), json!({ "pid": own })).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::InvalidToolParams);
}
