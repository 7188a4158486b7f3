//! The WebSocket of the live endpoint.

use std::time::Duration;

use attache_domain::TaskId;
use attache_server::{ConsoleLevel, ConsoleLine, ConsoleLog};
use futures_util::{SinkExt, StreamExt};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::rights::with_clients;
use crate::world::{Launch, TestServer, launch};

pub(crate) type Socket = WebSocketStream<TcpStream>;

pub(crate) fn live() -> Launch {
    launch().options(|options| options.live = true)
}

pub(crate) async fn try_connect(
    address: &str,
    path: &str,
    header: (&'static str, &str),
) -> Result<Socket, Error> {
    let mut request = format!("ws://{address}{path}").into_client_request()?;
    request.headers_mut().insert(header.0, header.1.parse().unwrap());
    let connection = TcpStream::connect(address).await.unwrap();
    client_async(request, connection).await.map(|(socket, _)| socket)
}

pub(crate) async fn connect(server: &TestServer, path: &str) -> Socket {
    try_connect(server.address(), path, ("user-agent", "test")).await.unwrap()
}

pub(crate) async fn send(socket: &mut Socket, message: &Value) {
    socket.send(Message::text(message.to_string())).await.unwrap();
}

/// The next frame with content.
pub(crate) async fn next(socket: &mut Socket) -> Value {
    let reading = async {
        loop {
            if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reading).await.expect("a frame in time")
}

/// All events up to the end of a prompt.
pub(crate) async fn activity(socket: &mut Socket) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let event = next(socket).await;
        let is_last = event["final"] == true;
        if event.get("kind").is_some() {
            events.push(event);
        }
        if is_last {
            return events;
        }
    }
}

pub(crate) fn prompt(text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "message/stream", "params": {"message": {"content": {"text": text}}}})
}

pub(crate) fn texts(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event["kind"] == "TEXT_CONTENT");
    texts.filter_map(|event| event["content"]["text"].as_str()).collect()
}

#[tokio::test]
async fn every_client_sees_all_activity_of_every_client() {
    let server = live().start().await;
    let (mut one, mut two) = (connect(&server, "/ws").await, connect(&server, "/ws").await);
    send(&mut one, &prompt("echo from one")).await;
    let (first, second) = (activity(&mut one).await, activity(&mut two).await);
    assert_eq!(first, second);
    assert_eq!(texts(&first), "from one");
    assert_eq!((&first[0]["kind"], &first[0]["status"]), (&json!("USER_PROMPT"), &json!("RECEIVED")));
    assert_eq!((&first[0]["client"], &first[0]["interface"]), (&json!("test"), &json!("websocket")));
    let created = server.client().post("/tasks", &json!({})).await.json();
    let path = format!("/tasks/{}/messages/stream", created["taskId"].as_str().unwrap());
    server.client().post_stream(&path, &prompt("echo over http")).await.rest().await;
    for socket in [&mut one, &mut two] {
        let events = activity(socket).await;
        assert_eq!(texts(&events), "over http");
        assert!(events.iter().all(|event| event["taskId"] == created["taskId"]), "{events:#?}");
    }
}

#[tokio::test]
async fn a_request_with_an_id_is_answered_and_the_next_prompt_continues_its_session() {
    let server = live().start().await;
    let mut socket = connect(&server, "/ws").await;
    let mut request = prompt("echo a");
    request["id"] = json!(7);
    send(&mut socket, &request).await;
    let (mut result, mut task) = (None, None);
    while result.is_none() || task.is_none() {
        let frame = next(&mut socket).await;
        match frame["id"] == 7 {
            true => result = Some(frame["result"].clone()),
            false if frame["final"] == true => task = Some(frame["taskId"].clone()),
            false => {}
        }
    }
    let (result, task) = (result.unwrap(), task.unwrap());
    assert_eq!((&result["taskId"], &result["sessionId"]), (&task, &task));
    send(&mut socket, &prompt("echo b")).await;
    let events = activity(&mut socket).await;
    assert_eq!((texts(&events).as_str(), &events[0]["taskId"]), ("b", &task));
}

