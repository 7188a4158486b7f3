//! Calls an agent.

use std::sync::Arc;

use attache_net::{BaseUrl, HttpRequest, HttpResponse, NetError, Secret, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::binding::Endpoint;
use crate::error::MAX_TEXT_BYTES;
use crate::request::{Call, Method};
use crate::sse::SseParser;
use crate::{
    AgentCard, AgentInterface, ClientError, Event, EventStream, ListTasks, REPLAY, SendMessage, Task,
    TaskPage,
};

#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Presented as a bearer token, at the named address only.
    pub token: Option<Secret>,
    /// URIs of the extensions to speak, named in every call. An agent that does not know one passes over it, so look at
    /// [`AgentCard::extension`] for what it offers.
    pub extensions: Vec<String>,
    /// Bytes of one answer.
    pub most_answer: usize,
    /// Bytes of one event of a stream.
    pub most_event: usize,
    /// How often in a row a stream tries to come back after a cut; the pauses grow up to three seconds.
    pub tries: u32,
    pub net: attache_net::HttpClientOptions,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            token: None,
            extensions: Vec::new(),
            most_answer: 64 << 20,
            most_event: 16 << 20,
            tries: 40,
            net: attache_net::HttpClientOptions::default(),
        }
    }
}

const MAX_CARD_BYTES: usize = 1 << 20;
const CARD_PATH: &str = ".well-known/agent-card.json";
const VERSION: (&str, &str) = ("A2A-Version", "1.0");
const EXTENSIONS: &str = "A2A-Extensions";

/// Cheap to copy; copies share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    net: attache_net::HttpClient,
    card: AgentCard,
    endpoint: Endpoint,
    options: ClientOptions,
    /// Asked for with every call.
    extensions: String,
}

impl Client {
    /// Reads the card of the agent at `address` and picks the first of its interfaces that is spoken here.
    pub async fn connect(address: &str, options: ClientOptions) -> Result<Self, ClientError> {
        let base = BaseUrl::parse(address)?;
        let net = attache_net::HttpClient::new(&options.net)?;
        let request = HttpRequest::get(base.join(CARD_PATH, None)?).header(VERSION.0, VERSION.1)?;
        let answer = net.send(with_token(request, options.token.as_ref())?).await?;
        let (status, body) = (answer.status(), answer.read(MAX_CARD_BYTES).await?);
        if status != 200 {
            return Err(status_error(status, &body));
        }
        let card: AgentCard = serde_json::from_slice(&body)
            .map_err(|error| ClientError::Malformed { what: format!("its card: {error}") })?;
        let (interface, binding) = card.choose()?;
        let url = check_origin(&base, interface)?;
        let endpoint = Endpoint { binding, url, tenant: interface.tenant.clone() };
        let mut extensions = options.extensions.clone();
        if card.extension(REPLAY).is_some() && !extensions.iter().any(|uri| uri == REPLAY) {
            extensions.push(REPLAY.to_owned());
        }
        let extensions = extensions.join(", ");
        Ok(Self { shared: Arc::new(Shared { net, card, endpoint, options, extensions }) })
    }

    pub fn card(&self) -> &AgentCard {
        &self.shared.card
    }

    /// Sends a message. The answer is an [`Event::Task`] or an [`Event::Message`].
    pub async fn send(&self, send: SendMessage) -> Result<Event, ClientError> {
        self.call(Call::send(&send)).await
    }

    /// Sends a message and follows what comes of it.
    pub async fn stream(&self, send: SendMessage) -> Result<EventStream, ClientError> {
        let answer = self.open_stream(Call::stream(&send), None).await?;
        Ok(EventStream::new(self.clone(), None, answer))
    }

    pub async fn get(&self, task: &str, history_length: Option<u32>) -> Result<Task, ClientError> {
        self.call(Call::about(Method::Get, task, history_length)).await
    }

    /// One page, the newest tasks first.
    pub async fn list(&self, list: &ListTasks) -> Result<TaskPage, ClientError> {
        self.call(Call::list(list)).await
    }

    pub async fn cancel(&self, task: &str) -> Result<Task, ClientError> {
        self.call(Call::about(Method::Cancel, task, None)).await
    }

