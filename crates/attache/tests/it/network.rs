//! Proxies and certificates: the real binary behind a forward proxy, and with servers of a private authority.
//!
//! The name `agent.test` does not exist, so whatever reaches it went through the proxy.

use std::net::SocketAddr;
use std::path::Path;

use attache_testkit::{ForwardProxy, ServerProcess, TestAuthority, TlsFront};
use serde_json::json;
use tempfile::TempDir;

use crate::call_command::{Ended, call_with};
use crate::support::launch;

const BINDINGS: [&str; 3] = ["jsonrpc", "http", "grpc"];

/// A server that takes requests for `agent.test` too.
async fn server() -> ServerProcess {
    let settings = "allowed_hosts = [\"agent.test\"]\n[card]\ngrpc = \"authority\"\n";
    launch().in_memory().settings(settings).start().await
}

fn address(server: &ServerProcess) -> SocketAddr {
    server.address().parse().unwrap()
}

#[track_caller]
fn check_answered(ended: &Ended, about: &str) {
    assert_eq!(ended.code, Some(0), "{about}: {}", ended.err);
    assert!(!ended.out.trim().is_empty(), "{about}: {}", ended.err);
}

#[track_caller]
fn check_refused(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{}", ended.err);
    for words in words {
        assert!(ended.err.contains(words), "{words:?} in {}", ended.err);
    }
}

#[tokio::test]
async fn an_agent_is_called_through_a_proxy_on_every_binding() {
    let server = server().await;
    for binding in BINDINGS {
        let proxy = ForwardProxy::to(address(&server));
        let place = proxy.url();
        let arguments = ["http://agent.test", "help", "--same-host", "--binding", binding];
        let ended = call_with(&arguments, &[("http_proxy", &place)]).await;
        check_answered(&ended, binding);
        let lines = proxy.lines();
        assert_eq!(lines[0], "GET http://agent.test/.well-known/agent-card.json", "{binding}");
        let expected = match binding {
            "grpc" => "CONNECT agent.test:80",
            _ => "POST http://agent.test/",
        };
        assert!(lines[1].starts_with(expected), "{binding}: {lines:?}");

        let exempt = [("http_proxy", place.as_str()), ("NO_PROXY", "example.com,.test")];
        check_refused(&call_with(&arguments, &exempt).await, &["no connection"]);
        assert_eq!(proxy.lines(), lines, "the proxy was not asked again");
        let local = [server.url(), "help", "--binding", binding];
        check_answered(&call_with(&local, &[("all_proxy", "http://127.0.0.1:9")]).await, "this machine");
    }
}

fn home(settings: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".gemini")).unwrap();
    std::fs::write(home.path().join(".gemini/settings.json"), settings).unwrap();
    home
}

