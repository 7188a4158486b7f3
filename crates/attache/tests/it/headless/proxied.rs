//! A model behind a forward proxy and a private authority.

use attache_testkit::model_server::{ModelServer, openai};
use attache_testkit::{ForwardProxy, TestAuthority, TlsFront};

use super::Run;

#[tokio::test]
async fn a_model_is_asked_through_the_proxy() {
    let answer = openai::answer([openai::chunk().text("Fine.").finish("stop"), openai::usage(7, 12)]);
    let model = ModelServer::with_responses([answer]);
    let authority = TestAuthority::new();
    let backend = model.url().strip_prefix("http://").unwrap().parse().unwrap();
    let front = TlsFront::start(backend, &authority.issue("model.test"), None);
    let proxy = ForwardProxy::to(front.address());
    let mut run = Run::offline(&["-p", "How are you?", "--model", "openai:local"]);
    run.command
        .env("OPENAI_BASE_URL", "https://model.test/v1")
        .env("HTTPS_PROXY", proxy.url())
        .env("NODE_EXTRA_CA_CERTS", authority.certificate());
    let ended = run.end().await;
    assert_eq!((ended.code, ended.out.trim()), (Some(0), "Fine."), "{}", ended.err);
    assert_eq!(proxy.lines(), ["CONNECT model.test:443"]);
}
