//! `AgentSettings`: what a client may request in its first message, and what comes of it.

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::PlannedResponse;
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::{calls, last_output, says, write};
use attache_testkit::editor::{URI, chosen};
use attache_testkit::pairs::Pair;

fn touch(name: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": format!("touch {name}")}))
}

/// Clients may work below `projects`; `more` is what else the operator says.
fn with_roots(more: &str) -> impl FnOnce(ServerLaunch) -> ServerLaunch {
    let more = more.to_owned();
    move |launch| {
        let folder = launch.folder().canonicalize().unwrap();
        write(&launch, "projects/a/readme.txt", "I am a.");
        launch.settings(&format!("allowed_roots = [{:?}]\n{more}", folder.join("projects")))
    }
}

#[tokio::test]
async fn a_workspace_below_an_allowed_root_is_used_and_kept() {
    let read = || calls("read_file", json!({"file_path": "readme.txt"}));
    for name in ["workspace_path", "workspacePath"] {
        let world = World::with([read(), says("a"), read(), says("b")], with_roots("")).await;
        let editor = world.editor();
        let settings = json!({ name: world.launch.folder().join("projects/a") });
        let first = editor.exchange(editor.text_with("m1", "Read!", &settings)).await;
        assert_eq!(first.last().state(), "completed", "{:#?}", first.lines());
        assert!(last_output(&world.model).contains("I am a."), "{}", last_output(&world.model));
        editor.ask_more(first.task(), "m2", "Again!").await;
        assert!(last_output(&world.model).contains("I am a."), "{}", last_output(&world.model));
    }
}

#[tokio::test]
async fn requests_that_cannot_be_granted_are_refused_with_the_rule() {
    let world = World::with([says("never")], with_roots("")).await;
    let folder = world.launch.folder().to_owned();
    let projects = folder.canonicalize().unwrap().join("projects");
    std::os::unix::fs::symlink(folder.join("data"), projects.join("link")).unwrap();
    let projects = projects.to_str().unwrap();
    let inside = folder.join("projects/a");
    for (settings, rule) in [
        (json!({"workspace_path": folder.join("work")}), projects),
        (json!({"workspace_path": folder.join("projects/a/../../work")}), projects),
        (json!({"workspace_path": folder.join("projects/link")}), projects),
        (json!({"workspace_path": "/"}), projects),
        (json!({"workspace_path": "relative"}), projects),
        (json!({"workspace_path": folder.join("projects/a/readme.txt")}), "readme.txt"),
        (json!({"workspace_path": 7}), "must be a string"),
        (json!({"model": "gpt"}), "openai:NAME"),
        (json!({"approval_mode": "yolo"}), "more careful"),
        (json!({"approval_mode": "wild"}), "default, auto_edit, confined, yolo or plan"),
        (json!({"approval_mode": "auto_edit", "workspace_path": inside}), "more careful"),
        (json!({"approval_mode": "confined", "workspace_path": inside}), "more careful"),
        (
            json!({"approval_mode": "wild", "workspace_path": inside}),
            "default, auto_edit, confined, yolo or plan",
        ),
        (json!({"allowed_tools": ["run_shell_command(touch)"]}), "client_auto_execute"),
        (json!({"mcp_servers": {"x": {"command": "sh"}}}), "commands are for the server's own settings"),
    ] {
        for pair in Pair::ALL {
            let editor = world.editor_on(pair);
            let refused = editor.refused(editor.text_with("m1", "Go!", &settings)).await;
            assert_eq!(refused.code, (pair != Pair::Rest10).then_some(-32602), "{settings}: {refused:#?}");
            assert!(refused.message.contains(rule), "{pair:?} {settings}: {}", refused.message);
        }
    }
    assert!(world.model.received().is_empty());
}

/// The example of the page, on a server with default settings.
#[tokio::test]
async fn the_settings_of_the_page_are_granted_by_a_server_as_it_is() {
    const PAGE: &str = include_str!("../../../../../docs/extension/README.md");
    let (_, example) = PAGE.split_once("```json AgentSettings\n").expect("an example of settings");
    let (example, _) = example.split_once("```").expect("the end of the example");
    let settings: Value = serde_json::from_str(example).expect("the example is JSON");
    let world = World::with([says("Hello.")], |launch| launch.without_trust()).await;
    let editor = world.editor();
    let exchange = editor.exchange(editor.text_with("m1", "Hi!", &settings)).await;
    assert_eq!(exchange.last().state(), "completed", "{:#?}", exchange.lines());
}

