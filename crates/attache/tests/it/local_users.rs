//! A server without a token serves the operating-system user who runs it, and no other user of the machine.
//!
//! The kernel gives a socket the filesystem user id of the thread that opens it, so a thread of this test can open one as
//! another user, if it is root's. Without root, a server in this process takes another user for its own: then this process
//! is the other user.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{AgentCard, Message, ReplyShape, TaskView};
use attache_server::{Limits, Server, ServerOptions};
use attache_session::{Agent, Journal, SessionOptions, SessionService, TurnRequest, TurnStopped};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_testkit::{ServerProcess, TestClient, WAIT_TIMEOUT};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{SCRIPT, launch, message};

const OTHER_USER: u32 = 65533;
const TOKEN: &str = "correct-horse-battery-staple";

/// One path of each entrance that is not public.
const ENTRANCES: [(&str, &str); 12] = [
    ("POST", "/"),
    ("POST", "/message:send"),
    ("GET", "/tasks"),
    ("POST", "/v1/message:send"),
    ("GET", "/v1/tasks/x"),
    ("POST", "/tasks"),
    ("GET", "/tasks/metadata"),
    ("GET", "/listCommands"),
    ("POST", "/executeCommand"),
    ("GET", "/metrics"),
    ("GET", "/ws"),
    ("POST", "/tasks/x/messages/stream"),
];

/// A server without a token, to which [`connect`](Self::connect) connects as another user.
enum OtherUsers {
    /// The real binary; only root can connect as another user.
    Process(Box<ServerProcess>),
    /// A server in this process that serves another user.
    Here { address: SocketAddr, _serving: JoinSet<()> },
}

impl OtherUsers {
    /// Every kind that this test may use.
    async fn all() -> Vec<Self> {
        let mut all = vec![Self::here().await];
        if nix::unistd::geteuid().is_root() {
            all.push(Self::Process(Box::new(
                launch().in_memory().script(SCRIPT).argument("--live").start().await,
            )));
        }
        all
    }

    async fn here() -> Self {
        let stores = Stores::of(Arc::new(MemoryStore::default()));
        let session = SessionService::start(stores, Arc::new(Nothing), SessionOptions::default()).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let own_user = nix::unistd::geteuid().as_raw();
        let server = Server::new(listener, session.unwrap(), options(own_user + 1));
        Self::Here { address, _serving: JoinSet::from_iter([server.run()]) }
    }

    fn address(&self) -> String {
        match self {
            Self::Process(server) => server.address().to_owned(),
            Self::Here { address, .. } => address.to_string(),
        }
    }

    fn connect(&self) -> TcpStream {
        match self {
            Self::Process(server) => connect_as_other_user(server),
            Self::Here { address, .. } => TcpStream::connect(address).expect("the server accepts"),
        }
    }

    /// How many tasks there are, which everybody may know.
    async fn tasks(&self) -> u64 {
        TestClient::of(&self.address()).get("/health").await.json()["totalTasks"].as_u64().unwrap()
    }
}

/// An agent that cannot be reached.
struct Nothing;

#[async_trait]
impl Agent for Nothing {
    fn keeps_conversation(&self, _view: &TaskView) -> bool {
        false
    }

    fn reply_shape(&self, _message: &Message) -> ReplyShape {
        panic!("another user got to the agent");
    }

    async fn run_turn(&self, _request: TurnRequest, _journal: &Journal) -> Result<(), TurnStopped> {
        panic!("another user got to the agent");
    }
}

fn options(local_user: u32) -> ServerOptions {
    let card = AgentCard {
        name: "Nothing".into(),
        description: String::new(),
        version: "1".into(),
        interfaces: Vec::new(),
        provider: None,
        documentation_url: None,
        icon_url: None,
        capabilities: Default::default(),
        security_schemes: Default::default(),
        security: Vec::new(),
        default_input_modes: Vec::new(),
        default_output_modes: Vec::new(),
        skills: Vec::new(),
    };
    ServerOptions {
        card,
        extended_card: None,
        signed_card: None,
        answers_card: None,
        card_form: attache_wire::card::CardForm::Superset,
        answers: attache_domain::AnswerLocation::Artifact,
        tenants: Vec::new(),
        card_max_age: Duration::ZERO,
        bearer_token: None,
        clients: Vec::new(),
        local_user: Some(local_user),
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        strict_version: false,
        default_dialect: attache_wire::devtool::Dialect::Plain,
        live: true,
        api_keys: Arc::default(),
        live_session: None,
        console: None,
        limits: Limits::default(),
    }
}

