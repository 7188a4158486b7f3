//! Who may call: not pages of other sites, and not strangers.

use attache_server::ServerOptions;
use attache_testkit::pairs::{Ask, Pair, Refusal};
use attache_testkit::{HttpResponse, TestClient};
use serde_json::json;

use crate::world::{TestServer, launch, message};

const TOKEN: &str = "correct-horse-battery-staple";
const CARD: &str = "/.well-known/agent-card.json";

/// Paths of every surface, with the form in which each refuses.
const SURFACES: [(&str, &str, Pair); 6] = [
    ("POST", "/", Pair::Rpc10),
    ("POST", "/message:send", Pair::Rest10),
    ("GET", "/tasks", Pair::Rest10),
    ("POST", "/v1/message:send", Pair::Rest03),
    ("GET", "/v1/tasks/x", Pair::Rest03),
    ("GET", "/metrics", Pair::Rest10),
];

async fn start() -> TestServer {
    launch().start().await
}

async fn start_with(change: impl FnOnce(&mut ServerOptions) + 'static) -> TestServer {
    launch().options(change).start().await
}

async fn start_with_token() -> TestServer {
    launch().token(TOKEN).start().await
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A call that would change something, if it were let in.
async fn send(client: &TestClient) -> HttpResponse {
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message("m1", "echo x")});
    client.post("/", &request).await
}

/// Refused at the door, in the right shape, without any effect.
#[track_caller]
fn check_forbidden(pair: Pair, answer: &HttpResponse, what: &str) {
    assert_eq!(answer.status, 403, "{what}: {}", answer.text());
    let refusal = Refusal::read(pair, answer);
    if pair.is_v1_0() {
        assert_eq!(refusal.reason.as_deref(), Some("PERMISSION_DENIED"), "{what}");
    }
    assert!(refusal.message.contains(what), "{what:?} is not in {:?}", refusal.message);
    assert_eq!(answer.header("access-control-allow-origin"), None, "{what}: no page may read this");
}

#[tokio::test]
async fn a_host_that_only_pretends_to_be_this_machine_is_refused_everywhere() {
    let server = start().await;
    let port = server.address().rsplit(':').next().expect("a port").to_owned();
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "evil.example:80"]
    {
        let client = server.client().with("host", host);
        for (verb, path, pair) in SURFACES {
            let client = client.with("content-type", "application/json");
            check_forbidden(pair, &client.call(verb, path, b"").await, host);
        }
        for path in [CARD, "/health"] {
            assert_eq!(client.get(path).await.status, 403, "{host} {path}");
        }
    }
    for host in
        ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "agent.localhost", &format!("localhost:{port}")]
    {
        assert_eq!(send(&server.client().with("host", host)).await.status, 200, "{host}");
    }
}