#[tokio::test]
async fn a_socket_can_be_narrowed_to_one_task() {
    let server = live().start().await;
    let created = server.client().post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap();
    let mut narrow = connect(&server, &format!("/ws?taskId={task}")).await;
    assert_eq!(next(&mut narrow).await["state"], "submitted");
    let mut wide = connect(&server, "/ws").await;
    send(&mut wide, &prompt("echo elsewhere")).await;
    activity(&mut wide).await;
    send(&mut narrow, &prompt("echo here")).await;
    let events = activity(&mut narrow).await;
    assert_eq!((texts(&events).as_str(), &events[0]["taskId"]), ("here", &json!(task)));
    let other = json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"taskId": "x", "text": "a"}});
    send(&mut narrow, &other).await;
    assert_eq!(next(&mut narrow).await["error"]["code"], -32602);
}

#[tokio::test]
async fn bad_frames_get_errors_and_the_connection_goes_on() {
    let server = live().start().await;
    let mut socket = connect(&server, "/ws").await;
    for (frame, code) in [
        (Message::text("{"), -32700),
        (Message::text("[]"), -32600),
        (Message::text(r#"{"jsonrpc":"2.0","method":"message/sing"}"#), -32601),
        (Message::text(r#"{"jsonrpc":"2.0","method":"message/stream","params":{}}"#), -32602),
        (Message::text(r#"{"taskId":"nonesuch","text":"echo a"}"#), -32001),
        (Message::binary(vec![1, 2]), -32600),
    ] {
        socket.send(frame.clone()).await.unwrap();
        let error = next(&mut socket).await;
        assert_eq!(error["error"]["code"], code, "{frame:?}: {error:#}");
    }
    send(&mut socket, &prompt("echo a")).await;
    assert_eq!(texts(&activity(&mut socket).await), "a");
}

#[track_caller]
fn check_refused(opened: Result<Socket, Error>, status: u16) {
    match opened {
        Err(Error::Http(response)) => assert_eq!(response.status(), StatusCode::from_u16(status).unwrap()),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[tokio::test]
async fn a_socket_opens_only_for_those_who_may_call() {
    let server = live().token("secret").start().await;
    check_refused(try_connect(server.address(), "/ws", ("user-agent", "test")).await, 401);
    try_connect(server.address(), "/ws", ("authorization", "Bearer secret")).await.unwrap();
    let server = live().start().await;
    check_refused(try_connect(server.address(), "/ws", ("origin", "https://evil.example")).await, 403);
    check_refused(try_connect(server.address(), "/ws?taskId=nonesuch", ("user-agent", "test")).await, 404);
    let own = format!("http://{}", server.address());
    try_connect(server.address(), "/ws", ("origin", &own)).await.unwrap();
    assert_eq!(server.client().get("/ws").await.status, 400);
    check_refused(try_connect(launch().start().await.address(), "/ws", ("user-agent", "test")).await, 404);
}

/// Opens a socket with these headers; also says which subprotocol the server chose.
async fn open_with(
    server: &TestServer,
    headers: &[(&'static str, &str)],
) -> Result<(Socket, Option<String>), Error> {
    let mut request = format!("ws://{}/ws", server.address()).into_client_request()?;
    for (name, value) in headers {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    let connection = TcpStream::connect(server.address()).await.unwrap();
    let (socket, response) = client_async(request, connection).await?;
    let chosen = response.headers().get("sec-websocket-protocol").map(|it| it.to_str().unwrap().to_owned());
    Ok((socket, chosen))
}

#[tokio::test]
async fn a_socket_that_may_only_view_sees_everything_and_says_nothing() {
    let server = with_clients().start().await;
    let header = |token: &str| format!("Bearer {token}");
    let (mut wall, _) = open_with(&server, &[("authorization", &header("token-of-the-wall"))]).await.unwrap();
    let (mut editor, _) =
        open_with(&server, &[("authorization", &header("token-of-the-editor"))]).await.unwrap();
    let mut refused = prompt("echo no");
    refused["id"] = json!(1);
    send(&mut wall, &refused).await;
    let error = next(&mut wall).await;
    assert_eq!(error["id"], 1);
    assert!(error["error"]["message"].as_str().unwrap().contains("the right prompt"), "{error:#}");
    send(&mut editor, &prompt("echo yes")).await;
    assert_eq!(texts(&activity(&mut wall).await), "yes");
    assert_eq!(texts(&activity(&mut editor).await), "yes");
}

#[tokio::test]
async fn a_page_gives_its_token_as_a_subprotocol_and_never_gets_it_back() {
    let server = with_clients().start().await;
    // token-of-the-wall
    let bearer = "attache.bearer.dG9rZW4tb2YtdGhlLXdhbGw";
    let protocol = "sec-websocket-protocol";
    let (mut socket, chosen) =
        open_with(&server, &[(protocol, &format!("attache.live, {bearer}"))]).await.unwrap();
    assert_eq!(chosen.as_deref(), Some("attache.live"));
    send(&mut socket, &prompt("echo no")).await;
    assert!(next(&mut socket).await["error"].is_object(), "it is the client of the token");
    for offered in ["attache.live", "attache.live, attache.bearer.dG9rZW4", "attache.live, token-of-the-wall"]
    {
        check_refused(open_with(&server, &[(protocol, offered)]).await.map(|(socket, _)| socket), 401);
    }
    let header = ("authorization", "Bearer token-of-the-wall");
    let (_, chosen) = open_with(&server, &[header]).await.unwrap();
    assert_eq!(chosen, None);
}

/// The next line of the log.
async fn next_line(socket: &mut Socket) -> Value {
    loop {
        let event = next(socket).await;
        if event["kind"] == "CONSOLE_LOG" {
            return event;
        }
    }
}

#[tokio::test]
async fn warnings_of_the_program_are_shown_to_clients_with_all_rights() {
    let log = ConsoleLog::default();
    let console = log.clone();
    let server =
        with_clients().token("own-token").options(|options| options.console = Some(console)).start().await;
    let own = ("authorization", "Bearer own-token");
    let created = server.client().with(own.0, own.1).post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap().to_owned();
    let (mut all, _) = open_with(&server, &[own]).await.unwrap();
    let mut narrow = try_connect(server.address(), &format!("/ws?taskId={task}"), own).await.unwrap();
    let (mut editor, _) =
        open_with(&server, &[("authorization", "Bearer token-of-the-editor")]).await.unwrap();
    let line = |level, text: &str, task: Option<&str>| ConsoleLine {
        level,
        text: text.to_owned(),
        task: task.map(str::to_owned),
    };
    log.write(line(ConsoleLevel::Error, "the store failed", None));
    log.write(line(ConsoleLevel::Warn, "about another", Some("other")));
    log.write(line(ConsoleLevel::Warn, "about this", Some(&task)));
    let event =
        |level: &str, text: &str| json!({"kind": "CONSOLE_LOG", "content": {"level": level, "text": text}});
    let about = |mut event: Value, task: &str| {
        event["taskId"] = task.into();
        event
    };
    assert_eq!(next_line(&mut all).await, event("error", "the store failed"));
    assert_eq!(next_line(&mut all).await, about(event("warn", "about another"), "other"));
    let own_line = about(event("warn", "about this"), &task);
    assert_eq!(next_line(&mut all).await, own_line);
    assert_eq!(next_line(&mut narrow).await, own_line, "nothing else is about the task");
    send(&mut editor, &prompt("echo only this")).await;
    let seen = activity(&mut editor).await;
    assert!(seen.iter().all(|event| event["kind"] != "CONSOLE_LOG"), "{seen:#?}");
}

#[tokio::test]
async fn where_there_is_one_session_its_clients_see_what_is_about_the_process() {
    let log = ConsoleLog::default();
    let console = log.clone();
    let id = TaskId::from("0198c0de-0000-7000-8000-00000000cafe");
    let session = id.clone();
    let server = live()
        .options(move |options| (options.console, options.live_session) = (Some(console), Some(session)))
        .session_id(id.clone())
        .start()
        .await;
    let path = format!("/tasks/{id}/messages/stream");
    let mut socket = connect(&server, "/ws").await;
    let mut stream = server.client().stream("GET", &path, b"").await;
    assert_eq!(next(&mut socket).await["state"], "submitted");
    assert_eq!(stream.next().await.unwrap().payload()["state"], "submitted");
    let line = |text: &str, task: Option<&str>| ConsoleLine {
        level: ConsoleLevel::Warn,
        text: text.to_owned(),
        task: task.map(str::to_owned),
    };
    log.write(line("about another", Some("other")));
    log.write(line("about the process", None));
    log.write(line("about the session", Some(id.as_str())));
    let mut own = json!({"kind": "CONSOLE_LOG", "content": {"level": "warn", "text": "about the session"}});
    own["taskId"] = json!(id.as_str());
    let expected =
        [json!({"kind": "CONSOLE_LOG", "content": {"level": "warn", "text": "about the process"}}), own];
    for event in &expected {
        assert_eq!(next(&mut socket).await, *event);
        let frame = stream.next().await.unwrap();
        assert_eq!((&frame.data, frame.id_text), (event, None), "no client resumes after it");
    }
    // The stream of a prompt shows them between its events.
    let mut prompting = server.client().post_stream(&path, &prompt("slow")).await;
    prompting.until(|frame| frame.data["kind"] == "TEXT_CONTENT").await;
    log.write(line("while it works", None));
    let seen = prompting.until(|frame| frame.data["kind"] == "CONSOLE_LOG").await;
    assert_eq!(seen.last().unwrap().data["content"]["text"], "while it works");
}

#[tokio::test]
async fn streams_show_the_log_to_clients_with_all_rights_only() {
    let log = ConsoleLog::default();
    let console = log.clone();
    let server =
        with_clients().token("own-token").options(|options| options.console = Some(console)).start().await;
    let own = server.client().with("authorization", "Bearer own-token");
    let editor = server.client().with("authorization", "Bearer token-of-the-editor");
    let created = own.post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap().to_owned();
    let path = format!("/tasks/{task}/messages/stream");
    let mut all = own.stream("GET", &path, b"").await;
    let mut some = editor.stream("GET", &path, b"").await;
    for stream in [&mut all, &mut some] {
        assert_eq!(stream.next().await.unwrap().payload()["state"], "submitted");
    }
    log.write(ConsoleLine { level: ConsoleLevel::Error, text: "it failed".into(), task: Some(task) });
    assert_eq!(all.next().await.unwrap().payload()["content"]["text"], "it failed");
    editor.post_stream(&path, &prompt("echo only this")).await.rest().await;
    let seen = some.until(|frame| frame.payload()["final"] == true).await;
    assert!(seen.iter().all(|frame| frame.payload()["kind"] != "CONSOLE_LOG"), "{seen:#?}");
}

#[tokio::test]
async fn a_client_that_closes_its_socket_is_answered() {
    let server = live().start().await;
    let mut socket = connect(&server, "/ws").await;
    socket.close(None).await.unwrap();
    let closed = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(_))) => return,
                Some(Ok(_)) => {}
                end => panic!("no close frame but {end:?}"),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("an answer in time");
}

#[tokio::test]
async fn a_server_that_stops_closes_its_sockets() {
    let server = live().start().await;
    let mut socket = connect(&server, "/ws").await;
    server.stop();
    let frame = socket.next().await.unwrap().unwrap();
    assert!(matches!(frame, Message::Close(Some(_))), "{frame:?}");
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_disconnected_and_others_are_not() {
    let heartbeat = Duration::from_secs(1);
    let server = live().limits(move |limits| limits.heartbeat = heartbeat).start().await;
    let mut awake = connect(&server, "/ws").await;
    let silent = connect(&server, "/ws").await.into_inner();
    // Its bytes are read, and nothing is sent: the protocol's library would answer pings.
    let close = async {
        let mut bytes = Vec::new();
        let mut silent = silent;
        silent.read_to_end(&mut bytes).await.unwrap();
        bytes
    };
    let answers = async {
        loop {
            assert!(awake.next().await.unwrap().unwrap().is_ping());
        }
    };
    let bytes = tokio::select! { bytes = close => bytes, () = answers => unreachable!() };
    assert!(bytes.starts_with(&[0x89, 0]), "a ping first: {bytes:?}");
    let reason = b"no answer to a ping";
    assert!(bytes.windows(reason.len()).any(|words| words == reason), "it says why: {bytes:?}");
    send(&mut awake, &prompt("echo still here")).await;
    assert_eq!(texts(&activity(&mut awake).await), "still here");
}

/// Opens a socket as `Host`, from a page of `Origin`, with the bytes as they are: libraries would mend some of them.
async fn handshake(server: &TestServer, target: &str, headers: &[(&str, &str)]) -> u16 {
    let mut request = format!(
        "GET {target} HTTP/1.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    connection.read_exact(&mut head).await.unwrap();
    std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_socket_opens_only_under_a_known_host() {
    let server = live().start().await;
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    for (host, expected) in [
        ("localhost", 101),
        ("LocalHost:PORT", 101),
        ("127.0.0.1:PORT", 101),
        ("[::1]:PORT", 101),
        ("agent.localhost:PORT", 101),
        ("evil.example", 403),
        ("evil.example:PORT", 403),
        ("localhost.evil.example:PORT", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.:PORT", 403),
        ("0.0.0.0:PORT", 403),
        ("127.1:PORT", 403),
        ("2130706433:PORT", 403),
        ("[::]:PORT", 403),
        ("[::ffff:127.0.0.1]:PORT", 403),
        ("[::1%25lo]:PORT", 403),
        ("user@localhost:PORT", 403),
        ("localhost:80@evil.example", 403),
        ("", 403),
    ] {
        let host = host.replace("PORT", &port);
        assert_eq!(handshake(&server, "/ws", &[("host", &host)]).await, expected, "{host:?}");
    }
    assert_eq!(handshake(&server, "/ws", &[]).await, 400, "no host");
    assert_eq!(handshake(&server, "/ws", &[("host", "localhost"), ("host", "localhost")]).await, 400);
    assert_eq!(handshake(&server, "http://evil.example/ws", &[("host", "localhost")]).await, 400);
}

#[tokio::test]
async fn a_socket_opens_only_for_pages_that_may_call() {
    let launch = live().options(|options| options.allowed_origins = vec!["https://app.example".into()]);
    let server = launch.start().await;
    let (own, port) = (server.address().to_owned(), server.address().rsplit(':').next().unwrap().to_owned());
    let v6 = format!("[::1]:{port}");
    let local = format!("localhost:{port}");
    for (host, origin, expected) in [
        (&own, "http://127.0.0.1:PORT", 101),
        (&own, "https://app.example", 101),
        (&own, "HTTPS://App.Example", 101),
        (&local, "http://LOCALHOST:PORT", 101),
        (&v6, "http://[::1]:PORT", 101),
        (&own, "null", 403),
        (&own, "", 403),
        (&own, "http://localhost:PORT", 403),
        (&own, "http://127.0.0.1", 403),
        (&own, "http://127.0.0.1:1", 403),
        (&own, "http://127.0.0.1:PORT/", 403),
        (&own, "http://user@127.0.0.1:PORT", 403),
        (&own, "http://127.0.0.1:PORT@evil.example", 403),
        (&own, "ws://127.0.0.1:PORT", 403),
        (&own, "127.0.0.1:PORT", 403),
        (&own, "file://", 403),
        (&own, "chrome-extension://abcdef", 403),
        (&own, "https://app.example.evil.example", 403),
        (&own, "https://app.example:8443", 403),
        (&own, "http://app.example", 403),
        (&v6, "http://[::2]:PORT", 403),
    ] {
        let origin = origin.replace("PORT", &port);
        let found = handshake(&server, "/ws", &[("host", host), ("origin", &origin)]).await;
        assert_eq!(found, expected, "{origin:?} at {host}");
    }
    let twice =
        [("host", own.as_str()), ("origin", "https://app.example"), ("origin", "https://evil.example")];
    assert_eq!(handshake(&server, "/ws", &twice).await, 400);
    for site in ["cross-site", "same-site"] {
        let headers = [("host", own.as_str()), ("sec-fetch-site", site)];
        assert_eq!(handshake(&server, "/ws", &headers).await, 403, "{site}");
    }
    let shown = [("host", own.as_str()), ("sec-fetch-site", "cross-site"), ("origin", "https://app.example")];
    assert_eq!(handshake(&server, "/ws", &shown).await, 101);
}
