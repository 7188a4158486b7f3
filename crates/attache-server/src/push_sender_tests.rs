//! Which addresses the push sender posts to, with a fake resolver on this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use attache_net::ResolveFuture;

use super::*;

#[derive(Debug)]
struct FakeReceiver;

impl Resolver for FakeReceiver {
    fn resolve(&self, host: &str) -> ResolveFuture {
        let found: io::Result<Vec<IpAddr>> = match host {
            "hooks.test" => Ok(vec![[93, 184, 216, 34].into()]),
            "inner.test" => Ok(vec![[10, 0, 0, 7].into()]),
            "both.test" => Ok(vec![[93, 184, 216, 34].into(), [10, 0, 0, 7].into()]),
            _ => Err(io::Error::other("no such name")),
        };
        Box::pin(async move { found })
    }

    fn dial_address(&self, _: IpAddr) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }
}

fn sender(allow: &[&str], allow_http: bool) -> HttpPushSender {
    HttpPushSender::new(PushSenderOptions {
        allow: allow.iter().map(|place| (*place).to_owned()).collect(),
        allow_http,
        timeout: Duration::from_secs(5),
        signing_key: None,
        resolver: Arc::new(FakeReceiver),
    })
    .unwrap()
}

fn config(url: &str, token: Option<&str>) -> PushConfig {
    PushConfig { id: "c".into(), url: url.into(), token: token.map(str::to_owned), authentication: None }
}

#[track_caller]
fn check(sender: &HttpPushSender, config: &PushConfig, expected: Option<&str>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let found = runtime.block_on(sender.check(config)).map_err(|unfit| unfit.why);
    match (&found, expected) {
        (Ok(()), None) => {}
        (Err(why), Some(part)) if why.contains(part) => {}
        _ => panic!("{}: {found:?}, expected {expected:?}", config.url),
    }
}

#[test]
fn only_public_places_are_told_over_tls() {
    let sender = sender(&[], false);
    for (url, expected) in [
        ("https://hooks.test/a?b=c", None),
        ("https://nobody-knows-it-yet.test", None),
        ("http://hooks.test/", Some("must begin with https://")),
        ("ftp://hooks.test/", Some("must begin with https://")),
        ("hooks.test", Some("is not a URL")),
        ("", Some("is not a URL")),
        ("https://me:word@hooks.test/", Some("user name or password")),
        ("https://127.0.0.1/", Some("127.0.0.1 is not public (this machine)")),
        ("http://127.0.0.1:9/", Some("push.allow_private_addresses")),
        ("http://localhost:9/", Some("must begin with https://")),
        ("https://[::1]/", Some("not public")),
        ("https://[::ffff:10.0.0.1]/", Some("not public")),
        ("https://169.254.169.254/latest/meta-data", Some("link-local")),
        ("https://0x7f000001/", Some("not public")),
        ("https://inner.test/", Some("inner.test leads to an address that is not public")),
        ("https://both.test/", Some("not public")),
    ] {
        check(&sender, &config(url, None), expected);
    }
}

#[test]
fn what_a_name_was_found_to_be_is_not_told() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let unfit = runtime.block_on(sender(&[], false).check(&config("https://inner.test/", None))).unwrap_err();
    assert!(!unfit.why.contains("10.0.0.7"), "{}", unfit.why);
}

#[test]
fn the_operator_may_name_places() {
    let named = sender(&["127.0.0.0/8", "inner.test"], false);
    check(&named, &config("http://127.0.0.1:9/", Some("t")), None);
    check(&named, &config("http://inner.test/", None), None);
    check(&named, &config("http://inner.test/", Some("t")), Some("not sent in the clear"));
    check(&named, &config("https://inner.test/", Some("t")), None);
    check(&named, &config("http://hooks.test/", None), Some("push.allow_http"));
    check(&sender(&[], true), &config("http://hooks.test/", None), None);
    assert!(
        HttpPushSender::new(PushSenderOptions {
            allow: vec!["a b".into()],
            allow_http: false,
            timeout: Duration::from_secs(1),
            signing_key: None,
            resolver: Arc::new(FakeReceiver),
        })
        .is_err()
    );
}

#[test]
fn an_event_has_one_name_that_fits_a_header() {
    let mut config = config("https://hooks.test", None);
    config.id = "a/b %ä".into();
    assert_eq!(event_id(&"t".into(), &config, 7), "t/a%2Fb%20%25%C3%A4/7");
}