fn connect_as_other_user(server: &ServerProcess) -> TcpStream {
    let address = server.address().to_owned();
    let connecting = std::thread::spawn(move || {
        nix::unistd::setfsuid(OTHER_USER.into());
        TcpStream::connect(address).expect("the server accepts")
    });
    connecting.join().expect("the thread ends")
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn send_body(id: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(id, "echo x")}).to_string()
}

/// Sends `request` and returns the answer, head and body.
fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((head, body)) = answer.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return answer;
            }
        }
        let read = stream.read(&mut buffer).expect("an answer in time");
        assert!(read > 0, "the connection ended after {answer:?}");
        answer.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_this_machine_is_refused_at_every_entrance_and_told_how_to_get_in() {
    for server in OtherUsers::all().await {
        for (method, path) in ENTRANCES {
            let body = if method == "POST" { send_body("m1") } else { String::new() };
            let answer = ask(&mut server.connect(), &request(method, path, "", &body));
            assert!(answer.starts_with("HTTP/1.1 401 "), "{method} {path}: {answer}");
            assert!(answer.to_ascii_lowercase().contains("\r\nwww-authenticate: bearer"), "{answer}");
            for word in ["token", "--token-file", "ATTACHE_TOKEN", "Authorization: Bearer"] {
                assert!(answer.contains(word), "{word:?} is not in {answer}");
            }
        }
        assert_eq!(server.tasks().await, 0, "nothing of that had an effect");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_public_stays_public_to_another_user_and_opens_nothing_else() {
    for server in OtherUsers::all().await {
        let mut stream = server.connect();
        for _ in 0..2 {
            for path in ["/health", "/.well-known/agent-card.json"] {
                let answer = ask(&mut stream, &request("GET", path, "", ""));
                assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
            }
            let answer = ask(&mut stream, &request("GET", "/tasks", "", ""));
            assert!(answer.starts_with("HTTP/1.1 401 "), "on the same connection: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_is_refused_over_http2_and_grpc() {
    for server in OtherUsers::all().await {
        let stream = server.connect();
        stream.set_nonblocking(true).unwrap();
        let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream).unwrap());
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = JoinSet::from_iter([connection]);
        for (path, media_type) in
            [("/", "application/json"), ("/lf.a2a.v1.A2AService/SendMessage", "application/grpc")]
        {
            let request = http::Request::post(format!("http://{}{path}", server.address()))
                .header("content-type", media_type)
                .body(Full::new(Bytes::from(send_body("m1"))))
                .unwrap();
            let (head, body) = sender.send_request(request).await.unwrap().into_parts();
            let body = body.collect().await.unwrap();
            if media_type == "application/json" {
                assert_eq!(head.status, 401);
            } else {
                let trailers = body.trailers().cloned().unwrap_or(head.headers);
                assert_eq!(trailers["grpc-status"], "16", "{trailers:?}");
            }
        }
        drop(connection);
        assert_eq!(server.tasks().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_token_the_token_counts_and_not_the_user() {
    let server = launch().in_memory().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN).start().await;
    let mut own = TcpStream::connect(server.address()).unwrap();
    let answer = ask(&mut own, &request("GET", "/tasks", "", ""));
    assert!(answer.starts_with("HTTP/1.1 401 "), "the same user without the token: {answer}");
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let mut stream = connect_as_other_user(&server);
    let authorization = format!("authorization: Bearer {TOKEN}\r\n");
    let answer = ask(&mut stream, &request("POST", "/", &authorization, &send_body("m1")));
    assert!(answer.starts_with("HTTP/1.1 200 "), "another user with the token: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_user_needs_no_token_over_ipv4_ipv6_and_ipv4_in_ipv6() {
    for host in ["127.0.0.1", "::1"] {
        let server = launch().in_memory().script(SCRIPT).argument("--host").argument(host).start().await;
        let address: SocketAddr = server.address().parse().unwrap();
        let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), address.port());
        for address in [address, if host == "::1" { address } else { mapped }] {
            let mut stream = TcpStream::connect(address).unwrap();
            for id in ["m1", "m2"] {
                let answer = ask(&mut stream, &request("POST", "/", "", &send_body(id)));
                assert!(answer.starts_with("HTTP/1.1 200 "), "{address}: {answer}");
            }
        }
    }
}
