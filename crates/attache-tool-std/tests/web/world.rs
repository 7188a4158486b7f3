//! An internet of which every host is a server on this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use attache_domain::Content;
use attache_net::{AddressRules, HttpClient, NetworkSettings, ResolveFuture, Resolver};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use attache_tool::{LiveOutput, Proposal, Tool, ToolContext, ToolError, ToolOutput, Workspace};
use attache_tool_std::{WebFetch, WebFetchOptions};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(super) struct World {
    pub(super) server: ModelServer,
    pub(super) tool: WebFetch,
    pub(super) context: ToolContext,
}

struct Silence;

impl LiveOutput for Silence {
    fn show(&self, _: &str) {}
}

/// Hosts in `.test` are public, those in `.lan` are not, and all of them are dialled on this machine.
#[derive(Debug)]
struct Played;

impl Resolver for Played {
    fn resolve(&self, host: &str) -> ResolveFuture {
        let address: Option<IpAddr> = match host.rsplit('.').next() {
            Some("test") => Some(Ipv4Addr::new(93, 184, 216, 34).into()),
            Some("lan") => Some(Ipv4Addr::new(10, 0, 0, 1).into()),
            _ => None,
        };
        let found = address.map(|address| vec![address]).ok_or_else(|| io::Error::other("no such name"));
        Box::pin(async move { found })
    }

    fn dial_address(&self, _: IpAddr) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }
}

impl World {
    pub(super) fn new(site: impl Fn(&ReceivedRequest) -> PlannedResponse + Send + Sync + 'static) -> Self {
        Self::with(WebFetchOptions::default(), site)
    }

    pub(super) fn with(
        options: WebFetchOptions,
        site: impl Fn(&ReceivedRequest) -> PlannedResponse + Send + Sync + 'static,
    ) -> Self {
        let mut client = WebFetch::client_options(AddressRules::public_only(), &NetworkSettings::default());
        client.resolver = Arc::new(Played);
        let tool = WebFetch::new(HttpClient::new(&client).unwrap(), options);
        Self { server: ModelServer::with_handler(site), tool, context: context() }
    }

    /// Where a page of a host is. Its port is the server's, since the play has only one.
    pub(super) fn at(&self, host: &str, path: &str) -> String {
        let url = self.server.url();
        format!("http://{host}:{}{path}", url.rsplit(':').next().unwrap())
    }

    pub(super) async fn propose(&self, prompt: &str) -> Result<Proposal, ToolError> {
        self.tool.propose(json!({ "prompt": prompt }).as_object().unwrap(), &self.context).await
    }

    pub(super) async fn fetch(&self, prompt: &str) -> Result<ToolOutput, ToolError> {
        self.tool.run(self.propose(prompt).await?, &self.context).await
    }

    /// What the model reads, with the server's port left out.
    pub(super) async fn text(&self, prompt: &str) -> String {
        self.plain(&text(&self.fetch(prompt).await.unwrap()))
    }

    pub(super) fn plain(&self, text: &str) -> String {
        let url = self.server.url();
        text.replace(&format!(":{}", url.rsplit(':').next().unwrap()), "")
    }
}

pub(super) fn context() -> ToolContext {
    let workspace = Workspace {
        roots: vec![PathBuf::from("/nowhere")],
        scratch: PathBuf::from("/nowhere"),
        environment: vec![],
        ignore: Default::default(),
    };
    ToolContext {
        workspace: Arc::new(workspace),
        cancel: CancellationToken::new(),
        live: Arc::new(Silence),
        mark: None,
        call: attache_tool::CallKey::none(),
        state: Arc::new(attache_tool::NoCallState),
        delegation: Arc::default(),
    }
}

pub(super) fn text(output: &ToolOutput) -> String {
    let texts = output.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

pub(super) fn page(media_type: &str, body: &str) -> PlannedResponse {
    PlannedResponse::text(200, media_type, body)
}

pub(super) fn untrusted(text: &str) -> String {
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}

pub(super) fn object(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}
