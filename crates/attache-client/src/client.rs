//! Calls an agent.

use std::sync::Arc;

use attache_domain::{CancelTask, GetTask, ListTasks, Operation, SubscribeTask, TaskId};
use attache_net::sse::SseParser;
use attache_net::{BaseUrl, HttpClient, HttpClientOptions, HttpRequest, HttpResponse, NetError, Secret};
use attache_wire::client::{CARD_PATH, Protocol, RemoteCard, RemoteInterface, RemoteTask, RemoteTaskPage};
use attache_wire::{Version, extensions, replay, version};

use crate::endpoint::Endpoint;
use crate::{ClientError, EventStream, OutgoingMessage, StreamEvent};

#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Sent as a bearer token, to the given address only.
    pub token: Option<Secret>,
    /// URIs of the extensions to activate with every request. An agent ignores those that it does not know;
    /// [`RemoteCard::extension`] tells which ones it offers.
    pub extensions: Vec<String>,
    pub max_response_bytes: usize,
    /// For one event of a stream.
    pub max_event_bytes: usize,
    /// How often in a row a stream reconnects after a cut; the delays grow up to three seconds.
    pub max_retries: u32,
    pub net: HttpClientOptions,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            token: None,
            extensions: Vec::new(),
            max_response_bytes: 64 << 20,
            max_event_bytes: 16 << 20,
            max_retries: 40,
            net: HttpClientOptions::default(),
        }
    }
}

const MAX_CARD_BYTES: usize = 1 << 20;
/// The version that this client speaks.
const VERSION: Version = Version::V1_0;

/// Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    net: HttpClient,
    card: RemoteCard,
    endpoint: Endpoint,
    options: ClientOptions,
    /// The header that activates extensions.
    extensions: String,
}

impl Client {
    /// Reads the card of the agent at `address` and picks the first of its interfaces that this client speaks.
    pub async fn connect(address: &str, options: ClientOptions) -> Result<Self, ClientError> {
        let base = BaseUrl::parse(address)?;
        let net = HttpClient::new(&options.net)?;
        let request = HttpRequest::get(base.join(CARD_PATH, None)?);
        let request = request.header(version::HEADER_NAME, VERSION.as_str())?;
        let response = net.send(with_token(request, options.token.as_ref())?).await?;
        let (status, body) = (response.status(), response.read(MAX_CARD_BYTES).await?);
        if status != 200 {
            return Err(ClientError::from_status(status, &body));
        }
        let card = RemoteCard::parse(&body)
            .map_err(|error| ClientError::Malformed { what: format!("its card: {error}") })?;
        let (interface, protocol) = choose(&card)?;
        let endpoint = Endpoint::new(&base, interface, protocol)?;
        let mut extensions = options.extensions.clone();
        if card.extension(replay::URI).is_some() && !extensions.iter().any(|uri| uri == replay::URI) {
            extensions.push(replay::URI.to_owned());
        }
        let extensions = extensions.join(", ");
        Ok(Self { shared: Arc::new(Shared { net, card, endpoint, options, extensions }) })
    }

    pub fn card(&self) -> &RemoteCard {
        &self.shared.card
    }

    /// Sends a message. The response is a [`StreamEvent::Task`] or a [`StreamEvent::Message`].
    pub async fn send(&self, message: OutgoingMessage) -> Result<StreamEvent, ClientError> {
        let (status, body) = self.call(&Operation::Send(message.into())).await?;
        Ok(self.protocol().decode_event(status, &body)?)
    }

    /// Sends a message and follows the task that works on it.
    pub async fn stream(&self, message: OutgoingMessage) -> Result<EventStream, ClientError> {
        let response = self.open_stream(&Operation::Stream(message.into()), None).await?;
        Ok(EventStream::new(self.clone(), None, None, response))
    }

    pub async fn get(&self, task: &str, history_length: Option<usize>) -> Result<RemoteTask, ClientError> {
        let get = GetTask { task: TaskId::from(task), history_length, at: None };
        let (status, body) = self.call(&Operation::Get(get)).await?;
        Ok(self.protocol().decode_task(status, &body)?)
    }

    /// One page, the newest tasks first.
    pub async fn list(&self, list: ListTasks) -> Result<RemoteTaskPage, ClientError> {
        let (status, body) = self.call(&Operation::List(list)).await?;
        Ok(self.protocol().decode_page(status, &body)?)
    }

    pub async fn cancel(&self, task: &str) -> Result<RemoteTask, ClientError> {
        let cancel = CancelTask { task: TaskId::from(task), metadata: None };
        let (status, body) = self.call(&Operation::Cancel(cancel)).await?;
        Ok(self.protocol().decode_task(status, &body)?)
    }

