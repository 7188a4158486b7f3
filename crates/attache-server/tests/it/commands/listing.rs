//! `commands/get`: the tree of commands, on every way in.

use attache_testkit::TestClient;
use attache_testkit::extension::check;
use serde_json::{Value, json};

use super::world::World;
use crate::world::TestServer;

#[track_caller]
fn checked(list: &Value) -> Value {
    check("GetAllSlashCommandsResponse", list).unwrap_or_else(|error| panic!("{error}\nin {list:#}"));
    list.clone()
}

async fn over_rpc(client: &TestClient, method: &str) -> Value {
    let answer = client.rpc(method, json!({})).await;
    checked(&answer["result"])
}

async fn over_rest(server: &TestServer, path: &str) -> Value {
    let answer = server.client().get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    checked(&answer.json())
}

fn named<'a>(commands: &'a Value, name: &str) -> &'a Value {
    let mut found = commands.as_array().unwrap().iter().filter(|command| command["name"] == name);
    found.next().unwrap_or_else(|| panic!("no {name} in {commands:#}"))
}

#[tokio::test]
async fn every_way_in_lists_the_same_commands() {
    let world = World::start().await;
    let client = world.server.client();
    let list = over_rpc(&client, "commands/get").await;
    for method in ["command/get", "commands/list"] {
        assert_eq!(over_rpc(&client, method).await, list, "{method}");
    }
    let newer = client.with("A2A-Version", "1.0");
    assert_eq!(over_rpc(&newer, "commands/get").await, list);
    for path in ["/commands", "/v1/commands"] {
        assert_eq!(over_rest(&world.server, path).await, list, "{path}");
    }
}

#[tokio::test]
async fn the_list_is_a_tree_with_arguments() {
    let world = World::start().await;
    let list = over_rpc(&world.server.client(), "commands/get").await;
    let names: Vec<_> = list["commands"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    let expected = [
        "about",
        "agents",
        "compress",
        "extensions",
        "help",
        "init",
        "list-extensions",
        "mcp",
        "memory",
        "model",
        "restore",
        "stats",
        "tools",
    ];
    assert_eq!(names, expected);
    let memory = named(&list["commands"], "memory");
    let below: Vec<_> =
        memory["sub_commands"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(below, ["show", "add", "refresh", "list"]);
    let add = named(&memory["sub_commands"], "add");
    assert_eq!(
        add["arguments"],
        json!([{"name": "text", "description": "the fact to remember", "is_required": true}])
    );
    let help = named(&list["commands"], "help");
    assert_eq!(help["arguments"][0]["is_required"], false);
}

#[tokio::test]
async fn parameters_that_are_wrong_are_named() {
    let world = World::start().await;
    let client = world.server.client();
    let answer = client.rpc("commands/get", json!({"taskId": "nothing"})).await;
    assert_eq!(answer["error"]["code"], -32001, "{answer:#}");
    let answer = client.rpc("command/execute", json!({"args": "x"})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
    assert!(answer.to_string().contains("command_path"), "{answer:#}");
    let answer = client.rpc("command/execute", json!({"command_path": [], "args": 5})).await;
    assert!(answer.to_string().contains("at least the command's name"), "{answer:#}");
    let answer = client.call("POST", "/commands", b"{}").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET")), "{}", answer.text());
    let answer = client.get("/commands:execute").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{}", answer.text());
}
