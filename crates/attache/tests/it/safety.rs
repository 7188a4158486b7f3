//! Tokens, hosts and addresses as an operator sets them, and secrets that no log shows. Which tokens are refused is tested in
//! `attache-config`.

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
async fn an_open_address_answers_with_the_token_only_and_warns_that_the_token_is_readable() {
    let launch = || launch().in_memory().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN);
    let server = launch().argument("--host").argument("0.0.0.0").start().await;
    // The client sends the address as the host, as curl does with the line of the greeting.
    let answer = send(&server.client().with("authorization", &format!("Bearer {TOKEN}"))).await;
    assert_eq!(answer.status, 200, "{}: {}", server.address(), answer.text());
    let stranger = server.client().with("host", "localhost");
    assert_eq!(send(&stranger).await.status, 401, "reachable, and only with the token");
    let log = until_logged(&server, |log| log.contains("readable")).await;
    let warned: Vec<_> = log.lines().filter(|line| line.contains("readable")).collect();
    assert_eq!(warned.len(), 1, "{log}");
    assert!(warned[0].contains("WARN") && warned[0].contains("HTTPS"), "{log}");
    let server = launch().start().await;
    send(&server.client()).await;
    assert!(!server.log().contains("readable"), "{}", server.log());
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
