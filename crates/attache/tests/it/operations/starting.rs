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
async fn the_greeting_says_which_dialect_clients_get_and_where_the_live_endpoint_is() {
    for (arguments, dialect) in [
        (&[][..], "dialect    plain A2A for 0.3 clients that name no extension (--compat gemini:"),
        (&["--compat", "gemini", "--live"], "dialect    gemini for 0.3 clients"),
        (&["--compat", "developer"], "dialect    developer for 0.3 clients"),
    ] {
        let launch =
            arguments.iter().fold(launch().in_memory(), |launch, argument| launch.argument(*argument));
        let mut server = launch.start().await;
        let greeting = greeting(&mut server).await;
        assert!(greeting.contains(dialect), "{arguments:?}: {greeting}");
        let live = format!("live       ws://{}/ws, {}/tasks\n", server.address(), server.url());
        assert_eq!(greeting.contains(&live), arguments.contains(&"--live"), "{arguments:?}: {greeting}");
        assert_eq!(greeting.contains("ws://"), arguments.contains(&"--live"), "{arguments:?}: {greeting}");
    }
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

/// Which values of settings are wrong is tested in `attache-config`, and which scripts in `attache-model`.
#[tokio::test]
async fn what_is_wrong_stops_the_start_with_a_hint() {
    let cases: [(&str, i32, &[&str]); 8] = [
        ("missing.toml", 1, &["--config", "missing.toml"]),
        ("missing.yaml", 1, &["--model", "script:missing.yaml"]),
        ("missing.token", 1, &["--token-file", "missing.token"]),
        ("missing-folder", 1, &["--workspace", "missing-folder"]),
        ("--host", 2, &["--host", "example.com"]),
        ("--model", 2, &["--model", "gpt"]),
        ("[[[", 2, &["--log", "[[["]),
        ("--port", 2, &["--port", "99999"]),
    ];
    for (what, expected, arguments) in cases {
        let launch = arguments.iter().fold(launch(), |launch, argument| launch.argument(*argument));
        let (code, said) = launch.start_failing().await;
        assert_eq!(code, Some(expected), "{said}");
        match what {
            // The command line itself cannot be read, and its usage follows.
            "--port" => assert!(said.starts_with("error: ") && said.contains(what), "{said}"),
            _ => check_told(&said, what),
        }
    }
    for (settings, what) in [
        ("\n\nsurprise = 1\n", "surprise"),
        ("[limits]\nbody_bytes = 1\n", "limits.body_bytes"),
        ("[card]\ntenants = [\"v1\"]\n", "card.tenants"),
        ("[card]\ntenants = [\"lf.a2a.v1.A2AService\"]\n", "lf.a2a.v1.A2AService"),
    ] {
        let (code, said) = launch().in_memory().settings(settings).start_failing().await;
        check_failure(code, &said, what);
    }
    let (code, said) = launch().in_memory().script("rules: 5\n").start_failing().await;
    check_failure(code, &said, "rules");
    for (name, value) in [("PORT", "many"), ("ATTACHE_TOKEN", "too-short")] {
        let (code, said) = launch().variable(name, value).start_failing().await;
        check_failure(code, &said, name);
        assert!(name != "ATTACHE_TOKEN" || !said.contains(value), "a secret is not repeated: {said}");
    }
    let (code, said) = launch().in_memory().argument("--host").argument("0.0.0.0").start_failing().await;
    check_failure(code, &said, "token");
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
