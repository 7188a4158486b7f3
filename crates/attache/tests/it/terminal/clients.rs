//! The endpoint of a session: clients and the terminal see the same, and the first answer counts.

use serde_json::{Value, json};

use super::world::{Endpoint, World, address_in, message};
use crate::live::door::Door;

#[tokio::test]
async fn the_endpoint_is_that_of_the_session() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let client = endpoint.client();
    let session = client.post("/tasks", &json!({})).await.json();
    let id = session["sessionId"].as_str().unwrap().to_owned();
    assert_eq!((&session["taskId"], &session["id"]), (&json!(id), &json!(id)));
    assert!(terminal.raw().contains(&id), "the terminal names it, too");
    assert_eq!(client.post("/tasks", &json!({})).await.json(), session, "there is only one");
    let gemini = client.post("/tasks", &json!({"agentSettings": {"kind": "agent-settings"}})).await;
    assert_eq!(gemini.json(), json!(id));
    let card = client.get("/.well-known/agent-card.json").await.text();
    assert!(card.contains("developer-profile"), "{card}");

    let wrong = client.post("/tasks/other/messages/stream", &message(json!({"text": "hello"}))).await;
    assert_eq!(wrong.status, 404, "{}", wrong.text());
    let wrong = client.get("/ws?taskId=other").await;
    assert_ne!(wrong.status, 101);

    let path = format!("/tasks/{id}/messages/stream");
    let frames = client.post_stream(&path, &message(json!({"text": "hello"}))).await.rest().await;
    assert!(
        frames.iter().any(|frame| frame.payload()["content"]["text"] == "You said hello."),
        "{frames:#?}"
    );
    assert_eq!(frames.last().unwrap().payload()["state"], "idle");
    terminal.until("> hello").await;
    terminal.until("You said hello.").await;
    let task = client.rpc("GetTask", json!({"id": id})).await;
    assert_eq!(task["result"]["id"], json!(id), "all of A2A is there, too");
}

#[tokio::test]
async fn messages_of_a2a_and_commands_without_a_task_go_to_the_session() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let client = endpoint.client();
    let id = client.post("/tasks", &json!({})).await.json()["sessionId"].clone();
    let hello = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "over A2A"}]});
    let sent = client.rpc("SendMessage", json!({"message": hello})).await;
    assert_eq!(sent["result"]["task"]["id"], id, "{sent}");
    terminal.until("> over A2A").await;
    terminal.until("You said over A2A.").await;
    let command = client.post("/commands/about/execute", &json!({})).await.json();
    assert_eq!((&command["success"], &command["taskId"]), (&json!(true), &id), "{command}");
    terminal.until("> /about").await;
    let elsewhere =
        json!({"messageId": "m2", "role": "ROLE_USER", "contextId": "another", "parts": [{"text": "no"}]});
    let refused = client.rpc("SendMessage", json!({"message": elsewhere})).await;
    assert!(refused["error"].is_object(), "{refused}");
    let listed = client.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 1, "{listed}");
}

#[tokio::test]
async fn a_socket_sees_the_terminal_and_prompts_into_it_while_a_line_is_typed() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let mut socket = endpoint.socket().await;
    terminal.line("hello").await;
    let said = socket.until(|event| event["kind"] == "TEXT_CONTENT").await;
    assert_eq!(said["content"]["text"], "You said hello.");
    socket.idle().await;
    terminal.until("You said hello.").await;

    terminal.press("half a").await;
    terminal.until("half a").await;
    socket.prompt("from the socket").await;
    terminal.until("> from the socket").await;
    terminal.until("You said from the socket.").await;
    // The line that was being typed is there again, and can be finished.
    terminal.until("half a").await;
    terminal.keys(" line\r").await;
    terminal.until("You said half a line.").await;
    let is_it = |event: &Value| event["content"]["text"] == "You said half a line.";
    socket.until(is_it).await;
}

#[tokio::test]
async fn a_client_answers_and_the_question_at_the_terminal_closes() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let mut socket = endpoint.socket().await;
    terminal.line("make one").await;
    terminal.until("and Enter.").await;
    let question = socket.question().await;
    let details = &question["confirmation_request"]["details"]["execute_details"];
    assert!(details["command"].as_str().unwrap().contains("touch one"), "{question}");
    socket.answer(&question["tool_call_id"], "proceed_once").await;
    let shown = terminal.until("answered for run_shell_command: proceed_once").await;
    assert!(shown.contains("! operator"), "{shown}");
    terminal.until("The result for one is here.").await;
    assert!(world.work("one").exists());
    socket.idle().await;
    // What was meant as an answer comes too late, and is no prompt.
    terminal.line("yes").await;
    let refused = terminal.until("proceed_once").await;
    assert!(refused.contains("answered"), "{refused}");
}

