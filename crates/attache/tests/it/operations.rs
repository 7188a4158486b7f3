//! Running it: health, metrics, greeting, ports, mistakes at the start, logs, and a stop in peace.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use attache_testkit::{Client, Launch, ServerProcess};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::support::{SCRIPT, launch, message};

#[tokio::test]
async fn health_says_what_monitors_read() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    let client = server.client();
    let answer = client.get("/health").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let first = answer.json();
    assert_eq!(first["status"], "healthy");
    assert_eq!((&first["activeTasks"], &first["totalTasks"]), (&json!(0), &json!(0)));
    assert!(first["uptime"].as_f64().is_some_and(|uptime| uptime >= 0.0));
    assert_eq!(first.as_object().map(serde_json::Map::len), Some(4), "{first:#}");
    client.rpc("SendMessage", message("m1", "echo x")).await;
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m2", "slow")).await;
    let task = stream.next().await.expect("the task").payload()["task"]["id"].clone();
    stream.until(|frame| frame.payload().get("artifactUpdate").is_some()).await;
    let busy = client.get("/health").await.json();
    assert_eq!((&busy["activeTasks"], &busy["totalTasks"]), (&json!(1), &json!(2)), "{busy:#}");
    assert!(busy["uptime"].as_f64() > first["uptime"].as_f64());
    client.rpc("CancelTask", json!({"id": task})).await;
    let mut idle = client.get("/health").await.json();
    for _ in 0..1000 {
        if idle["activeTasks"] == 0 {
            break;
        }
        idle = client.get("/health").await.json();
    }
    assert_eq!((&idle["activeTasks"], &idle["totalTasks"]), (&json!(0), &json!(2)), "{idle:#}");
}

#[tokio::test]
async fn metrics_can_be_read_by_prometheus() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    let client = server.client();
    client.rpc("SendMessage", message("m1", "echo x")).await;
    client.rpc("SendMessage", message("m2", "fail")).await;
    client.rpc("GetTask", json!({"id": "no-such-task"})).await;
    client.get("/v1/tasks/no-such-task").await;
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m3", "slow")).await;
    stream.next().await;
    let answer = client.get("/metrics").await;
    assert_eq!(answer.status, 200);
    let media_type = answer.header("content-type").expect("a type");
    assert!(media_type.starts_with("application/openmetrics-text"), "{media_type}");
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let samples: Vec<Sample> = text.lines().filter(|line| !line.starts_with('#')).map(Sample::read).collect();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        assert!(matches!(words[1], "HELP" | "TYPE" | "UNIT" | "EOF"), "{line}");
    }
    let value = |name: &str, labels: &[(&str, &str)]| {
        let found = samples.iter().find(|sample| sample.name == name && sample.has(labels));
        found.unwrap_or_else(|| panic!("{name} {labels:?} in\n{text}")).value
    };
    let rpc = ("binding", "jsonrpc");
    assert_eq!(
        value("attache_calls_total", &[rpc, ("operation", "send"), ("outcome", "ok"), ("version", "1.0")]),
        2.0
    );
    assert_eq!(value("attache_calls_total", &[rpc, ("operation", "get"), ("outcome", "refused")]), 1.0);
    assert_eq!(
        value("attache_calls_total", &[("binding", "rest"), ("version", "0.3"), ("outcome", "refused")]),
        1.0
    );
    assert_eq!(value("attache_open_streams", &[]), 1.0);
    assert_eq!(value("attache_tasks_opened_total", &[]), 3.0);
    assert_eq!(value("attache_tasks_settled_total", &[("state", "completed")]), 1.0);
    assert_eq!(value("attache_tasks_settled_total", &[("state", "failed")]), 1.0);
    assert!(value("attache_events_appended_total", &[]) >= 6.0);
    for sample in &samples {
        let family = sample.name.trim_end_matches("_total");
        assert!(text.contains(&format!("# TYPE {family} ")), "{family} has a type");
        assert!(text.contains(&format!("# HELP {family} ")), "{family} is explained");
    }
}

