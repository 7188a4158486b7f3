//! A start: the greeting, the port, and mistakes that are told with a hint.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use attache_testkit::{ServerProcess, TestClient};
use serde_json::Value;
use tokio::process::Command;

use crate::support::{SCRIPT, launch, message};

#[tokio::test]
async fn the_greeting_names_the_card_and_a_command_that_works() {
    let mut server = launch().in_memory().start().await;
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
async fn the_greeting_says_which_dialect_clients_without_a_sign_get() {
    for (dialect, line) in [
        (None, "dialect    plain A2A for 0.3 clients that name no extension (--compat gemini:"),
        (Some("gemini"), "dialect    gemini for 0.3 clients"),
        (Some("developer"), "dialect    developer for 0.3 clients"),
    ] {
        let launch = launch().in_memory();
        let launch = match dialect {
            Some(dialect) => launch.argument("--compat").argument(dialect),
            None => launch,
        };
        let greeting = greeting(&mut launch.start().await).await;
        assert!(greeting.contains(line), "{dialect:?}: {greeting}");
    }
}

#[tokio::test]
async fn the_greeting_says_where_the_live_endpoint_is() {
    let mut server = launch().in_memory().argument("--live").start().await;
    let line = format!("live       ws://{}/ws, {}/tasks\n", server.address(), server.url());
    let shown = greeting(&mut server).await;
    assert!(shown.contains(&line), "{shown}");
    let without = greeting(&mut launch().in_memory().start().await).await;
    assert!(!without.contains("ws://"), "{without}");
}

#[tokio::test]
async fn the_command_of_the_greeting_works_with_a_token_from_the_environment() {
    let token = ("ATTACHE_TOKEN", "a-token-of-enough-length");
    let mut server = launch().in_memory().variable(token.0, token.1).start().await;
    let greeting = greeting(&mut server).await;
    assert!(!greeting.contains(token.1), "the secret itself is not printed: {greeting}");
    let answer = run(&curl_line(&greeting), &[token]).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer:#}");
}

#[tokio::test]
async fn the_command_of_the_greeting_works_with_a_token_from_a_file() {
    let launch = launch().in_memory();
    let path = launch.write_secret("my token", "a-token-of-enough-length\n").display().to_string();
    let mut server = launch.argument("--token-file").argument(path).start().await;
    let greeting = greeting(&mut server).await;
    assert!(!greeting.contains("a-token-of-enough-length"), "the secret itself is not printed: {greeting}");
    let answer = run(&curl_line(&greeting), &[]).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer:#}");
}

#[tokio::test]
async fn a_port_that_is_free_a_moment_later_is_waited_for() {
    let held = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = held.local_addr().expect("an address").port();
    let launch = launch().in_memory().argument("--port").argument(port.to_string());
    let (server, ()) = tokio::join!(launch.start(), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(held);
    });
    assert_eq!(server.client().get("/health").await.status, 200);
}

#[tokio::test]
async fn a_port_that_a_connection_left_behind_is_told_from_one_that_a_program_listens_on() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = listener.local_addr().expect("an address").port();
    let fails = async |port: u16| {
        let (code, said) =
            launch().in_memory().argument("--port").argument(port.to_string()).start_failing().await;
        assert_ne!(code, Some(0), "{said}");
        said
    };
    let said = fails(taken).await;
    assert!(said.contains("another program listens there"), "{said}");
    // The side that closes first keeps the port for a minute.
    let client = TcpStream::connect(("127.0.0.1", taken)).expect("a connection");
    let left = client.local_addr().expect("an address").port();
    let (mut accepted, _) = listener.accept().expect("the other side");
    drop(client);
    assert_eq!(accepted.read(&mut [0]).expect("an end"), 0);
    drop(accepted);
    let said = fails(left).await;
    assert!(said.contains("no program listens there") && said.contains("in a minute"), "{said}");
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
    // It can be run again, and is answered anew.
    let told = |answer: &Value| answer["result"]["task"]["artifacts"].clone();
    assert_eq!(told(&real), told(&answer), "curl hears what the imitation hears");
    assert_ne!(real["result"]["task"]["id"], answer["result"]["task"]["id"], "{real:#}");
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
    let client = headers.fold(TestClient::of(address), |client, (name, value)| client.with(name, value));
    let body = after("-d").next().expect("a body");
    client.call("POST", &format!("/{path}"), body.as_bytes()).await.json()
}

