use std::time::{Duration, Instant};

use serde_json::json;

use super::world::World;

/// A fraction of a second on an idle machine; the commands here would run for many minutes.
const SOON: Duration = Duration::from_secs(20);

/// Cancels once the command says that it is ready: the call returns, and nothing of the command is left then.
async fn check(command: &str) {
    for world in [World::new(), World::on_terminal()] {
        let (told, took) = world.cancel(world.run(command)).await;
        assert_eq!(world.processes(), Vec::<i32>::new(), "{command}");
        assert!(told.starts_with("The command was cancelled"), "{told}");
        assert!(told.contains("ready"), "{told}");
        assert!(took < SOON, "{took:?} for {command}");
    }
}

#[tokio::test]
async fn a_cancelled_command_ends() {
    check("echo ready; sleep 1000").await;
}

#[tokio::test]
async fn one_that_does_not_want_to_end_is_made_to() {
    check("trap '' TERM HUP INT; echo ready; while true; do sleep 1000; done").await;
}

#[tokio::test]
async fn one_that_left_the_session_and_lost_its_parents_ends_too() {
    check("(setsid bash -c 'trap \"\" TERM; sleep 1000 & wait; sleep 1001' </dev/null >/dev/null 2>&1 &); sleep 0.1; echo ready; sleep 1000").await;
}

#[tokio::test]
async fn one_that_also_wiped_its_environment_ends_too() {
    for world in [World::new(), World::on_terminal()] {
        let hidden = "trap \"\" TERM HUP; echo $$ >hidden.new; mv hidden.new hidden; sleep 100";
        let command = format!(
            "(env -i PATH=\"$PATH\" setsid bash -c '{hidden}' </dev/null >/dev/null 2>&1 &); \
             until test -e hidden; do sleep 0.01; done; echo ready; sleep 1000"
        );
        world.cancel(world.run(&command)).await;
        let pid = std::fs::read_to_string(world.root().join("hidden")).unwrap();
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
    }
}

#[tokio::test]
async fn fifty_processes_end_together() {
    check("for i in $(seq 25); do (sleep 1000 & wait) & done; sleep 0.2; echo ready; wait").await;
}

#[tokio::test]
async fn one_that_keeps_starting_others_ends() {
    check("again() { sleep 0.01; (again) & sleep 0.02; }; trap '' TERM; again & echo ready; while true; do (sleep 0.3; true) & sleep 0.02; done").await;
}

#[tokio::test]
async fn one_that_never_stops_talking_ends() {
    check("echo ready; yes").await;
}

#[tokio::test]
async fn dropping_the_call_ends_everything() {
    for world in [World::new(), World::on_terminal()] {
        let command = "trap '' TERM HUP; (setsid sleep 1000 </dev/null >/dev/null 2>&1 &); sleep 0.1; echo ready; sleep 1000";
        tokio::select! {
            told = world.run(command) => panic!("it ended: {told}"),
            () = world.live.until("ready") => {}
        }
        let begun = Instant::now();
        while !world.processes().is_empty() {
            assert!(begun.elapsed() < SOON, "{:?} are left", world.processes());
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_silent_command_is_ended() {
    let mut world = World::new();
    world.options.inactivity_limit = Some(Duration::from_millis(200));
    let told = world.run("sleep 1000").await;
    assert!(told.contains("wrote nothing for 200 milliseconds"), "{told}");
    assert!(told.ends_with("Output: (empty)"), "{told}");
    assert!(world.processes().is_empty());
}

#[tokio::test]
async fn a_command_that_says_something_now_and_then_goes_on() {
    let mut world = World::new();
    world.options.inactivity_limit = Some(Duration::from_millis(1500));
    let told = world.run("for i in 1 2 3 4; do echo $i; sleep 0.5; done").await;
    assert_eq!(told, "Output: 1\n2\n3\n4");
}

#[tokio::test]
async fn a_command_that_writes_too_much_is_ended_and_the_report_says_so() {
    for mut world in [World::new(), World::on_terminal()] {
        world.options.max_output_bytes = Some(1 << 20);
        for command in ["yes", "seq 1 99999999999", "cat /dev/zero"] {
            let told = world.run(command).await;
            assert!(told.starts_with("The command was ended because it wrote more than 1 MB"), "{told:.200}");
            assert!(world.processes().is_empty());
        }
        world.options.max_output_bytes = None;
        assert!(world.run("seq 1 200000").await.starts_with("Output: "));
    }
}

#[tokio::test]
async fn what_a_command_leaves_running_is_named_and_ends_with_its_owner() {
    let world = World::new();
    let begun = Instant::now();
    let told = world.run("sleep 1000 & echo $!").await;
    assert!(begun.elapsed() < Duration::from_secs(10), "nobody waits for what is left");
    let pid = told.strip_prefix("Output: ").unwrap().lines().next().unwrap();
    assert_eq!(told, format!("Output: {pid}\nBackground PIDs: {pid}"));
    assert_eq!(world.processes(), [pid.parse::<i32>().unwrap()]);
    world.background.shutdown().await;
    assert!(world.processes().is_empty());
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_runs_nothing() {
    let world = World::new();
    world.context.cancel.cancel();
    let error = world.run_with(json!({ "command": "touch here" })).await.unwrap_err();
    assert!(error.message.contains("nothing has run"), "{error}");
    assert!(!world.root().join("here").exists());
}
