//! The client side of the protocol: requests and notifications from a server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use attache_domain::{IgnorePoison, excerpt_in_bytes};
use attache_net::Url;
use attache_tool::LiveOutput;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::Notify;

use crate::ConnectContext;
use crate::visible::on_one_line;

const MAX_MESSAGE_LENGTH: usize = 500;
/// The shortest interval between two lines of progress; lines in between are dropped.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum lines of progress of one call.
const MAX_PROGRESS_LINES: usize = 1_000;

/// Names the workspace to a server that asks. Requests for a model or a person are refused.
pub(super) struct Host {
    config: ClientConfig,
    root: Option<Url>,
    news: Arc<ServerNotifications>,
}

impl Host {
    pub(super) fn new(context: &ConnectContext, news: Arc<ServerNotifications>) -> Self {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let client = Implementation::new("attache", env!("CARGO_PKG_VERSION"));
        let config = ClientConfig::new(capabilities, client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        Self { config, root: Url::from_file_path(&context.directory).ok(), news }
    }
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    #[expect(deprecated, reason = "roots are on their way out, and most servers of today know nothing newer")]
    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        let root = |url: &Url| rmcp::model::Root::new(url.as_str()).with_name("workspace");
        Ok(rmcp::model::ListRootsResult::new(self.root.iter().map(root).collect()))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.news.progress(progress);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.news.lists_changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.news.lists_changed.notify_one();
    }
}

/// Notifications from a server.
#[derive(Default)]
pub(super) struct ServerNotifications {
    listeners: Mutex<HashMap<ProgressToken, ProgressListener>>,
    lists_changed: Notify,
}

struct ProgressListener {
    live: Arc<dyn LiveOutput>,
    last: Option<Instant>,
    lines: usize,
}

impl ServerNotifications {
    /// `live` receives the progress of one call until the returned guard is dropped.
    pub(super) fn listen(
        self: &Arc<Self>,
        token: ProgressToken,
        live: Arc<dyn LiveOutput>,
    ) -> ProgressSubscription {
        let listener = ProgressListener { live, last: None, lines: 0 };
        self.listeners.lock().ignore_poison().insert(token.clone(), listener);
        ProgressSubscription { news: self.clone(), token }
    }

    pub(super) async fn lists_changed(&self) {
        self.lists_changed.notified().await;
    }

    fn progress(&self, progress: ProgressNotificationParam) {
        let live = {
            let mut listeners = self.listeners.lock().ignore_poison();
            let Some(listener) = listeners.get_mut(&progress.progress_token) else { return };
            let now = Instant::now();
            let soon = listener.last.is_some_and(|last| now.duration_since(last) < PROGRESS_INTERVAL);
            if soon || listener.lines >= MAX_PROGRESS_LINES {
                return;
            }
            listener.last = Some(now);
            listener.lines += 1;
            listener.live.clone()
        };
        live.show(&line(progress.progress, progress.total, progress.message.as_deref()));
    }
}

pub(super) struct ProgressSubscription {
    news: Arc<ServerNotifications>,
    token: ProgressToken,
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.news.listeners.lock().ignore_poison().remove(&self.token);
    }
}

/// One line for people: `40%: half of it`.
fn line(progress: f64, total: Option<f64>, message: Option<&str>) -> String {
    let far = match total.filter(|total| *total > 0.0) {
        Some(total) => format!("{:.0}%", (progress / total * 100.0).clamp(0.0, 100.0)),
        None => progress.to_string(),
    };
    let message = message.map(on_one_line).filter(|text| !text.is_empty());
    match message {
        Some(message) => format!("{far}: {}\n", excerpt_in_bytes(&message, MAX_MESSAGE_LENGTH)),
        None => format!("{far}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_line() {
        assert_eq!(line(2.0, Some(5.0), Some("half\nof it")), "40%: half of it\n");
        assert_eq!(line(9.0, Some(5.0), None), "100%\n");
        assert_eq!(line(3.0, None, Some(" ")), "3\n");
        assert_eq!(line(3.0, Some(0.0), None), "3\n");
    }
}
