//! Streamable HTTP: the library manages sessions and streams; requests use the one HTTP client.

use std::collections::HashMap;
use std::sync::Arc;

use attache_net::HttpResponse;
use attache_net::sse::SseEvent;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::MAX_MESSAGE_BYTES;
use super::event_reader::EventReader;
use super::http_channel::{HttpChannel, HttpError, media_type};

pub(super) fn transport(web: HttpChannel) -> StreamableHttpClientTransport<HttpChannel> {
    let config = StreamableHttpClientTransportConfig::with_uri(web.url().as_str());
    StreamableHttpClientTransport::with_client(web, config)
}

type Failure = StreamableHttpError<HttpError>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;

const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

impl StreamableHttpClient for HttpChannel {
    type Error = HttpError;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _authorization: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let asks = matches!(message, ClientJsonRpcMessage::Request(_));
        let body = serde_json::to_vec(&message)?;
        let mut sent = texts(&headers);
        sent.push(("accept", "application/json, text/event-stream"));
        sent.extend(session.as_deref().map(|session| (SESSION, session)));
        let answer = self.post(self.url().clone(), body, &sent).await.map_err(Failure::Client)?;
        let answer = match self.successful(answer).await {
            Ok(answer) => answer,
            Err(failure) if session.is_some() && forgot_the_session(&failure) => {
                return Err(Failure::SessionExpired);
            }
            Err(failure) => return Err(Failure::Client(failure)),
        };
        let session = answer.header(SESSION).map(str::to_owned);
        match media_type(&answer).as_str() {
            _ if matches!(answer.status(), 202 | 204) => Ok(StreamableHttpPostResponse::Accepted),
            EVENTS => Ok(StreamableHttpPostResponse::Sse(events_of(answer), session)),
            // Notifications have no response.
            _ if !asks => Ok(StreamableHttpPostResponse::Accepted),
            JSON => {
                let message = self.note(message_of(answer).await).map_err(Failure::Client)?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            other => self.note(Err(HttpError::Kind(other.to_owned()))).map_err(Failure::Client),
        }
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        _session: Arc<str>,
        _authorization: Option<String>,
        _headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        // Optional: servers expire sessions by themselves.
        Ok(())
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _authorization: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<EventStream, Failure> {
        let mut sent = texts(&headers);
        sent.push(("accept", EVENTS));
        sent.extend(session.as_deref().map(|session| (SESSION, session)));
        sent.extend(last_event.as_deref().map(|last| ("last-event-id", last)));
        let answer = self.get(&sent).await.map_err(Failure::Client)?;
        // A server without an event stream of its own answers with this status or another refusal.
        let answer = match self.successful(answer).await {
            Ok(answer) => answer,
            Err(failure) if failure.may_pass() => return Err(Failure::Client(failure)),
            Err(_) => return Err(Failure::ServerDoesNotSupportSse),
        };
        match media_type(&answer).as_str() {
            EVENTS => Ok(events_of(answer)),
            _ => Err(Failure::ServerDoesNotSupportSse),
        }
    }
}

/// A restarted server does not know the session; some servers report that as 400.
fn forgot_the_session(failure: &HttpError) -> bool {
    match failure {
        HttpError::Status { status: 404, .. } => true,
        HttpError::Status { status: 400, what } => what.to_ascii_lowercase().contains("session"),
        _ => false,
    }
}

async fn message_of(answer: HttpResponse) -> Result<ServerJsonRpcMessage, HttpError> {
    let body = answer.read(MAX_MESSAGE_BYTES).await.map_err(HttpError::Net)?;
    serde_json::from_slice(&body).map_err(|_| HttpError::NoMessage)
}

fn events_of(answer: HttpResponse) -> EventStream {
    let next = |mut events: EventReader| async move {
        let event = events.next().await.map_err(|failure| SseError::Body(Box::new(failure))).transpose()?;
        Some((event.map(sse), events))
    };
    stream::unfold(EventReader::of(answer), next).boxed()
}

fn sse(event: SseEvent) -> Sse {
    let SseEvent { name, data, id, retry, comment: _ } = event;
    Sse { event: name, data, id, retry }
}

fn texts(headers: &HashMap<HeaderName, HeaderValue>) -> Vec<(&str, &str)> {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}
