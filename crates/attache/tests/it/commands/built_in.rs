//! Every built-in command, once.

use attache_testkit::ServerLaunch;
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::write;

/// Commands that want more than a look; other modules here try them.
const ELSEWHERE: [&str; 9] = [
    "agents auth",
    "agents disable",
    "agents enable",
    "agents reset",
    "agents show",
    "agents test",
    "init",
    "memory add",
    "model set",
];

/// A workspace with a context file and an extension.
fn with_context_and_extension(launch: ServerLaunch) -> ServerLaunch {
    write(&launch, "work/GEMINI.md", "Tabs, not spaces.\n");
    let extension = json!({"name": "tidy", "version": "1.2.0"}).to_string();
    write(&launch, ".gemini/extensions/tidy/gemini-extension.json", &extension);
    launch
}

async fn check(world: &World, tried: &mut Vec<String>, name: &str, text: &str, data: fn(&Value) -> bool) {
    tried.push(name.to_owned());
    let told = world.line(&format!("/{name}")).await;
    assert_eq!((told.status(), told.state()), ("STARTED", "completed"), "{name}");
    assert!(told.text().contains(text), "{name}: {}", told.text());
    assert!(data(told.data()), "{name}: {:#}", told.data());
}

fn paths(commands: &Value, before: &str) -> Vec<String> {
    let all = commands.as_array().unwrap().iter().flat_map(|command| {
        let name = format!("{before}{}", command["name"].as_str().unwrap());
        let below = paths(&command["sub_commands"], &format!("{name} "));
        [name].into_iter().chain(below)
    });
    all.collect()
}

#[tokio::test]
async fn every_built_in_command_does_what_it_says() {
    let world = World::with([], with_context_and_extension).await;
    let tried = &mut Vec::new();
    check(&world, tried, "about", "model: gemini-2.5-pro\n", |data| {
        data["about"].as_array().unwrap().iter().any(|it| it["name"] == "workspace")
    })
    .await;
    for name in ["extensions", "extensions list", "list-extensions"] {
        check(&world, tried, name, "tidy", |data| {
            *data == json!({"extensions": [{"name": "tidy", "version": "1.2.0", "enabled": true}]})
        })
        .await;
    }
    check(&world, tried, "help", "/memory", |data| data["commands"].as_array().unwrap().len() == 13).await;
    for name in ["agents", "agents list"] {
        check(&world, tried, name, "cli_help", |data| data["agents"][0]["kind"] == "built-in").await;
    }
    check(&world, tried, "agents reload", "Agents reloaded: 0", |data| data["reload"]["remote"] == 0).await;
    for name in ["mcp", "mcp list", "mcp desc"] {
        check(&world, tried, name, "MCP", |data| *data == json!({"servers": []})).await;
    }
    for name in ["memory", "memory show"] {
        check(&world, tried, name, "Tabs, not spaces.", |data| {
            data["text"].as_str().unwrap().contains("Tabs, not spaces.")
        })
        .await;
    }
    check(&world, tried, "memory refresh", "Read again: 1 file", |data| {
        data["files"].as_array().unwrap().len() == 1
    })
    .await;
    check(&world, tried, "memory list", "GEMINI.md", |data| data["files"][0]["bytes"].is_number()).await;
    for name in ["model", "model list"] {
        check(&world, tried, name, "Model: gemini-2.5-pro", |data| data["model"] == "gemini-2.5-pro").await;
    }
    check(&world, tried, "restore", "Please provide a checkpoint name", |data| data["restored"] == false)
        .await;
    check(&world, tried, "restore list", "There are no checkpoints", |data| {
        *data == json!({"checkpoints": []})
    })
    .await;
    check(&world, tried, "stats", "Tasks: 1", |data| data["usage"]["totalTokens"] == 0).await;
    for name in ["tools", "tools list", "tools desc"] {
        check(&world, tried, name, "read_file", |data| {
            data["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "write_file")
        })
        .await;
    }
    let nothing = world.line("/compress").await;
    assert_eq!(
        nothing.text(),
        "Our conversation stays unchanged: there is nothing to sum up, or the summary would not be shorter."
    );
    tried.push("compress".into());
    let listed = world.client().rpc("commands/get", json!({})).await;
    for path in paths(&listed["result"]["commands"], "") {
        assert!(tried.contains(&path) || ELSEWHERE.contains(&path.as_str()), "/{path} is not tried");
    }
    assert!(world.model.received().is_empty(), "none of it is the model's business");
}

#[tokio::test]
async fn models_are_listed_once() {
    let world = World::offline().await;
    let told = world.line("/model list").await;
    let names: Vec<_> = told.data()["models"].as_array().unwrap().iter().collect();
    assert_eq!(names.iter().filter(|name| **name == "offline").count(), 1, "{names:?}");
    assert_eq!(told.data()["model"], "offline");
}

#[tokio::test]
async fn servers_and_their_tools_are_listed() {
    let server = json!({"command": "no-such-program"});
    let settings = json!({"mcpServers": {"docs": server}}).to_string();
    let world = World::with([], |launch| {
        write(&launch, "work/.gemini/settings.json", &settings);
        launch
    })
    .await;
    let told = world.line("/mcp list").await;
    assert_eq!(told.data()["servers"][0]["name"], "docs", "{:#}", told.data());
    let status = told.data()["servers"][0]["status"].as_str().unwrap();
    assert!(status.starts_with("failed: "), "{status}");
}