/// `name{label="value",…} number`
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    #[track_caller]
    fn read(line: &str) -> Self {
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("a sample, not {line:?}"));
        let (name, labels) = match series.split_once('{') {
            Some((name, rest)) => (name, rest.strip_suffix('}').expect("a closing brace")),
            None => (series, ""),
        };
        let is_name = |name: &str| {
            let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
            name.bytes().enumerate().all(|(at, byte)| letter(byte) || at > 0 && byte.is_ascii_digit())
                && !name.is_empty()
        };
        assert!(is_name(name), "{line:?}");
        let label = |pair: &str| {
            let (name, value) = pair.split_once('=').expect("name=value");
            assert!(is_name(name), "{line:?}");
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).expect("quotes");
            (name.to_owned(), value.to_owned())
        };
        let labels = labels.split(',').filter(|pair| !pair.is_empty()).map(label).collect();
        Self { name: name.to_owned(), labels, value: value.parse().expect("a number") }
    }

    fn has(&self, labels: &[(&str, &str)]) -> bool {
        labels
            .iter()
            .all(|(name, value)| self.labels.iter().any(|(known, said)| known == name && said == value))
    }
}

#[tokio::test]
async fn the_greeting_names_the_card_and_a_command_that_works() {
    let mut server = launch().forgetful().start().await;
    let port: u16 = server.address().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    assert_ne!(port, 0, "the port that was found, not the zero that was asked for");
    let greeting = greeting(&mut server).await;
    let card = format!("{}/.well-known/agent-card.json", server.url());
    assert!(greeting.contains(&card), "{greeting}");
    let path = card.trim_start_matches(server.url());
    assert_eq!(server.client().get(path).await.status, 200);
    let answer = run(&curl_line(&greeting), &[]).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer:#}");
}

#[tokio::test]
async fn the_command_of_the_greeting_works_with_a_token_from_the_environment() {
    let token = ("ATTACHE_TOKEN", "a-token-of-enough-length");
    let mut server = launch().forgetful().variable(token.0, token.1).start().await;
    let greeting = greeting(&mut server).await;
    assert!(!greeting.contains(token.1), "the secret itself is not printed: {greeting}");
    let answer = run(&curl_line(&greeting), &[token]).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer:#}");
}

#[tokio::test]
async fn the_command_of_the_greeting_works_with_a_token_from_a_file() {
    let launch = launch().forgetful();
    let path = launch.write("my token", "a-token-of-enough-length\n").display().to_string();
    let mut server = launch.argument("--token-file").argument(path).start().await;
    let greeting = greeting(&mut server).await;
    assert!(!greeting.contains("a-token-of-enough-length"), "the secret itself is not printed: {greeting}");
    let answer = run(&curl_line(&greeting), &[]).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer:#}");
}

/// What it prints after the address, up to the command to try.
async fn greeting(server: &mut ServerProcess) -> String {
    let mut text = String::new();
    while let Some(line) = server.next_line().await {
        text.push_str(&line);
        text.push('\n');
        if line.trim_start().starts_with("curl ") {
            return text;
        }
    }
    panic!("no command to try in {text}");
}

fn curl_line(greeting: &str) -> String {
    let line = greeting.lines().find(|line| line.trim_start().starts_with("curl ")).expect("a command");
    line.trim().to_owned()
}

/// As if it were pasted into a shell. Without curl, the shell still reads the line, and a client here does
/// what it says.
async fn run(line: &str, variables: &[(&str, &str)]) -> Value {
    let words = shell(&format!("curl() {{ printf '%s\\n' \"$@\"; }}\n{line}"), variables).await;
    let answer = imitate(&words.lines().collect::<Vec<_>>()).await;
    if shell("command -v curl || true", &[]).await.is_empty() {
        return answer;
    }
    let real = shell(line, variables).await;
    let real: Value = serde_json::from_str(&real).unwrap_or_else(|_| panic!("{real}"));
    assert_eq!(real, answer, "curl hears what the imitation hears");
    real
}

