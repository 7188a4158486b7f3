//! A client that may dial only public addresses, with a simulated internet: every connection goes to the loopback
//! address, even if the guard fails.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use attache_net::{
    AddressRules, HttpClient, HttpClientOptions, HttpRequest, NetError, ResolveFuture, Resolver, Secret, Url,
};
use attache_testkit::model_server::{ModelServer, PlannedResponse};

/// Names and their addresses: one answer after the other, then always the last.
#[derive(Debug)]
struct Played {
    names: Vec<(&'static str, Vec<&'static [&'static str]>)>,
    asked: AtomicUsize,
}

impl Resolver for Played {
    fn resolve(&self, host: &str) -> ResolveFuture {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let known = self.names.iter().find(|(name, _)| *name == host).map(|(_, answers)| answers);
        let addresses = known.map(|answers| answers[asked.min(answers.len() - 1)]);
        let addresses = addresses.ok_or_else(|| io::Error::other("no such name"));
        Box::pin(async move { Ok(addresses?.iter().map(|address| address.parse().unwrap()).collect()) })
    }

    fn dial_address(&self, _: IpAddr) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }
}

const PUBLIC: &[&str] = &["93.184.216.34"];

fn client(rules: AddressRules, names: &[(&'static str, Vec<&'static [&'static str]>)]) -> HttpClient {
    let resolver = Arc::new(Played { names: names.to_vec(), asked: AtomicUsize::new(0) });
    HttpClient::new(&HttpClientOptions { addresses: rules, resolver, ..HttpClientOptions::default() })
        .unwrap()
}

fn url(server: &ModelServer, host: &str, path: &str) -> Url {
    let mut url = Url::parse(&server.url()).unwrap().join(path).unwrap();
    url.set_host(Some(host)).unwrap();
    url
}

fn site() -> ModelServer {
    ModelServer::with_handler(|received| {
        let (_, port) = received.header("host").unwrap().rsplit_once(':').unwrap();
        let moved = |to: &str| PlannedResponse::text(302, "text/plain", "moved").header("location", to);
        match received.target.as_str() {
            "/near" => moved("/page#part"),
            "/far" => moved(&format!("http://b.test:{port}/page")),
            "/inside" => moved(&format!("http://inner.test:{port}/page")),
            "/literal" => moved(&format!("http://127.0.0.1:{port}/page")),
            "/round" => moved("/round"),
            "/file" => moved("file:///etc/passwd"),
            "/login" => moved(&format!("http://user:word@b.test:{port}/page")),
            "/nowhere" => moved("http://["),
            _ => PlannedResponse::text(200, "text/plain", "page"),
        }
    })
}

#[tokio::test]
async fn a_public_name_is_dialled_where_it_was_found() {
    let server = site();
    let client = client(AddressRules::public_only(), &[("a.test", vec![PUBLIC])]);
    let answer = client.send(HttpRequest::get(url(&server, "a.test", "/page"))).await.unwrap();
    assert_eq!(answer.read(100).await.unwrap(), b"page");
    assert!(server.received()[0].header("host").unwrap().starts_with("a.test:"));
}

#[tokio::test]
async fn a_name_with_an_inner_address_is_refused_without_a_connection() {
    let server = site();
    for addresses in [
        &["127.0.0.1"] as &'static [&'static str],
        &["10.0.0.1"],
        &["169.254.169.254"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::a00:1"],
        &["93.184.216.34", "10.0.0.1"],
    ] {
        let client = client(AddressRules::public_only(), &[("a.test", vec![addresses])]);
        let error =
            client.send(HttpRequest::get(url(&server, "a.test", "/page?key=s3cret"))).await.unwrap_err();
        assert!(matches!(&error, NetError::Address { what } if what.contains("a.test")), "{error:?}");
        assert!(!error.is_transient() && !format!("{error:?}").contains("s3cret"), "{error:?}");
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn this_machine_is_refused_in_every_spelling() {
    let server = site();
    let client = client(AddressRules::public_only(), &[]);
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:7f00:1]",
        "0.0.0.0",
    ] {
        let url = url(&server, host, "/page");
        assert!(client.check_url(&url).is_err(), "{host}");
        let error = client.send(HttpRequest::get(url)).await.unwrap_err();
        assert!(matches!(error, NetError::Address { .. }), "{host}: {error:?}");
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn not_even_an_address_in_a_url_leaves_a_played_internet_without_a_guard() {
    let server = site();
    let client = client(AddressRules::any(), &[]);
    for host in ["169.254.169.254", "93.184.216.34", "[2606:4700::1111]"] {
        let answer = client.send(HttpRequest::get(url(&server, host, "/page"))).await.unwrap();
        assert_eq!(answer.read(100).await.unwrap(), b"page");
        assert!(server.received().last().unwrap().header("host").unwrap().starts_with(host), "{host}");
    }
}

#[tokio::test]
async fn where_a_url_leads_can_be_asked_without_dialling() {
    let server = site();
    let client = world(AddressRules::public_only());
    let public = client.resolve_addresses(&url(&server, "a.test", "/page")).await.unwrap();
    assert_eq!(public, [PUBLIC[0].parse::<IpAddr>().unwrap()]);
    for (host, expected) in [("inner.test", "Address"), ("127.0.0.1", "Address"), ("nobody.test", "Connect")]
    {
        let error = client.resolve_addresses(&url(&server, host, "/page")).await.unwrap_err();
        assert!(format!("{error:?}").starts_with(expected), "{error:?}");
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn what_the_operator_allows_is_dialled() {
    let server = site();
    let rules = AddressRules::public_only().allow("wiki.test").unwrap().allow("127.0.0.0/8").unwrap();
    let client = client(rules, &[("wiki.test", vec![&["10.0.0.1"]]), ("other.test", vec![&["10.0.0.1"]])]);
    for host in ["wiki.test", "127.0.0.1"] {
        assert_eq!(client.send(HttpRequest::get(url(&server, host, "/page"))).await.unwrap().status(), 200);
    }
    client.send(HttpRequest::get(url(&server, "other.test", "/page"))).await.unwrap_err();
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_transient_error() {
    let error = client(AddressRules::public_only(), &[])
        .send(HttpRequest::get(Url::parse("http://nobody.test/?key=s3cret").unwrap()))
        .await
        .unwrap_err();
    assert!(matches!(&error, NetError::Connect { what } if what.contains("no such name")), "{error:?}");
    assert!(error.is_transient());
}

fn world(rules: AddressRules) -> HttpClient {
    client(rules, &[("a.test", vec![PUBLIC]), ("b.test", vec![PUBLIC]), ("inner.test", vec![&["10.0.0.1"]])])
}

#[tokio::test]
async fn redirects_are_followed_where_they_may_lead() {
    let (server, client) = (site(), world(AddressRules::public_only()));
    let request = |path| HttpRequest::get(url(&server, "a.test", path));
    let followed = client.get_with_redirects(request("/near"), |_, _| true).await.unwrap();
    assert_eq!(
        (followed.response.status(), followed.url.path(), followed.url.fragment()),
        (200, "/page", None)
    );
    let followed = client
        .get_with_redirects(request("/far"), |from, to| from.host_str() == to.host_str())
        .await
        .unwrap();
    assert_eq!((followed.response.status(), followed.url.path()), (302, "/far"));
    assert_eq!(followed.next_url.unwrap().host_str(), Some("b.test"));
}

#[tokio::test]
async fn every_hop_is_checked_again() {
    let (server, client) = (site(), world(AddressRules::public_only()));
    for (path, why) in [
        ("/inside", "not public"),
        ("/literal", "not public"),
        ("/file", "away from the web"),
        ("/login", "password"),
        ("/nowhere", "no URL"),
        ("/round", "more than 5"),
    ] {
        let request = HttpRequest::get(url(&server, "a.test", path));
        let error = client.get_with_redirects(request, |_, _| true).await.unwrap_err();
        assert!(error.to_string().contains(why), "{path}: {error}");
    }
    assert!(server.received().iter().all(|received| received.header("host").unwrap().starts_with("a.test")));
}

#[tokio::test]
async fn a_second_look_at_a_name_counts_for_itself() {
    let server = site();
    let client = client(AddressRules::public_only(), &[("a.test", vec![PUBLIC, &["127.0.0.1"]])]);
    let request = || HttpRequest::get(url(&server, "a.test", "/page"));
    assert_eq!(client.send(request()).await.unwrap().status(), 200);
    // The server closed the first connection, so the name is resolved again, to another address.
    client.send(request()).await.unwrap_err();
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_secret_stays_with_its_origin() {
    let (server, client) = (site(), world(AddressRules::any().allow("a.test").unwrap()));
    // Only this machine may get a secret without TLS, so the first hop must be here.
    let request = |path| {
        let request = HttpRequest::get(url(&server, "127.0.0.1", path));
        request
            .secret_header("x-key", "", &Secret::new("s3cret"))
            .unwrap()
            .header("accept", "text/plain")
            .unwrap()
    };
    client.get_with_redirects(request("/near"), |_, _| true).await.unwrap();
    client.get_with_redirects(request("/far"), |_, _| true).await.unwrap();
    let seen: Vec<_> = server.received().iter().map(|received| received.header("x-key").is_some()).collect();
    assert_eq!(seen, [true, true, true, false]);
    assert!(server.received().iter().all(|received| received.header("accept") == Some("text/plain")));
}

#[tokio::test]
async fn only_a_get_is_led_anywhere() {
    let (server, client) = (site(), world(AddressRules::any()));
    let request = HttpRequest::post_json(url(&server, "a.test", "/near"), "{}");
    client.get_with_redirects(request, |_, _| true).await.unwrap_err();
    assert_eq!(server.received().len(), 0);
}