/// The folder that the client names decides, not the server's own.
#[tokio::test]
async fn a_mode_for_another_workspace_is_granted_or_refused_before_a_task_opens() {
    let world = World::with([says("Done."), says("Done.")], |launch| {
        write(&launch, "projects/trusted/readme.txt", "");
        write(&launch, "projects/other/readme.txt", "");
        let projects = launch.folder().canonicalize().unwrap().join("projects");
        let trusted = projects.join("trusted");
        launch.settings(&format!(
            "allowed_roots = [{projects:?}]\ntrusted_folders = [{trusted:?}]\nclient_auto_execute = true\n"
        ))
    })
    .await;
    let editor = world.editor();
    let request = |mode: &str, name: &str| {
        let folder = world.launch.folder().join("projects").join(name);
        json!({"approval_mode": mode, "workspace_path": folder})
    };
    let refused = editor.refused(editor.text_with("m1", "Go!", &request("auto_edit", "other"))).await;
    assert!(refused.message.contains("more careful"), "{refused:#?}");
    assert!(world.model.received().is_empty());
    for (id, settings) in [("m2", request("auto_edit", "trusted")), ("m3", request("plan", "other"))] {
        let granted = editor.exchange(editor.text_with(id, "Go!", &settings)).await;
        assert_eq!(granted.last().state(), "completed", "{settings} {:#?}", granted.lines());
    }
}

/// The outcome of a task with these settings that wants to touch `made`: the number of approvals asked for, and the texts of
/// its state changes.
async fn touching(settings: &Value, operator: &str) -> (World, usize, String) {
    let world = World::with([touch("made"), says("Done.")], |launch| launch.settings(operator)).await;
    let editor = world.editor();
    let exchange = editor.exchange(editor.text_with("m1", "Go!", settings)).await;
    let notices = exchange.events.iter().filter(|event| event.kind() == "STATE_CHANGE");
    let notices = notices.filter_map(|event| event.text()).collect::<String>();
    let asked = exchange.asked().len();
    (world, asked, notices)
}

#[tokio::test]
async fn tools_and_modes_without_questions_are_the_operators_to_allow() {
    let free = "client_auto_execute = true\n";
    for settings in [
        json!({"allowed_tools": ["run_shell_command(touch)"]}),
        json!({"approval_mode": "yolo"}),
        json!({"auto_execute": true}),
        json!({"autoExecute": true}),
    ] {
        let (world, asked, notices) = touching(&settings, free).await;
        assert_eq!((asked, notices.as_str()), (0, ""), "{settings}");
        assert!(world.file("made").is_some(), "{settings}");
    }
    let (_world, asked, _) = touching(&json!({"allowed_tools": ["run_shell_command(mkdir)"]}), free).await;
    assert_eq!(asked, 1, "only what was named");
}

#[tokio::test]
async fn automatic_approval_that_is_not_granted_is_told_and_people_are_asked() {
    let (world, asked, notices) = touching(&json!({"auto_execute": true}), "").await;
    assert_eq!(asked, 1);
    assert!(notices.contains("client_auto_execute"), "{notices}");
    assert_eq!(world.file("made"), None);
}

#[tokio::test]
async fn a_client_may_be_more_careful_than_the_operator() {
    let world = World::with([touch("made"), says("I only plan.")], |launch| {
        launch.argument("--approval-mode").argument("yolo")
    })
    .await;
    let editor = world.editor();
    let settings = json!({"approval_mode": "plan"});
    let exchange = editor.exchange(editor.text_with("m1", "Go!", &settings)).await;
    assert_eq!(exchange.call("FAILED")["error"]["type"], "policy_violation");
    assert_eq!(world.file("made"), None);
}

#[tokio::test]
async fn the_model_is_chosen_named_on_every_event_and_changed_with_the_task() {
    let world = World::playing([says("One."), says("Two.")]).await;
    let editor = world.editor();
    let settings = json!({"model": "gemini-2.5-flash"});
    let first = editor.exchange(editor.text_with("m1", "Hi!", &settings)).await;
    assert!(first.events[1..].iter().all(|event| event.metadata()["model"] == "gemini-2.5-flash"));
    let mut params = editor.pair.text_to(first.task(), "m2", "And?");
    params["message"]["metadata"] = json!({ URI: {"model": "gemini-2.5-pro"} });
    let second = editor.exchange(params).await;
    assert!(second.events.iter().all(|event| event.metadata()["model"] == "gemini-2.5-pro"), "{second:#?}");
    let paths: Vec<_> = world.model.received().iter().map(|request| request.target.clone()).collect();
    assert!(paths[0].contains("gemini-2.5-flash") && paths[1].contains("gemini-2.5-pro"), "{paths:?}");
}

#[tokio::test]
async fn what_later_versions_may_add_is_passed_over() {
    let world = World::playing([says("Hello.")]).await;
    let editor = world.editor();
    let settings = json!({"colour": "blue", "telemetry": {"deep": [1]}});
    let exchange = editor.exchange(editor.text_with("m1", "Hi!", &settings)).await;
    assert_eq!(exchange.last().state(), "completed");
}

#[tokio::test]
async fn settings_in_an_answer_do_not_get_in_its_way() {
    let world = World::playing([touch("made"), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Go!").await;
    let mut params = editor.answers(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_once")]);
    params["message"]["metadata"] = json!({ URI: {"model": "gemini-2.5-pro"} });
    let done = editor.exchange(params).await;
    assert_eq!(done.last().state(), "completed");
}
