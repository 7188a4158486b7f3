//! The live endpoint of one session: a server beside it, for as long as it runs.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context;
use attache_config::Settings;
use attache_domain::{ApiKeys, TaskId};
use attache_server::{Server, ServerHandle};
use attache_session::SessionService;
use tokio::task::JoinSet;

use crate::{logging, wiring};

pub(crate) struct LiveEndpoint {
    /// Where clients reach it.
    pub(crate) url: String,
    handle: ServerHandle,
    server: JoinSet<()>,
}

/// The one session that clients see.
pub(crate) struct ServedSession {
    pub(crate) session: Arc<SessionService>,
    pub(crate) task: TaskId,
    pub(crate) api_keys: Arc<ApiKeys>,
}

impl LiveEndpoint {
    /// Serves the session to clients on this machine. The port 0 picks a free one.
    pub(crate) async fn open(settings: &Settings, port: u16, served: ServedSession) -> anyhow::Result<Self> {
        let ServedSession { session, task, api_keys } = served;
        let listener = wiring::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), "--a2a-port").await?;
        let address = listener.local_addr().context("cannot tell the address")?;
        let url = format!("http://{address}");
        let mut options = wiring::server_options(settings, &url)?;
        (options.live, options.live_session) = (true, Some(task));
        options.api_keys = api_keys;
        options.console = Some(logging::open_console(settings));
        let server = Server::new(listener, session, options);
        let handle = server.handle();
        let mut running = JoinSet::new();
        running.spawn(server.run());
        tracing::info!("[A2AService] listening on {url}");
        Ok(Self { url, handle, server: running })
    }

    /// Tells the clients, and waits for what they are being sent.
    pub(crate) async fn close(mut self) {
        self.handle.stop();
        while self.server.join_next().await.is_some() {}
    }
}
