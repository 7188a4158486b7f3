//! Tokens, hosts and addresses as an operator sets them, and secrets that no log shows.

use attache_testkit::{HttpResponse, TestClient};
use serde_json::{Value, json};

use crate::operations::until_logged;
use crate::support::{SCRIPT, launch, message};
use attache_testkit::pairs::{Ask, Pair};

const TOKEN: &str = "correct-horse-battery-staple";

/// A call that would change something, if it were let in.
async fn send(client: &TestClient) -> HttpResponse {
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message("m1", "echo x")});
    client.post("/", &request).await
}

#[tokio::test]
async fn hosts_and_origins_come_from_the_settings() {
    let settings = "public_url = \"https://agent.example/base\"\nallowed_hosts = [\"inner.example\"]\n\
                    allowed_origins = [\"https://app.example/\"]\n";
    let server = launch().in_memory().script(SCRIPT).settings(settings).start().await;
    for (host, expected) in [("agent.example", 200), ("inner.example:9999", 200), ("other.example", 403)] {
        assert_eq!(send(&server.client().with("host", host)).await.status, expected, "{host}");
    }
    for (origin, expected) in [("https://app.example", 200), ("https://evil.example", 403)] {
        assert_eq!(send(&server.client().with("origin", origin)).await.status, expected, "{origin}");
    }
}

#[tokio::test]
async fn a_token_comes_from_a_file_before_the_environment() {
    let in_file = "the-token-that-stands-in-the-file";
    let launch = launch().in_memory().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN);
    let path = launch.write_secret("token", &format!("  {in_file}\n")).display().to_string();
    let server = launch.argument("--token-file").argument(path).start().await;
    let with = |token: &str| server.client().with("authorization", &format!("Bearer {token}"));
    assert_eq!(send(&with(in_file)).await.status, 200);
    assert_eq!(send(&with(TOKEN)).await.status, 401);
}

#[tokio::test]
async fn tasks_stay_with_their_owner_when_a_token_is_added() {
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let sent: Value = send(&server.client()).await.json();
    server.kill().await;
    let launch = launch.variable("ATTACHE_TOKEN", TOKEN);
    let server = launch.start().await;
    let client = server.client().with("authorization", &format!("Bearer {TOKEN}"));
    let read = client.rpc("GetTask", json!({"id": sent["result"]["task"]["id"]})).await;
    assert_eq!(read["result"], sent["result"]["task"]);
}

#[tokio::test]
async fn a_token_too_weak_is_refused_at_the_start_and_not_repeated() {
    for weak in ["short", "with blanks in the middle of it", "ünprintable-and-long-enough"] {
        let (code, said) = launch().in_memory().variable("ATTACHE_TOKEN", weak).start_failing().await;
        assert_ne!(code, Some(0));
        assert!(said.contains("ATTACHE_TOKEN"), "{said}");
        assert!(!said.contains(weak), "{said}");
    }
}

#[tokio::test]
async fn an_empty_token_is_refused_at_the_start_and_never_means_none() {
    for empty in ["", "  "] {
        let (code, said) = launch().in_memory().variable("ATTACHE_TOKEN", empty).start_failing().await;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("ATTACHE_TOKEN") && said.contains("empty"), "{said}");
    }
    let (code, said) = launch().in_memory().variable("ATTACHE_TOKEN_FILE", "").start_failing().await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("ATTACHE_TOKEN_FILE") && said.contains("empty"), "{said}");
    let launch = launch().in_memory();
    let path = launch.write_secret("token", "\n").display().to_string();
    let (code, said) = launch.argument("--token-file").argument(path).start_failing().await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("token") && said.contains("empty"), "{said}");
}

#[tokio::test]
async fn a_token_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    for (mode, starts) in [(0o640, false), (0o604, false), (0o644, false), (0o600, true), (0o400, true)] {
        let launch = launch().in_memory();
        let path = launch.write_secret("token", TOKEN);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a file of ours");
        let launch = launch.argument("--token-file").argument(path.display().to_string());
        if starts {
            launch.start().await;
            continue;
        }
        let (code, said) = launch.start_failing().await;
        assert_eq!(code, Some(1), "{mode:o}: {said}");
        assert!(said.contains("chmod 600") && !said.contains(TOKEN), "{mode:o}: {said}");
    }
}

#[tokio::test]
async fn a_token_that_crosses_the_network_readable_is_warned_about() {
    let launch = || launch().in_memory().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN);
    let server = launch().argument("--host").argument("0.0.0.0").start().await;
    let log = until_logged(&server, |log| log.contains("readable")).await;
    let warned: Vec<_> = log.lines().filter(|line| line.contains("readable")).collect();
    assert_eq!(warned.len(), 1, "{log}");
    assert!(warned[0].contains("WARN") && warned[0].contains("HTTPS"), "{log}");
    let server = launch().start().await;
    send(&server.client()).await;
    assert!(!server.log().contains("readable"), "{}", server.log());
}

#[tokio::test]
async fn an_address_that_others_can_reach_needs_a_token() {
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let (code, said) = launch().in_memory().argument("--host").argument(host).start_failing().await;
        assert_eq!(code, Some(1), "{host}: {said}");
        assert!(said.contains("error: ") && said.contains("token"), "{host}: {said}");
        assert!(said.contains("hint: ") && said.contains("--token-file"), "{host}: {said}");
    }
    let server = launch()
        .in_memory()
        .script(SCRIPT)
        .argument("--host")
        .argument("0.0.0.0")
        .variable("ATTACHE_TOKEN", TOKEN);
    let server = server.start().await;
    let client = server.client().with("host", "localhost");
    assert_eq!(send(&client).await.status, 401, "reachable, and only with the token");
    assert_eq!(send(&client.with("authorization", &format!("Bearer {TOKEN}"))).await.status, 200);
}

#[tokio::test]
async fn a_server_answers_under_the_address_it_tells() {
    let launch = launch().in_memory().script(SCRIPT).argument("--host").argument("0.0.0.0");
    let server = launch.variable("ATTACHE_TOKEN", TOKEN).start().await;
    // The client sends the address as the host, as curl does with the line of the greeting.
    let client = server.client().with("authorization", &format!("Bearer {TOKEN}"));
    let answer = send(&client).await;
    assert_eq!(answer.status, 200, "{}: {}", server.address(), answer.text());
}

#[tokio::test]
async fn a7_no_secret_is_ever_logged() {
    let launch = launch().in_memory().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN);
    let server = launch.argument("--log").argument("trace").start().await;
    let guess = "a-wrong-guess-that-is-somebodys-password";
    let client = server.client();
    for pair in Pair::ALL {
        let right = client.with("authorization", &format!("Bearer {TOKEN}"));
        let right = right.with("cookie", "session=cookie-secret").with("x-api-key", "api-key-secret");
        pair.result(&right, &Ask::Send(pair.text(&format!("{pair:?}"), "echo x"))).await;
        assert_eq!(
            pair.call(&right, &Ask::Get("no-such-task".into())).await.refusal().message,
            "Task not found: no-such-task"
        );
        let wrong = client.with("authorization", &format!("Bearer {guess}"));
        assert_eq!(pair.call(&wrong, &Ask::Get("x".into())).await.answer.status, 401);
    }
    let last = client.with("authorization", &format!("Bearer {TOKEN}")).get("/tasks").await;
    let number = last.header("x-request-id").expect("a number").to_owned();
    let log = until_logged(&server, |log| log.contains(&format!("request={number}"))).await;
    for secret in [TOKEN, guess, "cookie-secret", "api-key-secret"] {
        assert!(!log.contains(secret), "{secret} is in the log:\n{log}");
    }
}
