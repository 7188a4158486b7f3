//! Requests through forward proxies. The proxies here lead to one server, whichever host they are asked for.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use attache_net::{
    AddressRules, HttpClient, HttpClientOptions, HttpRequest, NetError, ProxySettings, ResolveFuture,
    Resolver, Secret, TlsSettings, Url,
};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{ForwardProxy, TestAuthority, TlsFront};

fn site() -> ModelServer {
    ModelServer::with_handler(|_| PlannedResponse::text(200, "text/plain", "page"))
}

fn address(server: &ModelServer) -> SocketAddr {
    server.url().strip_prefix("http://").unwrap().parse().unwrap()
}

fn options(variables: &[(&str, &str)]) -> HttpClientOptions {
    let environment =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let proxy = ProxySettings::from_environment(&environment).unwrap();
    HttpClientOptions { proxy, ..HttpClientOptions::default() }
}

async fn get(options: &HttpClientOptions, url: &str) -> Result<Vec<u8>, NetError> {
    let client = HttpClient::new(options).unwrap();
    client.send(HttpRequest::get(Url::parse(url).unwrap())).await?.read(100).await
}

#[tokio::test]
async fn plain_http_is_forwarded_by_the_proxy() {
    let server = site();
    let proxy = ForwardProxy::to(address(&server));
    let options = options(&[("http_proxy", &proxy.url())]);
    assert_eq!(get(&options, "http://agent.test/a?b=c").await.unwrap(), b"page");
    assert_eq!(proxy.lines(), ["GET http://agent.test/a?b=c"]);
    let received = &server.received()[0];
    assert_eq!((received.target.as_str(), received.header("host")), ("/a?b=c", Some("agent.test")));
}