#[tokio::test]
async fn the_terminal_answers_and_a_client_hears_it_and_is_late() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let mut socket = endpoint.socket().await;
    socket.prompt("make one").await;
    let question = socket.question().await;
    terminal.until("and Enter.").await;
    terminal.press("n").await;
    let answered = socket.until(|event| event.get("confirmation_answer").is_some()).await;
    let answer = &answered["confirmation_answer"];
    assert_eq!(answer["selected_option_id"], "cancel");
    assert!(answer["by"].as_str().unwrap().contains("terminal"), "{answer}");
    terminal.until("rejected").await;
    socket.answer(&question["tool_call_id"], "proceed_once").await;
    let late = socket.until(|frame| frame.get("jsonrpc").is_some() && frame.get("error").is_some()).await;
    assert!(late["error"]["message"].as_str().unwrap().contains("answered"), "{late}");
    assert!(!world.work("one").exists());
}

#[tokio::test]
async fn the_first_answer_counts_between_the_terminal_and_every_other_interface() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let task = endpoint.client().post("/tasks", &json!({})).await.json()["taskId"].clone();
    let mut socket = endpoint.socket().await;
    for door in Door::ALL {
        let (by_client, by_terminal) = (format!("client-{door:?}"), format!("terminal-{door:?}"));
        terminal.line(&format!("make {by_client}")).await;
        let question = socket.question().await;
        terminal.until("and Enter.").await;
        let answered =
            door.answer(&endpoint.address, task.as_str().unwrap(), &question["tool_call_id"]).await;
        answered.unwrap_or_else(|why| panic!("{door:?}: {why}"));
        let shown = terminal.until("answered for run_shell_command: proceed_once").await;
        assert!(shown.contains(&door.shown_name()), "{door:?}: {shown}");
        terminal.until(&format!("The result for {by_client} is here.")).await;
        // The key comes too late: it is a letter of the next line, which is refused.
        terminal.line("y").await;
        terminal.until("has answered the question before you").await;
        socket.idle().await;

        terminal.line(&format!("make {by_terminal}")).await;
        let question = socket.question().await;
        terminal.until("and Enter.").await;
        terminal.press("y").await;
        terminal.until(&format!("The result for {by_terminal} is here.")).await;
        socket.idle().await;
        let late = door.answer(&endpoint.address, task.as_str().unwrap(), &question["tool_call_id"]).await;
        let why = late.expect_err("it is late");
        assert!(why.contains("answered") && why.contains("terminal"), "{door:?}: {why}");
        assert!(world.work(&by_client).exists() && world.work(&by_terminal).exists());
    }
}

#[tokio::test]
async fn a_client_that_cancels_the_task_stops_the_prompt_and_the_session_goes_on() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let client = endpoint.client();
    let session = client.post("/tasks", &json!({})).await.json();
    let id = json!({"id": session["taskId"]});
    let refused = client.rpc("CancelTask", id.clone()).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    terminal.line("slow").await;
    terminal.until("It takes a while.").await;
    let stopped = client.rpc("CancelTask", id.clone()).await;
    assert_eq!(stopped["result"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{stopped}");
    terminal.until("! Stopped, as requested.").await;
    let refused = client.rpc("CancelTask", id).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
}

#[tokio::test]
async fn debug_shows_what_the_endpoint_does() {
    let world = World::new();
    let mut terminal = world.start(&["--a2a-port", "0", "--debug"]);
    let shown = terminal.until("/ws").await;
    let endpoint = Endpoint { address: address_in(&shown) };
    terminal.until("[A2AService]").await;
    let mut socket = endpoint.socket().await;
    terminal.until("A2A client connected").await;
    socket.prompt("hello").await;
    terminal.until("You said hello.").await;
}

#[tokio::test]
async fn a_token_file_keeps_others_out_and_gives_rights() {
    let world = World::new();
    let tokens = world.work("tokens");
    let lines = "wall: view: token-of-the-wall-1\neditor: view, prompt, approve: token-of-the-editor\n";
    std::fs::write(&tokens, lines).unwrap();
    std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut terminal = world.start(&["--a2a-port", "0", "--a2a-token-file", tokens.to_str().unwrap()]);
    let shown = terminal.until("/ws").await;
    let client = Endpoint { address: address_in(&shown) }.client();
    assert_eq!(client.post("/tasks", &json!({})).await.status, 401);
    let editor = client.with("authorization", "Bearer token-of-the-editor");
    let session = editor.post("/tasks", &json!({})).await.json();
    let path = format!("/tasks/{}/messages/stream", session["taskId"].as_str().unwrap());
    let wall = client.with("authorization", "Bearer token-of-the-wall-1");
    assert_eq!(wall.post(&path, &message(json!({"text": "hello"}))).await.status, 403);
    editor.post_stream(&path, &message(json!({"text": "hello"}))).await.rest().await;
    terminal.until("You said hello.").await;
    assert!(!terminal.raw().contains("token-of"));
}