    /// Follows a task from the event after `after`, or from now on. With attache, `"0"` is its beginning.
    ///
    /// A finished task without an event after `after` is refused; see [`ClientError::is_finished`].
    pub async fn subscribe(&self, task: &str, after: Option<&str>) -> Result<EventStream, ClientError> {
        let task = TaskId::from(task);
        let response = self.resubscribe(&task, after).await?;
        Ok(EventStream::new(self.clone(), Some(task), after.map(str::to_owned), response))
    }

    pub(crate) async fn resubscribe(
        &self,
        task: &TaskId,
        after: Option<&str>,
    ) -> Result<(HttpResponse, SseParser), ClientError> {
        self.open_stream(&Operation::Subscribe(SubscribeTask::to(task.clone())), after).await
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.shared.options
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.shared.endpoint.protocol
    }

    async fn open_stream(
        &self,
        operation: &Operation,
        after: Option<&str>,
    ) -> Result<(HttpResponse, SseParser), ClientError> {
        let mut request = self.shared.endpoint.request(operation)?.header("accept", "text/event-stream")?;
        if let Some(after) = after {
            request = request.header("last-event-id", after)?;
        }
        let mut response = self.exchange(request).await?;
        let is_stream =
            response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if response.status() == 200 && is_stream {
            let mut parser = SseParser::new(self.shared.options.max_event_bytes);
            // A stream of known length may be a refusal in the form of one event.
            if response.header("content-length").is_some() {
                self.check_first_event(&mut response, &mut parser).await?;
            }
            return Ok((response, parser));
        }
        let (status, body) = self.read(response).await?;
        Err(self.protocol().decode_error(status, &body).into())
    }

    /// Reads up to the first event and fails if that is a refusal. The event stays in the parser.
    async fn check_first_event(
        &self,
        response: &mut HttpResponse,
        parser: &mut SseParser,
    ) -> Result<(), ClientError> {
        let mut copy = SseParser::new(self.shared.options.max_event_bytes);
        while let Some(bytes) = response.chunk().await? {
            parser.push(&bytes)?;
            copy.push(&bytes)?;
            if let Some(data) = copy.next_event().and_then(|event| event.data) {
                self.protocol().decode_event(200, data.as_bytes())?;
                return Ok(());
            }
        }
        Ok(())
    }

    async fn call(&self, operation: &Operation) -> Result<(u16, Vec<u8>), ClientError> {
        let response = self.exchange(self.shared.endpoint.request(operation)?).await?;
        self.read(response).await
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, ClientError> {
        // Sent even when empty: an agent that remembers a task's extensions learns that this client uses none.
        let request = request
            .header(version::HEADER_NAME, VERSION.as_str())?
            .header(extensions::header_name(VERSION), &self.shared.extensions)?;
        let request = with_token(request, self.shared.options.token.as_ref())?;
        Ok(self.shared.net.send(request).await?)
    }

    async fn read(&self, response: HttpResponse) -> Result<(u16, Vec<u8>), ClientError> {
        Ok((response.status(), response.read(self.shared.options.max_response_bytes).await?))
    }
}

fn with_token(request: HttpRequest, token: Option<&Secret>) -> Result<HttpRequest, NetError> {
    match token {
        Some(token) => request.secret_header("authorization", "Bearer ", token),
        None => Ok(request),
    }
}

/// The agent's favourite among the interfaces that this client speaks.
pub(crate) fn choose(card: &RemoteCard) -> Result<(&RemoteInterface, Protocol), ClientError> {
    let spoken =
        |interface: &RemoteInterface| interface.protocol().filter(|protocol| protocol.version() == VERSION);
    let chosen = card.supported_interfaces.iter().find_map(|it| Some((it, spoken(it)?)));
    chosen.ok_or_else(|| {
        let named = |it: &RemoteInterface| format!("{} {}", it.protocol_binding, it.protocol_version);
        let offered: Vec<_> = card.supported_interfaces.iter().take(8).map(named).collect();
        let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
        ClientError::NoInterface { offered: offered.chars().take(400).collect() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(binding: &str, version: &str) -> RemoteInterface {
        RemoteInterface {
            url: "http://127.0.0.1/".into(),
            protocol_binding: binding.into(),
            protocol_version: version.into(),
            tenant: None,
        }
    }

    #[track_caller]
    fn check(offered: &[(&str, &str)], expected: Option<usize>) {
        let mut card = RemoteCard::parse(b"{}").unwrap();
        card.supported_interfaces = offered.iter().map(|(name, version)| interface(name, version)).collect();
        let chosen = choose(&card).ok().map(|(chosen, _)| chosen);
        assert_eq!(chosen, expected.map(|index| &card.supported_interfaces[index]), "{offered:?}");
    }

    #[test]
    fn the_first_interface_that_is_spoken_is_chosen() {
        check(&[("GRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "1.0")], Some(1));
        check(&[("JSONRPC", "0.3"), ("JSONRPC", "1.0")], Some(1));
        check(&[("JSONRPC", "1.0.3")], Some(0));
        check(&[("JSONRPC", "1.1"), ("GRPC", "1.0")], None);
        check(&[], None);
    }
}