async fn shell(script: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env_remove("ATTACHE_TOKEN")
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    let output = command.output().await.expect("a shell");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Does what curl does with these arguments.
async fn imitate(words: &[&str]) -> Value {
    let url = words.iter().find(|word| word.starts_with("http://")).expect("a URL");
    let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let after = |option: &'static str| words.windows(2).filter(move |two| two[0] == option).map(|two| two[1]);
    let headers = after("-H").map(|header| header.split_once(": ").expect("a header"));
    let client = headers.fold(Client::of(address), |client, (name, value)| client.with(name, value));
    let body = after("-d").next().expect("a body");
    client.call("POST", &format!("/{path}"), body.as_bytes()).await.json()
}

#[tokio::test]
async fn coder_agent_port_counts_before_port_and_a_flag_before_both() {
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = busy.local_addr().expect("an address").port().to_string();
    let server =
        launch().forgetful().variable("CODER_AGENT_PORT", "0").variable("PORT", &taken).start().await;
    assert_eq!(server.client().get("/health").await.status, 200);
    let (code, said) = launch().forgetful().variable("PORT", &taken).fails().await;
    assert_eq!(code, Some(1));
    assert!(said.contains(&taken), "PORT is read when it stands alone: {said}");
    let (code, said) =
        launch().forgetful().variable("CODER_AGENT_PORT", &taken).variable("PORT", "0").fails().await;
    assert_eq!(code, Some(1));
    assert!(said.contains(&taken), "{said}");
    let flagged = launch().forgetful().variable("CODER_AGENT_PORT", &taken).argument("--port").argument("0");
    assert_eq!(flagged.start().await.client().get("/health").await.status, 200);
    let in_file = launch().forgetful().settings(&format!("port = {taken}\n")).variable("PORT", "0");
    assert_eq!(
        in_file.start().await.client().get("/health").await.status,
        200,
        "the environment before the file"
    );
}

#[tokio::test]
async fn a_port_in_use_stops_the_start_before_anything_is_touched() {
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = busy.local_addr().expect("an address").port().to_string();
    let launch = launch().durable().argument("--port").argument(&taken);
    let (code, said) = launch.fails().await;
    check_failure(code, &said, &taken);
    assert!(said.contains("--port 0"), "the hint says what to do: {said}");
    assert!(!launch.folder().join("tasks.db").exists(), "the store of the other server is left alone");
}

#[track_caller]
fn check_failure(code: Option<i32>, said: &str, what: &str) {
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains(what), "{what:?} is not named: {said}");
    let (_, hint) = said.split_once("\n\nhint: ").unwrap_or_else(|| panic!("no hint: {said}"));
    assert!(hint.trim_end().len() > 10, "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn what_cannot_be_read_stops_the_start_with_a_hint() {
    let cases: [(&str, &[&str]); 5] = [
        ("missing.toml", &["--config", "missing.toml"]),
        ("missing.yaml", &["--model", "script:missing.yaml"]),
        ("missing.token", &["--token-file", "missing.token"]),
        ("missing-folder", &["--workspace", "missing-folder"]),
        // A file is no folder.
        ("plain-file", &["--workspace", "plain-file"]),
    ];
    for (what, arguments) in cases {
        let launch =
            arguments.iter().fold(launch().forgetful(), |launch, argument| launch.argument(*argument));
        launch.write("plain-file", "");
        let (code, said) = launch.fails().await;
        check_failure(code, &said, what);
    }
}

#[tokio::test]
async fn what_is_wrong_in_a_file_stops_the_start_with_its_place() {
    for (settings, what) in [
        ("port = \"many\"\n", "line 1"),
        ("\n\nsurprise = 1\n", "surprise"),
        ("[limits]\nbody_byte = 5\n", "body_byte"),
        ("not toml at all", "attache.toml"),
        ("[card.security_schemes.x]\ntype = \"magic\"\n", "magic"),
    ] {
        let (code, said) = launch().forgetful().settings(settings).fails().await;
        check_failure(code, &said, what);
    }
    for (script, what) in [
        ("rules:\n  - name: greet\n    steps:\n      - sya: hello\n", "did you mean `say`"),
        ("rules: 5\n", "rules"),
        ("rules: [{text: '(', steps: [{say: x}]}]\n", "regular expression"),
    ] {
        let (code, said) = launch().forgetful().script(script).fails().await;
        check_failure(code, &said, what);
    }
}

#[tokio::test]
async fn a_bad_setting_stops_the_start_with_what_would_be_right() {
    let arguments: [(&str, &[&str]); 5] = [
        ("--host", &["--host", "example.com"]),
        ("--store", &["--store", "redis://localhost"]),
        ("--model", &["--model", "gpt"]),
        ("--log-format", &["--log-format", "xml"]),
        ("[[[", &["--log", "[[["]),
    ];
    for (what, arguments) in arguments {
        let launch = arguments.iter().fold(launch(), |launch, argument| launch.argument(*argument));
        let (code, said) = launch.fails().await;
        check_failure(code, &said, what);
    }
    for (settings, what) in [
        ("[limits]\nbody_bytes = 1\n", "limits.body_bytes"),
        ("[limits]\njson_depth = 100000\n", "limits.json_depth"),
        ("[limits]\nheartbeat_seconds = 0\n", "limits.heartbeat_seconds"),
        ("[card]\ntenants = [\"v1\"]\n", "card.tenants"),
        ("[card]\ntenants = [\"a/b\"]\n", "card.tenants"),
        ("public_url = \"agent.example\"\n", "public_url"),
    ] {
        let (code, said) = launch().forgetful().settings(settings).fails().await;
        check_failure(code, &said, what);
    }
    for (name, value) in [("PORT", "many"), ("CODER_AGENT_PORT", "70000"), ("ATTACHE_STORE", "nowhere")] {
        let (code, said) = launch().variable(name, value).fails().await;
        check_failure(code, &said, name);
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_used_stops_the_start_with_a_hint() {
    let launch = launch();
    launch.write(
        "plain-file",
        "This is no database, and long enough to be taken for one. ".repeat(100).as_str(),
    );
    for path in ["plain-file", "plain-file/tasks.db"] {
        let launch = self::launch().argument("--store").argument(format!("sqlite:{path}"));
        launch.write(
            "plain-file",
            "This is no database, and long enough to be taken for one. ".repeat(100).as_str(),
        );
        let (code, said) = launch.fails().await;
        check_failure(code, &said, path);
    }
}

#[tokio::test]
async fn a_wrong_command_line_is_told_so() {
    for arguments in [&["--port", "99999"][..], &["--surprise"], &["--port", "many"]] {
        let launch =
            arguments.iter().fold(launch().forgetful(), |launch, argument| launch.argument(*argument));
        let (code, said) = launch.fails().await;
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with("error: "), "{said}");
    }
}

/// Says something, waits, and says more.
const TWO_HALVES: &str = "rules: [{steps: [{say: one}, {wait: 500ms}, {say: ' two'}]}]";

#[tokio::test]
async fn a_stop_ends_streams_cleanly_and_the_task_goes_on_after_a_restart() {
    let launch = launch().durable().script(TWO_HALVES);
    let server = launch.start().await;
    let params = message("m1", "x");
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": params}).to_string();
    let mut rpc = open_stream(&server, "/", &request).await;
    let (head, task) = read_until_said(&mut rpc, "one").await;
    let subscribe = format!("/v1/tasks/{task}:subscribe");
    let mut rest = open_stream(&server, &subscribe, "").await;
    let (rest_head, _) = read_until_said(&mut rest, &task).await;
    assert_eq!(server.terminate().await, Some(0));
    for (mut socket, mut text) in [(rpc, head), (rest, rest_head)] {
        socket.read_to_string(&mut text).await.expect("no reset");
        assert!(text.ends_with("\r\n0\r\n\r\n"), "the last chunk is there: {text:?}");
        let (body, _) = text.rsplit_once("\r\n0\r\n\r\n").expect("as above");
        assert!(body.ends_with("\n\n"), "the last frame is whole: {body:?}");
        assert!(!body.contains("two"), "the stop came in between");
    }
    let server = launch.start().await;
    let client = server.client();
    let frames = client.rpc_stream("SubscribeToTask", json!({"id": task})).await.rest().await;
    let last = frames.last().expect("an end").payload();
    let read = client.rpc("GetTask", json!({"id": task})).await;
    assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED", "{read:#}");
    assert_eq!(crate::send::parts(&read["result"]["artifacts"][0]), "one two");
}

async fn open_stream(server: &ServerProcess, path: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).await.expect("the server accepts");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    socket
}

/// Reads until `what` has come; returns everything so far and the id of the task.
async fn read_until_said(socket: &mut TcpStream, what: &str) -> (String, String) {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(what) || !text.ends_with("\n\n\r\n") {
        let count = tokio::time::timeout(attache_testkit::PATIENCE, socket.read(&mut buffer)).await;
        let count = count.expect("in time").expect("bytes");
        assert_ne!(count, 0, "it ended early: {text}");
        text.push_str(std::str::from_utf8(&buffer[..count]).expect("text"));
    }
    let (_, rest) = text.split_once("\"id\":\"").expect("a task");
    let task = rest.split('"').next().expect("an id").to_owned();
    (text, task)
}

#[tokio::test]
async fn idle_connections_do_not_hold_up_a_stop() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    let silent = TcpStream::connect(server.address()).await.expect("the server accepts");
    let mut kept = TcpStream::connect(server.address()).await.expect("the server accepts");
    kept.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("a request");
    let mut byte = [0; 12];
    kept.read_exact(&mut byte).await.expect("an answer");
    assert_eq!(&byte, b"HTTP/1.1 200");
    let began = Instant::now();
    assert_eq!(server.terminate().await, Some(0));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop((silent, kept));
}

#[tokio::test]
async fn a_call_under_way_is_told_that_the_server_stops() {
    let launch = launch().durable().script(SCRIPT).settings("[limits]\nshutdown_seconds = 1\n");
    let server = launch.start().await;
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": message("m1", "slow")})
        .to_string();
    let mut socket = open_stream(&server, "/", &body).await;
    // The task is there, so the call is waiting for it.
    while server.client().get("/health").await.json()["totalTasks"] == 0 {}
    assert_eq!(server.terminate().await, Some(0));
    let mut text = String::new();
    socket.read_to_string(&mut text).await.expect("no reset");
    assert!(text.starts_with("HTTP/1.1 503"), "an answer rather than a closed connection: {text:?}");
    assert!(text.contains("\"id\":7") && text.contains("UNAVAILABLE"), "{text}");
}

#[tokio::test]
async fn after_a_stop_nobody_listens_and_the_store_is_whole() {
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client();
    let mut made = Vec::new();
    for number in 0..20 {
        let sent = client.rpc("SendMessage", message(&format!("m{number}"), "echo x")).await;
        made.push(sent["result"]["task"].clone());
    }
    let address = server.address().to_owned();
    assert_eq!(server.terminate().await, Some(0));
    assert!(TcpStream::connect(&address).await.is_err());
    let server = launch.start().await;
    for task in made {
        let read = server.client().rpc("GetTask", json!({"id": task["id"]})).await;
        assert_eq!(read["result"], task);
    }
}

#[tokio::test]
async fn json_logs_parse_and_carry_the_number_of_the_request() {
    let launch = launch().forgetful().script(SCRIPT).argument("--log-format").argument("json");
    let server = launch.argument("--log").argument("debug").start().await;
    let client = server.client();
    client.rpc("SendMessage", message("m1", "echo \"quoted\"\nline")).await;
    client.rpc("GetTask", json!({"id": "no-such-task"})).await;
    let last = client.get("/tasks").await;
    let number: u64 = last.header("x-request-id").expect("a number").parse().expect("a number");
    let is_last = |line: &Value| line["request"] == number && line["path"] == "/tasks";
    let log = until_logged(&server, |log| parsed(log).iter().any(is_last)).await;
    let lines = parsed(&log);
    for line in &lines {
        for member in ["timestamp", "level", "target", "message"] {
            assert!(line[member].is_string(), "{member} in {line}");
        }
    }
    let answered = lines.iter().find(|line| is_last(line)).expect("as above");
    assert_eq!((&answered["method"], &answered["status"]), (&json!("GET"), &json!(200)));
    let refused = lines.iter().find(|line| line["message"] == "a call was refused").expect("the refusal");
    assert_eq!(refused["request"], number - 1, "both lines of one request bear one number");
    assert_eq!(refused["operation"], "get");
}

#[tokio::test]
async fn logs_tell_which_task_a_request_was_about() {
    let launch = launch().forgetful().script(SCRIPT).argument("--log-format").argument("json");
    let server = launch.argument("--log").argument("debug").start().await;
    let client = server.client();
    let sent = client.rpc("SendMessage", message("m1", "echo x")).await;
    let task = sent["result"]["task"]["id"].clone();
    let last =
        client.get("/tasks").await.header("x-request-id").and_then(|number| number.parse::<u64>().ok());
    let is_last = |line: &Value| line["request"].as_u64() == last;
    let log = until_logged(&server, |log| parsed(log).iter().any(is_last)).await;
    let found = parsed(&log).into_iter().find(|line| line["task"] == task && line["request"].is_u64());
    assert!(found.is_some(), "no line has both the request and its task:\n{log}");
}

#[tokio::test]
async fn request_numbers_are_on_every_answer_and_grow() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    let client = server.client();
    let mut numbers = Vec::new();
    for path in ["/health", "/tasks", "/nothing", "/.well-known/agent-card.json", "/metrics"] {
        let answer = client.get(path).await;
        numbers.push(answer.header("x-request-id").expect(path).parse::<u64>().expect("a number"));
    }
    let refused = client.with("host", "evil.example").get("/tasks").await;
    numbers.push(refused.header("x-request-id").expect("also on refusals").parse().expect("a number"));
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
}