#[tokio::test]
async fn coder_agent_port_counts_before_port_and_a_flag_before_both() {
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = busy.local_addr().expect("an address").port().to_string();
    let server =
        launch().in_memory().variable("CODER_AGENT_PORT", "0").variable("PORT", &taken).start().await;
    assert_eq!(server.client().get("/health").await.status, 200);
    let (code, said) = launch().in_memory().variable("PORT", &taken).start_failing().await;
    assert_eq!(code, Some(1));
    assert!(said.contains(&taken), "PORT is read when it stands alone: {said}");
    let (code, said) =
        launch().in_memory().variable("CODER_AGENT_PORT", &taken).variable("PORT", "0").start_failing().await;
    assert_eq!(code, Some(1));
    assert!(said.contains(&taken), "{said}");
    let flagged = launch().in_memory().variable("CODER_AGENT_PORT", &taken).argument("--port").argument("0");
    assert_eq!(flagged.start().await.client().get("/health").await.status, 200);
    let in_file = launch().in_memory().settings(&format!("port = {taken}\n")).variable("PORT", "0");
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
    let (code, said) = launch.start_failing().await;
    check_failure(code, &said, &taken);
    assert!(said.contains("--port 0"), "the hint says what to do: {said}");
    assert!(!launch.folder().join("tasks.db").exists(), "the store of the other server is left alone");
}

#[track_caller]
fn check_failure(code: Option<i32>, said: &str, what: &str) {
    assert_eq!(code, Some(1), "{said}");
    check_told(said, what);
}

#[track_caller]
fn check_told(said: &str, what: &str) {
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
            arguments.iter().fold(launch().in_memory(), |launch, argument| launch.argument(*argument));
        launch.write("plain-file", "");
        let (code, said) = launch.start_failing().await;
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
        let (code, said) = launch().in_memory().settings(settings).start_failing().await;
        check_failure(code, &said, what);
    }
    for (script, what) in [
        ("rules:\n  - name: greet\n    steps:\n      - sya: hello\n", "did you mean `say`"),
        ("rules: 5\n", "rules"),
        ("rules: [{text: '(', steps: [{say: x}]}]\n", "regular expression"),
    ] {
        let (code, said) = launch().in_memory().script(script).start_failing().await;
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
        let (code, said) = launch.start_failing().await;
        let is_wrong_value = what.starts_with("--");
        assert_eq!(code, Some(if is_wrong_value { 2 } else { 1 }), "{said}");
        check_told(&said, what);
    }
    for (settings, what) in [
        ("[limits]\nbody_bytes = 1\n", "limits.body_bytes"),
        ("[limits]\njson_depth = 100000\n", "limits.json_depth"),
        ("[limits]\nheartbeat_seconds = 0\n", "limits.heartbeat_seconds"),
        ("[card]\ntenants = [\"v1\"]\n", "card.tenants"),
        ("[card]\ntenants = [\"a/b\"]\n", "card.tenants"),
        ("[card]\ntenants = [\"lf.a2a.v1.A2AService\"]\n", "lf.a2a.v1.A2AService"),
        ("[card.extended]\n", "extended card"),
        ("public_url = \"agent.example\"\n", "public_url"),
    ] {
        let (code, said) = launch().in_memory().settings(settings).start_failing().await;
        check_failure(code, &said, what);
    }
    for (name, value) in [("PORT", "many"), ("CODER_AGENT_PORT", "70000"), ("ATTACHE_STORE", "nowhere")] {
        let (code, said) = launch().variable(name, value).start_failing().await;
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
        let (code, said) = launch.start_failing().await;
        check_failure(code, &said, path);
    }
}

#[tokio::test]
async fn a_wrong_command_line_is_told_so() {
    for arguments in [&["--port", "99999"][..], &["--surprise"], &["--port", "many"]] {
        let launch =
            arguments.iter().fold(launch().in_memory(), |launch, argument| launch.argument(*argument));
        let (code, said) = launch.start_failing().await;
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with("error: "), "{said}");
    }
}

#[tokio::test]
async fn the_default_store_is_in_the_data_folder_of_the_user() {
    let launch = launch().script(SCRIPT);
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