#[tokio::test]
async fn https_goes_through_a_tunnel_in_which_the_proxy_reads_nothing() {
    let (server, authority) = (site(), TestAuthority::new());
    let front = TlsFront::start(address(&server), &authority.issue("agent.test"), None);
    let proxy = ForwardProxy::to(front.address());
    let mut options = options(&[("HTTPS_PROXY", &proxy.url())]);
    let error = get(&options, "https://agent.test/a").await.unwrap_err();
    assert!(matches!(&error, NetError::Tls { what } if what.contains("not accepted")), "{error:?}");
    options.tls.trust(&std::fs::read(authority.certificate()).unwrap(), "authority.pem").unwrap();
    let client = HttpClient::new(&options).unwrap();
    let request = HttpRequest::get(Url::parse("https://agent.test:8443/a").unwrap())
        .secret_header("x-key", "", &Secret::new("s3cret"))
        .unwrap();
    assert_eq!(client.send(request).await.unwrap().status(), 200);
    assert_eq!(server.received()[0].header("x-key"), Some("s3cret"));
    assert_eq!(proxy.lines(), ["CONNECT agent.test:443", "CONNECT agent.test:8443"]);
    assert!(proxy.asked().iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn a_proxy_may_itself_be_reached_by_https() {
    let (server, authority) = (site(), TestAuthority::new());
    let proxy = ForwardProxy::to(address(&server));
    let front = TlsFront::start(proxy.address(), &authority.issue("localhost"), None);
    let place = format!("https://localhost:{}", front.address().port());
    let mut options = options(&[("ALL_PROXY", &place)]);
    options.tls.trust(&std::fs::read(authority.certificate()).unwrap(), "authority.pem").unwrap();
    assert_eq!(get(&options, "http://agent.test/a").await.unwrap(), b"page");
    assert_eq!(proxy.lines(), ["GET http://agent.test/a"]);
    let grpc = HttpRequest::grpc(Url::parse("http://agent.test/x").unwrap(), "");
    let error = HttpClient::new(&options).unwrap().send(grpc).await.unwrap_err();
    assert!(error.to_string().contains("gRPC without TLS cannot go through"), "{error}");
}

#[tokio::test]
async fn this_machine_and_exceptions_are_reached_directly() {
    let server = site();
    let proxy = ForwardProxy::to(address(&server));
    let options = options(&[("http_proxy", &proxy.url()), ("NO_PROXY", "direct.test, 192.0.2.0/24")]);
    assert_eq!(get(&options, &server.url()).await.unwrap(), b"page");
    assert_eq!(get(&options, &server.url().replace("127.0.0.1", "localhost")).await.unwrap(), b"page");
    let error = get(&options, "http://a.direct.test/").await.unwrap_err();
    assert!(matches!(error, NetError::Connect { .. }), "{error:?}");
    assert_eq!(proxy.asked(), []);
}

#[tokio::test]
async fn the_password_of_a_proxy_goes_to_it_and_nowhere_else() {
    let server = site();
    let password = "Basic bWU6czNjcmV0";
    let proxy = ForwardProxy::with_password(address(&server), password);
    let place = proxy.address();
    let with_password = options(&[("ALL_PROXY", &format!("http://me:s3cret@{place}"))]);
    assert_eq!(get(&with_password, "http://agent.test/").await.unwrap(), b"page");
    assert_eq!(proxy.asked()[0].authorization.as_deref(), Some(password));
    assert_eq!(server.received()[0].header("proxy-authorization"), None);

    let without = options(&[("ALL_PROXY", &proxy.url())]);
    let other = options(&[("ALL_PROXY", &format!("http://me:0ther@{place}"))]);
    let grpc = |options: HttpClientOptions| async move {
        let request = HttpRequest::grpc(Url::parse("http://agent.test:50051/x").unwrap(), "");
        HttpClient::new(&options).unwrap().send(request).await.map(|_| ()).unwrap_err()
    };
    for error in [
        get(&without, "http://agent.test/").await.unwrap_err(),
        get(&without, "https://agent.test/").await.unwrap_err(),
        get(&other, "https://agent.test/").await.unwrap_err(),
        grpc(other.clone()).await,
    ] {
        let said = format!("{error} {error:?}");
        assert!(said.contains("ALL_PROXY") && said.contains("wants a user name"), "{said}");
        assert!(!said.contains("0ther") && !error.is_transient(), "{said}");
    }
    assert_eq!(proxy.lines().last().unwrap(), "CONNECT agent.test:50051");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named_without_its_password() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let options = options(&[("ALL_PROXY", &format!("http://me:s3cret@{free}"))]);
    for url in ["http://agent.test/", "https://agent.test/"] {
        let error = get(&options, url).await.unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(said.contains(&format!("through the proxy http://{free} (ALL_PROXY)")), "{said}");
        assert!(!said.contains("s3cret") && error.is_transient(), "{said}");
    }
}

/// Two names with an address each.
#[derive(Debug)]
struct TwoNames;

impl Resolver for TwoNames {
    fn resolve(&self, host: &str) -> ResolveFuture {
        let found: io::Result<Vec<IpAddr>> = match host {
            "public.test" => Ok(vec!["93.184.216.34".parse().unwrap()]),
            "inner.test" => Ok(vec!["10.0.0.1".parse().unwrap()]),
            "proxy.test" => Ok(vec!["127.0.0.1".parse().unwrap()]),
            _ => Err(io::Error::other("no such name")),
        };
        Box::pin(async move { found })
    }
}

#[tokio::test]
async fn address_rules_count_for_what_the_proxy_is_asked_for() {
    let server = site();
    let proxy = ForwardProxy::to(address(&server));
    // The proxy itself may be at an inner address: the operator named it.
    let place = format!("http://proxy.test:{}", proxy.address().port());
    let options = HttpClientOptions {
        addresses: AddressRules::public_only(),
        resolver: Arc::new(TwoNames),
        ..options(&[("ALL_PROXY", &place)])
    };
    assert_eq!(get(&options, "http://public.test/").await.unwrap(), b"page");
    for (url, part) in [
        ("http://inner.test/", "not public"),
        ("https://inner.test/", "not public"),
        ("http://10.0.0.1/", "not public"),
        ("http://169.254.169.254/latest", "not public"),
        ("http://127.0.0.1/", "not public"),
        ("http://unknown.test/", "has no address that is known"),
    ] {
        let error = get(&options, url).await.unwrap_err();
        assert!(error.to_string().contains(part), "{url}: {error}");
    }
    assert_eq!(proxy.lines(), ["GET http://public.test/"]);
    let anywhere = HttpClientOptions { addresses: AddressRules::any(), ..options };
    assert_eq!(get(&anywhere, "http://unknown.test/").await.unwrap(), b"page");
}

#[test]
fn certificates_that_cannot_be_used_are_named() {
    let authority = TestAuthority::new();
    let mine = authority.issue("me");
    let read = |path: &std::path::Path| std::fs::read(path).unwrap();
    let (certificate, key) = (read(&mine.certificate), read(&mine.key));
    let mut tls = TlsSettings::default();
    assert!(tls.trust(b"hello", "a.pem").unwrap_err().to_string().contains("a.pem holds no certificate"));
    let set = |tls: &mut TlsSettings, one: &[u8], two: &[u8]| {
        tls.set_client_certificate((one, "c.pem"), (two, "k.pem")).map_err(|error| error.to_string())
    };
    assert!(set(&mut tls, &key, &key).unwrap_err().contains("c.pem holds no certificate"));
    assert!(set(&mut tls, &certificate, &certificate).unwrap_err().contains("k.pem holds no private key"));
    let encrypted = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert!(set(&mut tls, &certificate, encrypted).unwrap_err().contains("without a password"));
    for (unusable, words) in [
        (authority.issue_version_1("old-form"), "c.pem holds a certificate of X.509 version 1"),
        (authority.issue_expired("expired"), "the certificate in c.pem has expired"),
    ] {
        let error = set(&mut tls, &read(&unusable.certificate), &read(&unusable.key)).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let other = read(&authority.issue("other").key);
    let error = set(&mut tls, &certificate, &other).unwrap_err();
    assert!(
        error.contains("private key in k.pem does not belong to the first certificate in c.pem"),
        "{error}"
    );
    assert_eq!(tls, TlsSettings::default(), "none of them is used");
    set(&mut tls, &certificate, &key).unwrap();
    assert_ne!(tls, tls.without_client_certificate());
    assert_eq!(tls.without_client_certificate(), TlsSettings::default());
    assert!(!format!("{tls:?}").contains("BEGIN"));
}