#[tokio::test]
async fn text_logs_have_no_colour_codes_when_nobody_looks() {
    let server = launch().forgetful().script(SCRIPT).argument("--log").argument("debug").start().await;
    let number = server.client().get("/tasks").await.header("x-request-id").expect("a number").to_owned();
    let log = until_logged(&server, |log| log.contains(&format!("request={number}"))).await;
    assert!(!log.contains('\u{1b}'), "{log:?}");
}

#[tokio::test]
async fn the_default_store_is_in_the_data_folder_of_the_user() {
    let launch: Launch = launch().script(SCRIPT);
    let server = launch.start().await;
    server.client().rpc("SendMessage", message("m1", "echo x")).await;
    assert!(launch.folder().join(".local/share/attache/tasks.db").exists());
    drop(server);
    let elsewhere = tempfile_in(launch.folder(), "data");
    let launch = launch.variable("XDG_DATA_HOME", &elsewhere);
    let server = launch.start().await;
    assert_eq!(server.client().get("/health").await.json()["totalTasks"], 0, "another folder, another store");
    assert!(std::path::Path::new(&elsewhere).join("attache/tasks.db").exists());
}

fn tempfile_in(folder: &std::path::Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

fn parsed(log: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    log.lines().map(parse).collect()
}

/// What was logged, once `enough` holds. Each look is a call of its own, so there is time between them.
pub(crate) async fn until_logged(server: &ServerProcess, enough: impl Fn(&str) -> bool) -> String {
    for _ in 0..2000 {
        let log = server.log();
        if enough(&log) {
            return log;
        }
        server.client().get("/health").await;
    }
    panic!("not logged:\n{}", server.log());
}