    /// Follows a task: from the event after `after` on, or from now on. With attache, `"0"` is its beginning.
    ///
    /// A task that is over, with nothing after `after`, is refused; see [`ClientError::is_finished`].
    pub async fn subscribe(&self, task: &str, after: Option<&str>) -> Result<EventStream, ClientError> {
        let answer = self.open_stream(Call::about(Method::Subscribe, task, None), after).await?;
        Ok(EventStream::new(self.clone(), Some((task.to_owned(), after.map(str::to_owned))), answer))
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.shared.options
    }

    /// Takes the envelope off an item of a stream.
    pub(crate) fn decode_item(&self, data: &str) -> Result<Event, ClientError> {
        let body = serde_json::from_str(data).map_err(malformed)?;
        let item = self.shared.endpoint.open(200, body)?;
        serde_json::from_value(item).map_err(malformed)
    }

    pub(crate) async fn open_stream(
        &self,
        call: Call,
        after: Option<&str>,
    ) -> Result<(HttpResponse, SseParser), ClientError> {
        let mut request = self.shared.endpoint.request(call)?.header("accept", "text/event-stream")?;
        if let Some(after) = after {
            request = request.header("last-event-id", after)?;
        }
        let mut answer = self.exchange(request).await?;
        let is_stream =
            answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if answer.status() == 200 && is_stream {
            let mut parser = SseParser::new(self.shared.options.most_event);
            // A stream that is whole already may be a refusal in the form of one event.
            if answer.header("content-length").is_some() {
                self.read_first_event(&mut answer, &mut parser).await?;
            }
            return Ok((answer, parser));
        }
        match self.read(answer).await {
            Ok(_) => Err(ClientError::Malformed { what: "an answer where a stream was due".into() }),
            Err(error) => Err(error),
        }
    }

    /// Reads up to the first event, which stays in the parser, unless that is a refusal.
    async fn read_first_event(
        &self,
        answer: &mut HttpResponse,
        parser: &mut SseParser,
    ) -> Result<(), ClientError> {
        let mut copy = SseParser::new(self.shared.options.most_event);
        let too_large = |_| ClientError::Malformed { what: "an event is too large".into() };
        while let Some(bytes) = answer.chunk().await? {
            parser.push(&bytes).map_err(too_large)?;
            copy.push(&bytes).map_err(too_large)?;
            if let Some(frame) = copy.next_event() {
                return self.decode_item(&frame.data).map(|_| ());
            }
        }
        Ok(())
    }

    async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, ClientError> {
        let answer = self.exchange(self.shared.endpoint.request(call)?).await?;
        serde_json::from_value(self.read(answer).await?).map_err(malformed)
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, ClientError> {
        let options = &self.shared.options;
        // Also when there are none: an agent that remembers how a task was begun is told that this client does not know it.
        let request = request.header(VERSION.0, VERSION.1)?.header(EXTENSIONS, &self.shared.extensions)?;
        let request = with_token(request, options.token.as_ref())?;
        Ok(self.shared.net.send(request).await?)
    }

    async fn read(&self, answer: HttpResponse) -> Result<Value, ClientError> {
        let (status, body) = (answer.status(), answer.read(self.shared.options.most_answer).await?);
        match serde_json::from_slice(&body) {
            Ok(value) => self.shared.endpoint.open(status, value),
            Err(error) if status == 200 => Err(malformed(error)),
            Err(_) => Err(status_error(status, &body)),
        }
    }
}

fn with_token(request: HttpRequest, token: Option<&Secret>) -> Result<HttpRequest, NetError> {
    match token {
        Some(token) => request.secret_header("authorization", "Bearer ", token),
        None => Ok(request),
    }
}

/// The path that the card names, at the address that was named to us: a card that points elsewhere, whether by
/// malice or because the agent does not know its own address, takes neither the caller nor the token there.
fn check_origin(base: &BaseUrl, interface: &AgentInterface) -> Result<Url, ClientError> {
    let claimed = Url::parse(&interface.url)
        .map_err(|_| ClientError::Malformed { what: "the interface in its card has no URL".into() })?;
    let mut url = base.join("", None)?;
    url.set_path(claimed.path());
    Ok(url)
}

/// An answer that does not speak A2A.
fn status_error(status: u16, body: &[u8]) -> ClientError {
    let text: String = String::from_utf8_lossy(body).chars().take(MAX_TEXT_BYTES).collect();
    if status == 401 {
        return ClientError::Unauthenticated { message: "it gave no reason".into() };
    }
    ClientError::Status { status, text }
}

fn malformed(error: serde_json::Error) -> ClientError {
    ClientError::Malformed { what: error.to_string() }
}
