//! One request and its response, in each binding.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use attache_credentials::CardSecurity;
use attache_domain::{Binding, Operation};
use attache_net::sse::SseParser;
use attache_net::{HttpClient, HttpRequest, HttpResponse, NetError};
use attache_wire::client::{DecodeError, Protocol};
use attache_wire::{extensions, replay, version};
use tokio::time::timeout;

use crate::authentication::Authentication;
use crate::body_budget::BodyShare;
use crate::endpoint::Endpoint;
use crate::grpc::{self, FrameParser};
use crate::origin::excerpt;
use crate::sent_secrets::SentSecrets;
use crate::{ClientError, ClientOptions, StreamEvent};

#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) net: HttpClient,
    pub(crate) options: ClientOptions,
    /// The header that activates extensions.
    pub(crate) extensions: String,
    /// What the card says about authentication.
    pub(crate) security: CardSecurity,
    pub(crate) secrets: Arc<SentSecrets>,
    /// The agent knows subscriptions over HTTP+JSON with GET only.
    pub(crate) gets_subscriptions: AtomicBool,
}

/// Things in one stream that cannot be read and are left out; with more, it is no stream of A2A.
const MAX_UNREADABLE: u32 = 1000;

/// A whole response.
#[derive(Debug)]
pub(crate) struct WholeResponse {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Held until the body is decoded.
    _share: BodyShare,
}

/// A stream of events as it comes.
#[derive(Debug)]
pub(crate) struct OpenStream {
    protocol: Protocol,
    /// `None` once it was read to its end.
    response: Option<HttpResponse>,
    parser: StreamParser,
    /// The first event, if it was waited for.
    first: Option<Result<Option<ReceivedEvent>, ClientError>>,
    /// An event was decoded.
    has_begun: bool,
    /// The agent numbers its events.
    has_ids: bool,
    /// What was left out because it could not be read.
    unreadable: u32,
    follows_loss: bool,
    secrets: Arc<SentSecrets>,
}

#[derive(Debug)]
enum StreamParser {
    Sse(SseParser),
    Grpc(FrameParser),
    /// The agent did not stream, and its response was the event.
    Single(Option<Box<StreamEvent>>),
}

/// An event, and its id where the binding gives it one.
#[derive(Debug)]
pub(crate) struct ReceivedEvent {
    pub(crate) event: StreamEvent,
    pub(crate) id: Option<String>,
    /// Something before it could not be read, and may have been an event.
    pub(crate) follows_loss: bool,
}

impl Exchange {
    /// Calls and reads the whole response.
    pub(crate) async fn call(
        &self,
        endpoint: &Endpoint,
        operation: &Operation,
    ) -> Result<WholeResponse, ClientError> {
        self.call_with(endpoint, endpoint.request(operation)?).await
    }

    /// The same for a request that is encoded already.
    pub(crate) async fn call_with(
        &self,
        endpoint: &Endpoint,
        request: HttpRequest,
    ) -> Result<WholeResponse, ClientError> {
        let calling = async {
            let mut authentication = self.authentication(endpoint).await?;
            loop {
                let response = self.send(endpoint, authentication.add_to(request.clone())?, None).await?;
                let result = match endpoint.protocol.binding() {
                    Binding::Grpc => self.read_grpc(response, endpoint.protocol).await,
                    Binding::JsonRpc | Binding::HttpJson => self.read(response).await,
                };
                let is_refused = match &result {
                    Ok(response) => matches!(response.status, 401 | 403),
                    Err(error) => error.is_refused_credential(),
                };
                if !is_refused || !authentication.renew().await? {
                    return result;
                }
            }
        };
        match self.options.deadline {
            None => calling.await,
            Some(after) => timeout(after, calling).await.map_err(|_| ClientError::Deadline { after })?,
        }
    }

    pub(crate) async fn open_stream(
        &self,
        endpoint: &Endpoint,
        operation: &Operation,
        after: Option<&str>,
    ) -> Result<OpenStream, ClientError> {
        let other_verb = match operation {
            Operation::Subscribe(subscribe) => endpoint.get_subscription(&subscribe.task)?,
            _ => None,
        };
        let remembered = self.gets_subscriptions.load(Ordering::Relaxed);
        let request = match other_verb.clone().filter(|_| remembered) {
            Some(get) => get,
            None => endpoint.request(operation)?,
        };
        // A refusal of the message may come in the place of its first event. A subscription may have none for long.
        let waits = matches!(operation, Operation::Stream(_));
        let opened = self.open(endpoint, request, after, waits).await;
        let Some(get) = other_verb.filter(|_| !remembered) else { return opened };
        match opened {
            Err(ClientError::Status { status: status @ (404 | 405), text }) => {
                match self.open(endpoint, get, after, waits).await {
                    Err(ClientError::Status { status: 404 | 405, .. }) => {
                        Err(ClientError::Status { status, text })
                    }
                    opened => {
                        self.gets_subscriptions.store(true, Ordering::Relaxed);
                        opened
                    }
                }
            }
            opened => opened,
        }
    }

