use std::os::unix::fs::symlink;

use attache_tool::{Access, AccessLevel, Effect, Preview, Tool, ToolErrorKind};
use serde_json::{Value, json};

use super::world::{World, text};

#[tokio::test]
async fn nothing_of_our_environment_is_inherited() {
    for world in [World::new(), World::on_terminal()] {
        let told = world.run("env").await;
        let mut names: Vec<&str> = told
            .strip_prefix("Output: ")
            .unwrap()
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        let known = |name: &str| {
            let ours =
                ["ATTACHE", "ATTACHE_COMMAND_ID", "GEMINI_CLI", "TERM", "DEBIAN_FRONTEND", "SSH_ASKPASS"];
            let allowed = ["PATH", "WORLD"];
            let of_bash = ["PWD", "OLDPWD", "SHLVL", "_"];
            ours.contains(&name)
                || allowed.contains(&name)
                || of_bash.contains(&name)
                || name.ends_with("PAGER")
                || name.starts_with("GIT_")
        };
        names.retain(|name| !known(name));
        assert_eq!(names, Vec::<&str>::new());
        for expected in ["PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "ATTACHE=1", "GEMINI_CLI=1"] {
            assert!(told.lines().any(|line| line == expected), "{expected} in {told}");
        }
    }
}

#[tokio::test]
async fn a_command_is_alone_in_its_session_and_group() {
    for world in [World::new(), World::on_terminal()] {
        let told = world.run("set -- $(cat /proc/$$/stat); echo $(($5 == $$)) $(($6 == $$))").await;
        assert_eq!(told, "Output: 1 1");
    }
}

#[tokio::test]
async fn a_command_runs_where_it_is_told_to() {
    let world = World::new();
    std::fs::create_dir(world.root().join("sub")).unwrap();
    symlink("sub", world.root().join("link")).unwrap();
    let root = world.root().display().to_string();
    for (directory, expected) in [
        (Value::Null, root.clone()),
        (json!("."), root.clone()),
        (json!("sub"), format!("{root}/sub")),
        (json!("link"), format!("{root}/sub")),
        (json!(format!("{root}/sub")), format!("{root}/sub")),
    ] {
        let output = world.run_with(json!({ "command": "pwd", "dir_path": directory })).await.unwrap();
        assert_eq!(text(&output), format!("Output: {expected}"));
    }
}

#[tokio::test]
async fn a_folder_outside_the_workspace_is_refused() {
    let world = World::new();
    std::fs::create_dir(world.folder.path().join("outside")).unwrap();
    std::fs::write(world.root().join("file"), "").unwrap();
    symlink(world.folder.path().join("outside"), world.root().join("out")).unwrap();
    for (directory, expected) in [
        ("..", ToolErrorKind::PathNotInWorkspace),
        ("../outside", ToolErrorKind::PathNotInWorkspace),
        ("/", ToolErrorKind::PathNotInWorkspace),
        ("out", ToolErrorKind::PathNotInWorkspace),
        ("missing", ToolErrorKind::FileNotFound),
        ("file", ToolErrorKind::PathIsNotADirectory),
    ] {
        let error = world.propose(json!({ "command": "pwd", "dir_path": directory })).await.unwrap_err();
        assert_eq!(error.kind, expected, "{directory}: {error}");
    }
}

#[tokio::test]
async fn a_folder_that_was_exchanged_after_the_approval_is_refused() {
    let world = World::new();
    let sub = world.root().join("sub");
    std::fs::create_dir(&sub).unwrap();
    let proposal = world.propose(json!({ "command": "touch here", "dir_path": "sub" })).await.unwrap();
    std::fs::remove_dir(&sub).unwrap();
    symlink(world.folder.path(), &sub).unwrap();
    world.tool().run(proposal, &world.context).await.unwrap_err();
    assert!(!world.folder.path().join("here").exists());
}

#[tokio::test]
async fn what_would_run_is_proposed() {
    let world = World::new();
    let proposal = world.propose(json!({ "command": "rm x", "wait_for_previous": true })).await.unwrap();
    let (command, directory) = (String::from("rm x"), world.root());
    let run = Effect::Run {
        command: command.clone(),
        directory: directory.clone(),
        access: Access::new(AccessLevel::Work),
    };
    assert_eq!(proposal.effects, [run]);
    assert_eq!(proposal.shown, Preview::Exec { command, directory, programs: vec![] });
}

#[tokio::test]
async fn input_that_makes_no_sense_is_refused() {
    let world = World::new();
    for input in [
        json!({}),
        json!({ "command": " " }),
        json!({ "command": 7 }),
        json!({ "command": "a\u{0}b" }),
        json!({ "command": "ls", "delay_ms": -1 }),
        json!({ "command": "ls", "delay_ms": 9_000_000 }),
    ] {
        let error = world.propose(input.clone()).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::InvalidToolParams, "{input}");
    }
}

#[tokio::test]
async fn a_machine_without_a_shell_is_told_what_is_missing() {
    let mut world = World::new();
    let workspace = std::sync::Arc::make_mut(&mut world.context.workspace);
    workspace.environment = vec![("PATH".into(), "/nowhere".into())];
    let error = world.run_with(json!({ "command": "true" })).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::ShellExecuteError);
    assert!(error.message.contains("bash has to be installed"), "{error}");
}
