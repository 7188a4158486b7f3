//! One request and its response, in each binding.

use attache_credentials::CardSecurity;
use attache_domain::{Binding, Operation};
use attache_net::sse::SseParser;
use attache_net::{HttpClient, HttpRequest, HttpResponse};
use attache_wire::client::Protocol;
use attache_wire::{extensions, replay, version};
use tokio::time::timeout;

use crate::authentication::Authentication;
use crate::endpoint::Endpoint;
use crate::grpc::{self, FrameParser};
use crate::{ClientError, ClientOptions, StreamEvent};

#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) net: HttpClient,
    pub(crate) options: ClientOptions,
    /// The header that activates extensions.
    pub(crate) extensions: String,
    /// What the card says about authentication.
    pub(crate) security: CardSecurity,
}

/// A stream of events as it comes.
#[derive(Debug)]
pub(crate) struct OpenStream {
    protocol: Protocol,
    response: HttpResponse,
    parser: StreamParser,
}

#[derive(Debug)]
enum StreamParser {
    Sse(SseParser),
    Grpc(FrameParser),
}

/// An event, and its id where the binding gives it one.
#[derive(Debug)]
pub(crate) struct ReceivedEvent {
    pub(crate) event: StreamEvent,
    pub(crate) id: Option<String>,
}

impl Exchange {
    /// Calls and reads the whole response.
    pub(crate) async fn call(
        &self,
        endpoint: &Endpoint,
        operation: &Operation,
    ) -> Result<(u16, Vec<u8>), ClientError> {
        self.call_with(endpoint, endpoint.request(operation)?).await
    }

    /// The same for a request that is encoded already.
    pub(crate) async fn call_with(
        &self,
        endpoint: &Endpoint,
        request: HttpRequest,
    ) -> Result<(u16, Vec<u8>), ClientError> {
        let calling = async {
            let mut authentication = self.authentication(endpoint).await?;
            loop {
                let response = self.send(endpoint, authentication.add_to(request.clone())?, None).await?;
                let result = match endpoint.protocol.binding() {
                    Binding::Grpc => self.read_grpc(response, endpoint.protocol).await,
                    Binding::JsonRpc | Binding::HttpJson => self.read(response).await,
                };
                let is_refused = match &result {
                    Ok((status, _)) => matches!(status, 401 | 403),
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
        let mut request = endpoint.request(operation)?;
        if endpoint.protocol.binding() != Binding::Grpc {
            request = request.header("accept", "text/event-stream")?;
        }
        let mut authentication = self.authentication(endpoint).await?;
        loop {
            let response = self.send(endpoint, authentication.add_to(request.clone())?, after).await?;
            let is_refused = matches!(response.status(), 401 | 403);
            match self.read_stream(endpoint.protocol, response).await {
                Err(error) if is_refused || error.is_refused_credential() => {
                    if !authentication.renew().await? {
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
    }

    /// The stream in a response, unless it is a refusal.
    async fn read_stream(
        &self,
        protocol: Protocol,
        mut response: HttpResponse,
    ) -> Result<OpenStream, ClientError> {
        if protocol.binding() == Binding::Grpc {
            // A refusal may be all that comes: a head without a body.
            if !grpc::is_grpc(&response) || response.header("grpc-status").is_some() {
                grpc::end_of_call(&response, protocol)?;
            }
            let parser = StreamParser::Grpc(FrameParser::new(self.options.max_event_bytes));
            return Ok(OpenStream { protocol, response, parser });
        }
        let is_stream =
            response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if response.status() == 200 && is_stream {
            let mut parser = SseParser::new(self.options.max_event_bytes);
            // A stream of known length may be a refusal in the form of one event.
            if response.header("content-length").is_some() {
                self.check_first_event(protocol, &mut response, &mut parser).await?;
            }
            return Ok(OpenStream { protocol, response, parser: StreamParser::Sse(parser) });
        }
        let (status, body) = self.read(response).await?;
        Err(protocol.decode_error(status, &body).into())
    }

    /// Reads up to the first event and fails if that is a refusal. The event stays in the parser.
    async fn check_first_event(
        &self,
        protocol: Protocol,
        response: &mut HttpResponse,
        parser: &mut SseParser,
    ) -> Result<(), ClientError> {
        let mut copy = SseParser::new(self.options.max_event_bytes);
        while let Some(bytes) = response.chunk().await? {
            parser.push(&bytes)?;
            copy.push(&bytes)?;
            if let Some(data) = copy.next_event().and_then(|event| event.data) {
                protocol.decode_event(200, data.as_bytes())?;
                return Ok(());
            }
        }
        Ok(())
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
        Ok(self.net.send(request).await?)
    }

    async fn authentication<'a>(&'a self, endpoint: &'a Endpoint) -> Result<Authentication<'a>, ClientError> {
        match self.options.credential.as_deref().filter(|_| endpoint.sends_credential) {
            Some(source) => Authentication::new(source, &endpoint.url, Some(&self.security)).await,
            None => Ok(Authentication::none()),
        }
    }

    async fn read(&self, response: HttpResponse) -> Result<(u16, Vec<u8>), ClientError> {
        Ok((response.status(), response.read(self.options.max_response_bytes).await?))
    }

    /// The one message of a response.
    async fn read_grpc(
        &self,
        mut response: HttpResponse,
        protocol: Protocol,
    ) -> Result<(u16, Vec<u8>), ClientError> {
        if !grpc::is_grpc(&response) {
            grpc::end_of_call(&response, protocol)?;
            return Err(ClientError::Malformed { what: "the response is no gRPC".into() });
        }
        let mut frames = FrameParser::new(self.options.max_response_bytes);
        let mut message = None;
        while let Some(bytes) = response.chunk().await? {
            frames.push(&bytes);
            while let Some(next) = frames.next_message()? {
                message = Some(next);
            }
        }
        grpc::end_of_call(&response, protocol)?;
        let nothing = || ClientError::Malformed { what: "a gRPC response without a message".into() };
        Ok((200, message.ok_or_else(nothing)?))
    }
}

impl OpenStream {
    /// The next event; `None` at the end of the stream. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Option<ReceivedEvent>, ClientError> {
        loop {
            if let Some(event) = self.parsed()? {
                return Ok(Some(event));
            }
            match self.response.chunk().await? {
                Some(bytes) => match &mut self.parser {
                    StreamParser::Sse(parser) => parser.push(&bytes)?,
                    StreamParser::Grpc(parser) => parser.push(&bytes),
                },
                None => {
                    if matches!(self.parser, StreamParser::Grpc(_)) {
                        grpc::end_of_call(&self.response, self.protocol)?;
                    }
                    return Ok(None);
                }
            }
        }
    }

    fn parsed(&mut self) -> Result<Option<ReceivedEvent>, ClientError> {
        match &mut self.parser {
            StreamParser::Sse(parser) => {
                while let Some(received) = parser.next_event() {
                    let Some(data) = received.data else { continue };
                    let event = self.protocol.decode_event(200, data.as_bytes())?;
                    return Ok(Some(ReceivedEvent { event, id: received.id }));
                }
                Ok(None)
            }
            StreamParser::Grpc(parser) => {
                let Some(message) = parser.next_message()? else { return Ok(None) };
                let event = self.protocol.decode_event(200, &message)?;
                let id = event.cursor().map(str::to_owned);
                Ok(Some(ReceivedEvent { event, id }))
            }
        }
    }
}