#[tokio::test]
async fn the_setting_names_the_proxy_and_a_wrong_one_is_told_by_its_name() {
    let server = server().await;
    let proxy = ForwardProxy::with_password(address(&server), "Basic bWU6czNjcmV0");
    let place = format!("http://me:s3cret@{}", proxy.address());
    let mine = home(&json!({"general": {"proxy": place}}).to_string());
    let arguments = ["http://agent.test", "help", "--same-host", "--binding", "jsonrpc"];
    let in_home = |home: &TempDir| home.path().display().to_string();
    let ended =
        call_with(&arguments, &[("HOME", &in_home(&mine)), ("http_proxy", "http://127.0.0.1:9")]).await;
    check_answered(&ended, "general.proxy");
    assert!(proxy.asked().iter().all(|asked| asked.authorization.as_deref() == Some("Basic bWU6czNjcmV0")));

    let stranger =
        home(&json!({"general": {"proxy": format!("http://me:0ther@{}", proxy.address())}}).to_string());
    let ended = call_with(&arguments, &[("HOME", &in_home(&stranger))]).await;
    check_refused(&ended, &["the proxy cannot be used", "general.proxy", "wants a user name"]);
    assert!(!ended.err.contains("0ther"), "{}", ended.err);

    let wrong = home(r#"{"general": {"proxy": "ftp://me:s3cret@p"}}"#);
    let ended = call_with(&arguments, &[("HOME", &in_home(&wrong))]).await;
    check_refused(&ended, &["general.proxy in", "settings.json", "must begin with http:", "hint: "]);
    assert!(!ended.err.contains("s3cret"), "{}", ended.err);
    let ended = call_with(&arguments, &[("HTTP_PROXY", "http://")]).await;
    check_refused(&ended, &["HTTP_PROXY holds no address"]);
}

#[tokio::test]
async fn a_private_authority_and_a_client_certificate_count_on_every_binding() {
    let (server, authority) = (server().await, TestAuthority::new());
    let strangers = TestAuthority::new();
    let (mine, other) = (authority.issue("me"), strangers.issue("me"));
    let direct = TlsFront::with_http2(address(&server), &authority.issue("localhost"), Some(&authority));
    let behind = TlsFront::with_http2(address(&server), &authority.issue("agent.test"), Some(&authority));
    let proxy = ForwardProxy::to(behind.address());
    let place = proxy.url();
    let text = |path: &Path| path.display().to_string();
    let (ca, certificate, key) = (text(&authority.certificate()), text(&mine.certificate), text(&mine.key));
    let proof = ["--client-cert", &certificate, "--client-key", &key];
    let url = format!("https://localhost:{}", direct.address().port());
    for binding in BINDINGS {
        let to = |url: &'static str| [url, "help", "--same-host", "--binding", binding];
        let here = [url.as_str(), "help", "--same-host", "--binding", binding];
        let ended = call_with(&[&here[..], &["--ca", &ca], &proof].concat(), &[]).await;
        check_answered(&ended, binding);
        let through = [&to("https://agent.test")[..], &["--ca", &ca], &proof].concat();
        check_answered(&call_with(&through, &[("https_proxy", &place)]).await, binding);
    }
    assert!(proxy.lines().iter().all(|line| line == "CONNECT agent.test:443"), "{:?}", proxy.lines());

    let here = [url.as_str(), "help", "--same-host"];
    for variable in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
        let ended = call_with(&[&here[..], &proof].concat(), &[(variable, &ca)]).await;
        check_answered(&ended, variable);
    }
    check_refused(&call_with(&here, &[]).await, &["certificate is not accepted", "hint: ", "--ca"]);
    let unproved = call_with(&[&here[..], &["--ca", &ca]].concat(), &[]).await;
    check_refused(&unproved, &["--client-cert"]);
    let (stranger, strange_key) = (text(&other.certificate), text(&other.key));
    let strange = ["--ca", &ca, "--client-cert", &stranger, "--client-key", &strange_key];
    check_refused(&call_with(&[&here[..], &strange].concat(), &[]).await, &["--client-cert"]);
    let mixed = ["--ca", &ca, "--client-cert", &certificate, "--client-key", &strange_key];
    let does_not_belong = format!("{strange_key} does not belong to the first certificate in {certificate}");
    check_refused(&call_with(&[&here[..], &mixed].concat(), &[]).await, &[&does_not_belong]);
    for (unusable, words) in [
        (authority.issue_version_1("old-form"), "holds a certificate of X.509 version 1"),
        (authority.issue_expired("expired"), "has expired"),
    ] {
        let (certificate, key) = (text(&unusable.certificate), text(&unusable.key));
        let proof = ["--ca", &ca, "--client-cert", &certificate, "--client-key", &key];
        check_refused(&call_with(&[&here[..], &proof].concat(), &[]).await, &[&certificate, words]);
    }
    let ended = call_with(&[&here[..], &["--ca", &key]].concat(), &[]).await;
    check_refused(&ended, &["me.key holds no certificate in PEM form"]);
}

#[tokio::test]
async fn the_settings_name_the_certificates_for_an_agent_of_a_file() {
    let (server, authority) = (server().await, TestAuthority::new());
    let front = TlsFront::with_http2(address(&server), &authority.issue("localhost"), Some(&authority));
    let mine = authority.issue("me");
    let tls = json!({"ca": authority.certificate(), "clientCert": mine.certificate, "clientKey": mine.key});
    let settings = |tls: serde_json::Value| {
        json!({"experimental": {"enableAgents": true}, "agents": {"overrides": {"guarded": {"tls": tls}}}})
            .to_string()
    };
    let home = home(&settings(tls));
    let url = format!("https://localhost:{}/.well-known/agent-card.json", front.address().port());
    std::fs::create_dir(home.path().join(".gemini/agents")).unwrap();
    let file = format!("---\nkind: remote\nname: guarded\nagent_card_url: {url}\n---\n");
    std::fs::write(home.path().join(".gemini/agents/guarded.md"), file).unwrap();
    let place = home.path().display().to_string();
    let arguments = ["guarded", "help", "--same-host"];
    check_answered(&call_with(&arguments, &[("HOME", &place)]).await, "agents.overrides");
    let missing = settings(json!({"ca": "~/missing.pem"}));
    std::fs::write(home.path().join(".gemini/settings.json"), missing).unwrap();
    let ended = call_with(&arguments, &[("HOME", &place)]).await;
    check_refused(&ended, &["cannot read", "missing.pem"]);
}