    async fn open(
        &self,
        endpoint: &Endpoint,
        request: HttpRequest,
        after: Option<&str>,
        waits: bool,
    ) -> Result<OpenStream, ClientError> {
        self.open_with_credential(endpoint, request, after, waits)
            .await
            .map_err(|error| self.secrets.hide(error))
    }

    async fn open_with_credential(
        &self,
        endpoint: &Endpoint,
        mut request: HttpRequest,
        after: Option<&str>,
        waits: bool,
    ) -> Result<OpenStream, ClientError> {
        if endpoint.protocol.binding() != Binding::Grpc {
            request = request.header("accept", "text/event-stream")?;
        }
        let mut authentication = self.authentication(endpoint).await?;
        loop {
            let response = self.send(endpoint, authentication.add_to(request.clone())?, after).await?;
            let is_refused = matches!(response.status(), 401 | 403);
            match self.read_stream(endpoint.protocol, response, waits).await {
                Err(error) if is_refused || error.is_refused_credential() => {
                    if !authentication.renew().await? {
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
    }

    /// The stream in a response, unless it is a refusal. `waits`: for its first event, which may be one.
    async fn read_stream(
        &self,
        protocol: Protocol,
        response: HttpResponse,
        waits: bool,
    ) -> Result<OpenStream, ClientError> {
        if protocol.binding() == Binding::Grpc {
            // A refusal may be all that comes: a head without a body.
            if !grpc::is_grpc(&response) || response.header("grpc-status").is_some() {
                grpc::end_of_call(&response, protocol)?;
            }
            let frames = FrameParser::new(self.options.max_event_bytes, grpc::is_gzip(&response));
            let open = self.stream(protocol, Some(response), StreamParser::Grpc(frames));
            return if waits { open.with_first_event().await } else { Ok(open) };
        }
        let is_success = (200..300).contains(&response.status());
        let kind = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
        if is_success && kind.starts_with("text/event-stream") {
            // A stream of known length may be a refusal in the form of one event.
            let waits = waits || response.header("content-length").is_some();
            let parser = SseParser::new(self.options.max_event_bytes);
            let open = self.stream(protocol, Some(response), StreamParser::Sse(parser));
            return if waits { open.with_first_event().await } else { Ok(open) };
        }
        // What is no JSON may be a stream without end.
        if is_success && !kind.is_empty() && !kind.contains("json") {
            let what = format!("it is {}, and has to be text/event-stream", excerpt(&kind));
            return Err(ClientError::Malformed { what });
        }
        let response = self.read(response).await?;
        let decode = |body: &[u8]| protocol.decode_event(response.status, body);
        let event = self.secrets.decode(&response.body, decode)?;
        let parser = StreamParser::Single(Some(Box::new(event)));
        Ok(self.stream(protocol, None, parser))
    }

    fn stream(&self, protocol: Protocol, response: Option<HttpResponse>, parser: StreamParser) -> OpenStream {
        let secrets = Arc::clone(&self.secrets);
        OpenStream {
            protocol,
            response,
            parser,
            first: None,
            has_begun: false,
            has_ids: false,
            unreadable: 0,
            follows_loss: false,
            secrets,
        }
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        request: HttpRequest,
        after: Option<&str>,
    ) -> Result<HttpResponse, ClientError> {
        let version = endpoint.protocol.version();
        // Sent even when empty: an agent that remembers a task's extensions learns that this client uses none.
        let mut request = request
            .header(version::HEADER_NAME, version.as_str())?
            .header(extensions::header_name(version), &self.extensions)?;
        if let Some(after) = after {
            let name = match endpoint.protocol.binding() {
                Binding::Grpc => replay::CURSOR_HEADER,
                Binding::JsonRpc | Binding::HttpJson => "last-event-id",
            };
            request = request.header(name, after)?;
        }
        let response = self.net.send(request).await?;
        match response.header("location") {
            Some(place) if (300..400).contains(&response.status()) => {
                // A query may hold a secret.
                let place = excerpt(place.split('?').next().unwrap_or_default());
                let text = format!(
                    "a redirect to {place}, and calls follow none; the card has to name that address"
                );
                Err(ClientError::Status { status: response.status(), text })
            }
            _ => Ok(response),
        }
    }

    async fn authentication<'a>(&'a self, endpoint: &'a Endpoint) -> Result<Authentication<'a>, ClientError> {
        match self.options.credential.as_deref().filter(|_| endpoint.sends_credential) {
            Some(source) => {
                Authentication::new(source, &self.secrets, &endpoint.url, Some(&self.security)).await
            }
            None => Ok(Authentication::none()),
        }
    }

    async fn read(&self, mut response: HttpResponse) -> Result<WholeResponse, ClientError> {
        let limit = self.options.max_response_bytes;
        response.check_announced_length(limit)?;
        let (status, mut body, mut share) = (response.status(), Vec::new(), BodyShare::default());
        while let Some(bytes) = response.chunk().await? {
            if body.len() + bytes.len() > limit {
                return Err(NetError::TooLarge { limit }.into());
            }
            share.grow(body.len() + bytes.len()).await?;
            body.extend_from_slice(&bytes);
        }
        Ok(WholeResponse { status, body, _share: share })
    }

    /// The one message of a response.
    async fn read_grpc(
        &self,
        mut response: HttpResponse,
        protocol: Protocol,
    ) -> Result<WholeResponse, ClientError> {
        if !grpc::is_grpc(&response) {
            grpc::end_of_call(&response, protocol)?;
            return Err(ClientError::Malformed { what: "the response is no gRPC".into() });
        }
        let mut frames = FrameParser::new(self.options.max_response_bytes, grpc::is_gzip(&response));
        let (mut message, mut length, mut share) = (None, 0, BodyShare::default());
        while let Some(bytes) = response.chunk().await? {
            length += bytes.len();
            share.grow(length).await?;
            frames.push(&bytes);
            while let Some(next) = frames.next_message()? {
                // It may be larger than what was read.
                share.grow(length + next.len()).await?;
                message = Some(next);
            }
        }
        grpc::end_of_call(&response, protocol)?;
        let nothing = || ClientError::Malformed { what: "a gRPC response without a message".into() };
        Ok(WholeResponse { status: 200, body: message.ok_or_else(nothing)?, _share: share })
    }
}

impl OpenStream {
    /// Waits for the first event, and fails if a refusal comes instead. A cut is left to the reader.
    async fn with_first_event(mut self) -> Result<Self, ClientError> {
        match self.receive().await {
            Err(error) if !error.is_transient() => Err(error),
            first => {
                self.first = Some(first);
                Ok(self)
            }
        }
    }

    /// The next event; `None` at the end of the stream. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Option<ReceivedEvent>, ClientError> {
        let next = match self.first.take() {
            Some(first) => first,
            None => self.receive().await,
        };
        match next {
            Ok(Some(received)) => {
                let ReceivedEvent { event, id, follows_loss } = received;
                Ok(Some(ReceivedEvent { event: self.secrets.hide(event), id, follows_loss }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(self.secrets.hide(error)),
        }
    }

    async fn receive(&mut self) -> Result<Option<ReceivedEvent>, ClientError> {
        loop {
            if let Some(event) = self.parsed()? {
                return Ok(Some(event));
            }
            let Some(response) = &mut self.response else { return Ok(None) };
            match response.chunk().await? {
                Some(bytes) => match &mut self.parser {
                    StreamParser::Sse(parser) => parser.push(&bytes)?,
                    StreamParser::Grpc(parser) => parser.push(&bytes),
                    StreamParser::Single(_) => {}
                },
                None => return self.end(),
            }
        }
    }

    /// The response has ended. Some agents send no blank line after their last event.
    fn end(&mut self) -> Result<Option<ReceivedEvent>, ClientError> {
        match (self.response.take(), &mut self.parser) {
            (Some(response), StreamParser::Grpc(_)) => {
                grpc::end_of_call(&response, self.protocol).map(|()| None)
            }
            (_, StreamParser::Sse(parser)) => {
                parser.finish()?;
                let has_ids = self.has_ids;
                match self.parsed() {
                    // It was cut within the event.
                    Err(ClientError::Malformed { .. }) => Ok(None),
                    Ok(event) => Ok(event.filter(|event| event.id.is_some() || !has_ids)),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(None),
        }
    }

    fn parsed(&mut self) -> Result<Option<ReceivedEvent>, ClientError> {
        loop {
            let (event, id) = match &mut self.parser {
                StreamParser::Sse(parser) => {
                    let Some(received) = parser.next_event() else { return Ok(None) };
                    let Some(data) = received.data.filter(|data| !data.trim().is_empty()) else { continue };
                    let decode = |data: &[u8]| self.protocol.decode_event(200, data);
                    (self.secrets.decode(data.as_bytes(), decode), received.id)
                }
                StreamParser::Grpc(parser) => {
                    let Some(message) = parser.next_message()? else { return Ok(None) };
                    let event = self.protocol.decode_event(200, &message);
                    let id = event.as_ref().ok().and_then(|event| event.cursor().map(str::to_owned));
                    (event, id)
                }
                StreamParser::Single(event) => {
                    let first =
                        |event: Box<_>| ReceivedEvent { event: *event, id: None, follows_loss: false };
                    return Ok(event.take().map(first));
                }
            };
            match event {
                // A later version may have more kinds of events. A stream of nothing else is not understood.
                Err(DecodeError::UnknownEvent { what }) if self.has_begun => {
                    tracing::debug!(what, "an event was left out");
                }
                // A sign of life such as `{}`, the end in a form of others, or an event that is broken.
                Err(DecodeError::Malformed { .. })
                    if self.has_begun
                        && self.unreadable < MAX_UNREADABLE
                        && matches!(self.parser, StreamParser::Sse(_)) =>
                {
                    self.unreadable += 1;
                    self.follows_loss = true;
                    tracing::warn!("something in a stream cannot be read and is left out");
                }
                event => {
                    let event = event?;
                    self.has_begun = true;
                    self.has_ids |= id.is_some();
                    let follows_loss = std::mem::take(&mut self.follows_loss);
                    return Ok(Some(ReceivedEvent { event, id, follows_loss }));
                }
            }
        }
    }
}