#[tokio::test]
async fn a_request_without_a_host_is_refused() {
    let server = start().await;
    let answer = server.client().raw(b"GET /tasks HTTP/1.1\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn configured_hosts_are_answered() {
    let hosts = ["agent.example", "inner.example", "ported.example:81"];
    let server = start_with(move |options| options.allowed_hosts = names(&hosts)).await;
    for (host, expected) in [
        ("agent.example", 200),
        ("Agent.Example:443", 200),
        ("inner.example", 200),
        ("inner.example:9999", 200),
        ("ported.example:81", 200),
        ("ported.example:82", 403),
        ("sub.inner.example", 403),
        ("agent.example.evil", 403),
    ] {
        assert_eq!(send(&server.client().with("host", host)).await.status, expected, "{host}");
    }
    let server = start_with(|options| options.allowed_hosts = names(&["*"])).await;
    let anything = server.client().with("host", "anything.example");
    assert_eq!(send(&anything).await.status, 200);
    let page = anything.with("origin", "http://anything.example").with("sec-fetch-site", "same-origin");
    assert_eq!(
        send(&page).await.status,
        403,
        "a name that only a page knows makes it no page of the server's"
    );
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_everywhere() {
    let server = start_with(|options| options.allowed_origins = names(&["https://app.example"])).await;
    let client = server.client();
    for origin in [
        "https://evil.example",
        "null",
        "http://app.example",
        "https://app.example:8443",
        "http://localhost.evil.example",
        "file://localhost",
        // Pages of other programs on this machine.
        "http://localhost:3000",
        "http://127.0.0.1:5173",
        "https://[::1]:8443",
    ] {
        for (verb, path, pair) in SURFACES {
            let client = client.with("origin", origin).with("content-type", "application/json");
            check_forbidden(pair, &client.call(verb, path, b"").await, origin);
        }
        check_forbidden(Pair::Rpc10, &send(&client.with("origin", origin)).await, origin);
        assert_eq!(client.with("origin", origin).get(CARD).await.status, 403, "{origin}");
    }
    let cross = client.with("sec-fetch-site", "cross-site");
    check_forbidden(Pair::Rpc10, &send(&cross).await, "other sites");
    check_forbidden(Pair::Rest10, &cross.get("/tasks").await, "other sites");
    // What a page of another port loads without asking first carries no origin.
    let same_site = client.with("sec-fetch-site", "same-site");
    check_forbidden(Pair::Rest10, &same_site.get("/tasks").await, "other sites");
    assert_eq!(client.get("/health").await.json()["totalTasks"], 0, "nothing of that had an effect");
}

#[tokio::test]
async fn pages_that_are_allowed_may_call_and_read() {
    let change = |options: &mut ServerOptions| {
        options.allowed_origins = names(&["https://app.example/", "http://localhost:3000"]);
        options.allowed_hosts.push("agent.example".into());
    };
    let server = start_with(change).await;
    let own = server.address().to_owned();
    for (origin, site, host) in [
        ("https://app.example", "cross-site", own.as_str()),
        ("HTTPS://APP.example", "same-site", &own),
        ("http://localhost:3000", "same-site", &own),
        // The server's own origin, by whichever of its names.
        (&format!("http://{own}"), "same-origin", &own),
        ("http://LocalHost:41242", "same-origin", "localhost:41242"),
        ("https://agent.example", "same-origin", "agent.example:443"),
        ("http://agent.example:80", "same-origin", "agent.example"),
    ] {
        let client = server.client().with("origin", origin).with("sec-fetch-site", site).with("host", host);
        let answer = send(&client).await;
        assert_eq!(answer.status, 200, "{origin}: {}", answer.text());
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        let vary: Vec<_> = answer
            .headers
            .iter()
            .filter(|(name, _)| name == "vary")
            .map(|(_, value)| value.as_str())
            .collect();
        assert!(vary.join(",").contains("Origin"), "{vary:?}");
        let exposed = answer.header("access-control-expose-headers").expect("headers to read");
        assert!(exposed.contains("a2a-extensions"), "{exposed}");
    }
    let card = server.client().with("origin", "https://app.example").get(CARD).await;
    let vary: Vec<_> =
        card.headers.iter().filter(|(name, _)| name == "vary").map(|(_, value)| value.as_str()).collect();
    let vary = vary.join(",");
    assert!(vary.contains("A2A-Version") && vary.contains("Origin"), "{vary}");
}

#[tokio::test]
async fn a_page_of_another_port_of_the_same_host_is_not_of_the_same_origin() {
    let server = start().await;
    for (origin, host) in [
        ("http://localhost:41243", "localhost:41242"),
        ("http://localhost", "localhost:41242"),
        ("http://localhost:41242", "127.0.0.1:41242"),
        ("https://localhost", "localhost:80"),
        ("http://localhost:41242@evil.example", "localhost:41242"),
        ("http://localhost:41242/", "localhost:41242"),
        ("localhost:41242", "localhost:41242"),
    ] {
        let client = server.client().with("origin", origin).with("host", host);
        check_forbidden(Pair::Rpc10, &send(&client).await, origin);
    }
}

#[tokio::test]
async fn a_browser_may_ask_first() {
    let launch = launch().token(TOKEN);
    let server =
        launch.options(|options| options.allowed_origins = names(&["https://app.example"])).start().await;
    let asking = server
        .client()
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "content-type,authorization,a2a-version");
    for path in ["/", "/message:send", "/v1/message:send", "/tasks/x:subscribe", CARD] {
        let client = asking.with("origin", "https://app.example").with("sec-fetch-site", "cross-site");
        let answer = client.call("OPTIONS", path, b"").await;
        assert_eq!(answer.status, 204, "{path}: credentials are not sent along with this question");
        assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
        let headers = answer.header("access-control-allow-headers").expect("headers").to_ascii_lowercase();
        for name in ["content-type", "authorization", "a2a-version", "a2a-extensions", "last-event-id"] {
            assert!(headers.contains(name), "{name} in {headers}");
        }
        let methods = answer.header("access-control-allow-methods").expect("methods");
        assert!(
            methods.contains("POST") && methods.contains("GET") && methods.contains("DELETE"),
            "{methods}"
        );
        let refused = asking.with("origin", "https://evil.example").call("OPTIONS", path, b"").await;
        assert_eq!(refused.status, 403, "{path}");
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn a4_without_the_token_nothing_is_served_but_card_and_health() {
    let server = start_with_token().await;
    let client = server.client();
    let wrong = [
        None,
        Some("Bearer wrong-wrong-wrong-wrong".to_owned()),
        Some(format!("Bearer {TOKEN}x")),
        Some(format!("Bearer {}", &TOKEN[1..])),
        Some(format!("Basic {TOKEN}")),
        Some(TOKEN.to_owned()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(String::new()),
    ];
    for authorization in wrong {
        let client = match &authorization {
            Some(value) => client.with("authorization", value),
            None => client.clone(),
        };
        for (verb, path, pair) in SURFACES {
            let client = client.with("content-type", "application/json");
            let answer = client.call(verb, path, b"").await;
            assert_eq!(answer.status, 401, "{verb} {path} {authorization:?}");
            let challenge = answer.header("www-authenticate").expect("a challenge");
            assert!(challenge.starts_with("Bearer"), "{challenge}");
            let refusal = Refusal::read(pair, &answer);
            if pair.is_v1_0() {
                assert_eq!(refusal.reason.as_deref(), Some("UNAUTHENTICATED"));
            }
        }
        assert_eq!(client.get(CARD).await.status, 200);
        assert_eq!(client.get("/.well-known/agent.json").await.status, 200);
        assert_eq!(client.get("/health").await.status, 200);
    }
    for path in
        ["/tasks/x?token=correct-horse-battery-staple", "/nothing", "/health/x", "/.well-known/../tasks"]
    {
        let status = client.get(path).await.status;
        assert!(matches!(status, 401 | 404), "{path}: {status}");
    }
    assert_eq!(client.get("/health").await.json()["totalTasks"], 0);
}

#[tokio::test]
async fn a_refusal_before_the_body_has_come_says_that_the_connection_ends() {
    let server = start_with_token().await;
    let head =
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n";
    // Reads until the server closes: it must, and must have said so.
    let answer = server.client().raw(head.as_bytes()).await.to_ascii_lowercase();
    assert!(answer.starts_with("http/1.1 401 "), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
    let answer = server.client().raw(b"GET /tasks HTTP/1.1\r\nhost: localhost\r\n\r\nGET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    assert!(answer.contains("200 OK"), "without a body the connection goes on: {answer}");
}

#[tokio::test]
async fn a4_with_the_token_everything_is_served() {
    let server = start_with_token().await;
    for authorization in [format!("Bearer {TOKEN}"), format!("bearer {TOKEN}"), format!("BEARER  {TOKEN}")] {
        let client = server.client().with("authorization", &authorization);
        for pair in Pair::ALL {
            pair.result(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
        }
        assert_eq!(client.get("/metrics").await.status, 200, "{authorization}");
    }
}
