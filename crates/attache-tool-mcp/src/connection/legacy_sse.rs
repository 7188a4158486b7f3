//! The legacy HTTP+SSE transport: one stream of events that names the URL for requests.

use std::future::Future;

use attache_net::Url;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::connection_end::ConnectionEnd;
use super::event_reader::EventReader;
use super::http_channel::{HttpChannel, HttpError, media_type};
use crate::error::ConnectError;

pub(super) struct LegacySse {
    web: HttpChannel,
    /// None after the end.
    events: Option<EventReader>,
    endpoint: Url,
    ending: ConnectionEnd,
}

impl LegacySse {
    /// Opens the stream and receives the URL for requests.
    pub(super) async fn open(web: HttpChannel, ending: ConnectionEnd) -> Result<Self, ConnectError> {
        let answer = web.successful(web.get(&[("accept", "text/event-stream")]).await?).await?;
        let kind = media_type(&answer);
        if kind != "text/event-stream" {
            return Err(HttpError::Kind(kind).into());
        }
        let mut events = EventReader::of(answer);
        while let Some(event) = events.next().await? {
            if event.name.as_deref() == Some("endpoint") {
                let endpoint = endpoint(web.url(), event.data.as_deref().unwrap_or_default())?;
                return Ok(Self { web, events: Some(events), endpoint, ending });
            }
        }
        Err(ConnectError::NotUnderstood("its stream of events ended before it said where to send to".into()))
    }
}

/// The URL for requests. It must be on the same server, because credentials are not sent anywhere else.
pub(super) fn endpoint(url: &Url, told: &str) -> Result<Url, ConnectError> {
    let wrong = |what: &str| ConnectError::NotUnderstood(what.to_owned());
    let endpoint = url.join(told).map_err(|_| wrong("it names no proper place to send to"))?;
    if endpoint.origin() != url.origin() || !endpoint.username().is_empty() || endpoint.password().is_some() {
        return Err(wrong("it names a place on another server to send to"));
    }
    Ok(endpoint)
}

impl Transport<RoleClient> for LegacySse {
    type Error = HttpError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), HttpError>> + Send + 'static {
        let (web, endpoint) = (self.web.clone(), self.endpoint.clone());
        async move {
            let body = serde_json::to_vec(&message).map_err(|_| HttpError::NoMessage)?;
            let answer = web.post(endpoint, body, &[("accept", "application/json")]).await?;
            web.successful(answer).await.map(drop)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = match self.events.as_mut()?.next().await {
                Ok(event) => event?,
                Err(failure) => {
                    self.ending.because(&failure.to_string());
                    return None;
                }
            };
            if event.name.as_deref().is_some_and(|name| name != "message") {
                continue;
            }
            match serde_json::from_str(event.data.as_deref().unwrap_or_default()) {
                Ok(message) => return Some(message),
                Err(_) => tracing::debug!("an MCP server sent an event that is no message"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), HttpError> {
        self.events = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(told: &str, expected: Option<&str>) {
        let url = Url::parse("https://example.com/a/sse").unwrap();
        assert_eq!(endpoint(&url, told).ok().as_ref().map(Url::as_str), expected);
    }

    #[test]
    fn messages_go_to_the_same_server_only() {
        check("/message?session=1", Some("https://example.com/message?session=1"));
        check("post", Some("https://example.com/a/post"));
        check("https://example.com/x", Some("https://example.com/x"));
        check("https://evil.example/x", None);
        check("//evil.example/x", None);
        check("http://example.com/x", None);
        check("https://me@example.com/x", None);
    }
}
