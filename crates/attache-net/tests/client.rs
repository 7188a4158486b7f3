//! The client against working and broken servers.

use std::io::{Read, Write};
use std::time::Duration;

use attache_net::{BaseUrl, HttpClient, HttpClientOptions, HttpRequest, NetError, Secret};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ResponseEnd};

fn client(idle_timeout: Duration) -> HttpClient {
    HttpClient::new(&HttpClientOptions { idle_timeout, ..HttpClientOptions::default() }).expect("a client")
}

fn request(server: &ModelServer) -> HttpRequest {
    let url =
        BaseUrl::parse(&server.url()).expect("an address").join("a", Some("key=s3cret")).expect("a path");
    HttpRequest::post_json(url, "{}").secret_header("x-key", "", &Secret::new("s3cret")).expect("a header")
}

#[tokio::test]
async fn an_answer_comes_whole_and_piece_by_piece() {
    let answer = PlannedResponse::stream().bytes("one ").bytes("two");
    let server = ModelServer::with_responses([answer.clone(), answer]);
    let client = client(Duration::from_secs(30));
    let answer = client.send(request(&server)).await.unwrap();
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(answer.read(7).await.unwrap(), b"one two");
    let received = &server.received()[0];
    assert_eq!(received.header("x-key"), Some("s3cret"));
    assert!(received.header("user-agent").unwrap().starts_with("attache/"));
    let answer = client.send(request(&server)).await.unwrap();
    assert_eq!(answer.read(6).await, Err(NetError::TooLarge { limit: 6 }));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let server = ModelServer::with_responses([
        PlannedResponse::text(307, "text/plain", "").header("location", "/elsewhere")
    ]);
    let answer = client(Duration::from_secs(30)).send(request(&server)).await.unwrap();
    assert_eq!(answer.status(), 307);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_broken_body_is_an_error_that_may_pass() {
    for ending in [ResponseEnd::Cut, ResponseEnd::Reset] {
        let server = ModelServer::with_responses([PlannedResponse::stream().bytes("one").ending(ending)]);
        let error = match client(Duration::from_secs(30)).send(request(&server)).await {
            // A reset may overtake the head.
            Ok(answer) => answer.read(100).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(error.is_transient(), "{ending:?}: {error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[tokio::test]
async fn silence_ends_at_the_idle_timeout() {
    let server = ModelServer::with_responses([PlannedResponse::stream().bytes("one").hold()]);
    let idle = Duration::from_millis(200);
    let mut answer = client(idle).send(request(&server)).await.unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "one");
    assert_eq!(answer.chunk().await, Err(NetError::IdleTimeout { after: idle }));
}

#[tokio::test]
async fn a_refused_connection_is_an_error_without_the_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = BaseUrl::parse(&format!("http://{free}"))
        .expect("an address")
        .join("a", Some("key=s3cret"))
        .expect("a path");
    let error = client(Duration::from_secs(30)).send(HttpRequest::get(url)).await.unwrap_err();
    assert!(matches!(error, NetError::Connect { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let url = BaseUrl::parse(&format!("https://{place}")).unwrap().join("a", None).unwrap();
    let error = client(Duration::from_secs(30)).send(HttpRequest::get(url)).await.unwrap_err();
    assert!(matches!(&error, NetError::Tls { what } if what.contains("does not speak TLS")), "{error:?}");
    assert!(!error.is_transient());
    serving.join().unwrap();
}
