//! Calls an agent.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use attache_credentials::{CardSecurity, CredentialError, CredentialRequest, CredentialSource};
use attache_domain::{
    CALL_TO_CANCEL, CancelTask, GetTask, ListPushConfigs, ListTasks, Metadata, NewPushConfig, Operation,
    PushConfig, PushConfigOperation, PushShape, SendMessage, SubscribeTask, TaskId,
};
use attache_net::HttpClient;
use attache_wire::client::{
    DecodeError, DevelopmentToolOffer, Protocol, RemoteCard, RemotePushConfig, RemotePushConfigPage,
    RemoteTask, RemoteTaskPage,
};
use attache_wire::{Version, devtool, extensions, replay};
use serde_json::Value;

use crate::choice::{Choice, choose};
use crate::discovery::{self, CardSource};
use crate::endpoint::Endpoint;
use crate::exchange::{Exchange, OpenStream};
use crate::origin::{Origin, excerpt};
use crate::route::Routes;
use crate::sent_secrets::Hide;
use crate::{ClientError, ClientOptions, EventStream, OutgoingMessage, StreamEvent};

/// Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    exchange: Exchange,
    card: RemoteCard,
    routes: Routes,
    notices: Vec<String>,
}

impl Client {
    /// Reads the card of the agent at `address` and picks the first of its interfaces that this client speaks.
    ///
    /// `address` is the agent's address, or the URL of its card.
    pub async fn connect(address: &str, options: ClientOptions) -> Result<Self, ClientError> {
        Self::connect_to(&CardSource::Address(address.to_owned()), options).await
    }

    pub async fn connect_to(source: &CardSource, options: ClientOptions) -> Result<Self, ClientError> {
        let net = HttpClient::new(&options.net)?;
        let secrets = options.sent_secrets.clone();
        let mut found = discovery::find(&net, source, &options, &secrets).await?;
        let Choice { endpoints, notices } = choose(&found, &options).map_err(|error| secrets.hide(error))?;
        found.notices.extend(notices);
        let mut activated = options.extensions.clone();
        found.notices.extend(adopt_version(&mut activated, &found.card));
        let required = found.card.capabilities.extensions.iter().filter(|extension| extension.required);
        let missing = required.filter(|extension| !activated.contains(&extension.uri));
        let missing = missing.map(|extension| {
            format!("the agent wants the extension {}, which is not used here", extension.uri)
        });
        found.notices.extend(missing);
        for uri in [replay::URI, extensions::IDEMPOTENT_SEND] {
            if found.card.extension(uri).is_some() && !activated.iter().any(|known| known == uri) {
                activated.push(uri.to_owned());
            }
        }
        let security = found.security;
        let exchange = Exchange {
            net,
            options,
            extensions: activated.join(", "),
            security,
            secrets,
            gets_subscriptions: AtomicBool::new(false),
        };
        let routes = Routes::new(endpoints);
        let shared = Shared { exchange, card: found.card, routes, notices: found.notices };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub fn card(&self) -> &RemoteCard {
        &self.shared.card
    }

    /// What the card says about authentication.
    pub fn security(&self) -> &CardSecurity {
        &self.shared.exchange.security
    }

    /// What the caller should know about the card: origins that were not followed, signatures that do not hold.
    pub fn notices(&self) -> &[String] {
        &self.shared.notices
    }

    /// The protocol in use, and where.
    pub fn protocol(&self) -> Protocol {
        self.endpoint().protocol
    }

    pub fn url(&self) -> &str {
        self.endpoint().url.as_str()
    }

    /// Why calls do not go to the interface that the agent prefers, in a sentence: that one was not there, and nothing was
    /// accepted by it. Known after the first call.
    pub fn interface_change(&self) -> Option<&str> {
        self.shared.routes.change()
    }

    /// Where calls may go: the interface in use, and those that take its place if it is not there or refuses the version.
    pub fn origins(&self) -> Vec<Origin> {
        self.shared.routes.all().iter().map(|endpoint| Origin::of(&endpoint.url)).collect()
    }

    /// Asks `source` for the credential of a call, if there is one, and sends nothing to the agent. The error says why there
    /// is none.
    pub async fn check_credential(
        &self,
        source: Option<&dyn CredentialSource>,
    ) -> Result<(), CredentialError> {
        let Endpoint { url, sends_credential, .. } = self.endpoint();
        if let Some(source) = source.filter(|_| *sends_credential) {
            let security = Some(self.security());
            source.credential(CredentialRequest { target: url, refused: None, security }).await?;
        }
        Ok(())
    }

    /// Sends a message. The response is a [`StreamEvent::Task`] or a [`StreamEvent::Message`].
    ///
    /// With an agent that recognises repeated messages, a lost response is asked for again.
    pub async fn send(&self, message: OutgoingMessage) -> Result<StreamEvent, ClientError> {
        let send = SendMessage::from(message);
        match self.send_once(&send).await {
            Err(error) if error.is_transient() && self.recognises_messages() => self.send_again(send).await,
            result => result,
        }
    }

    async fn send_once(&self, send: &SendMessage) -> Result<StreamEvent, ClientError> {
        let event = self.call(&Operation::Send(send.clone()), Protocol::decode_event).await?;
        match (event.task_id(), &send.message.task) {
            (Some(named), Some(task)) if named != task => {
                Err(ClientError::other_task(named.as_str(), task.as_str()))
            }
            _ => Ok(event),
        }
    }

    /// Asks for the response to a message that may have arrived.
    async fn send_again(&self, send: SendMessage) -> Result<StreamEvent, ClientError> {
        if !self.shared.card.capabilities.streaming {
            return self.send_once(&send).await;
        }
        let is_immediate = send.configuration.return_immediately;
        let history_length = send.configuration.history_length;
        let mut events = EventStream::lost(self.clone(), send);
        while let Some(event) = events.next().await {
            let event = event?;
            let settled = event.status().is_some_and(|it| it.is_terminal() || it.is_interrupted());
            match event.task_id() {
                _ if matches!(event, StreamEvent::Message(_)) => return Ok(event),
                Some(task) if is_immediate || settled => {
                    let task = self.get(task.as_str(), history_length).await?;
                    return Ok(StreamEvent::Task(Box::new(task)));
                }
                _ => {}
            }
        }
        Err(ClientError::StreamLost { tries: 0, why: "before the response came".into() })
    }

    /// Sends a message and follows the task that works on it. From an agent that cannot stream, the task is fetched until
    /// it settles.
    pub async fn stream(&self, message: OutgoingMessage) -> Result<EventStream, ClientError> {
        let send = SendMessage::from(message);
        if !self.shared.card.capabilities.streaming {
            // The response may show the task as it was before the answer.
            let answered = match &send.message.task {
                Some(task) => self.get(task.as_str(), Some(0)).await.ok().map(|task| task.status),
                None => None,
            };
            let first = self.send_once(&send).await?;
            return Ok(EventStream::with_first(self.clone(), first, answered));
        }
        match self.open_stream(&Operation::Stream(send.clone()), None).await {
            Ok(open) => Ok(EventStream::new(self.clone(), None, None, open).answering(&send).repeating(send)),
            Err(error) if error.is_transient() && self.recognises_messages() => {
                Ok(EventStream::lost(self.clone(), send))
            }
            Err(error) => Err(error),
        }
    }

    pub async fn get(&self, task: &str, history_length: Option<usize>) -> Result<RemoteTask, ClientError> {
        let get = GetTask { task: TaskId::from(task), history_length, at: None };
        self.task(&Operation::Get(get), task).await
    }

    /// Calls, and gets `task` in the response.
    async fn task(&self, operation: &Operation, task: &str) -> Result<RemoteTask, ClientError> {
        let found = self.call(operation, Protocol::decode_task).await?;
        if found.id.as_str() == task {
            return Ok(found);
        }
        Err(ClientError::other_task(found.id.as_str(), task))
    }

    /// One page, the newest tasks first. 0.3 has no such request.
    pub async fn list(&self, list: ListTasks) -> Result<RemoteTaskPage, ClientError> {
        self.call(&Operation::List(list), Protocol::decode_page).await
    }

    pub async fn cancel(&self, task: &str) -> Result<RemoteTask, ClientError> {
        let cancel = CancelTask { task: TaskId::from(task), metadata: None };
        self.task(&Operation::Cancel(cancel), task).await
    }

    /// Cancels one call of a task of attache; the task goes on. Over gRPC this needs A2A 1.0: requests of 0.3 have no metadata.
    pub async fn cancel_call(&self, task: &str, call: &str) -> Result<RemoteTask, ClientError> {
        let metadata = Metadata::from_iter([(CALL_TO_CANCEL.to_owned(), call.into())]);
        let cancel = CancelTask { task: TaskId::from(task), metadata: Some(metadata) };
        self.task(&Operation::Cancel(cancel), task).await
    }

    /// Follows a task from the event after `after`, or from now on. With attache, `"0"` is its beginning.
    ///
    /// A finished task without an event after `after` is refused; see [`ClientError::is_finished`].
    pub async fn subscribe(&self, task: &str, after: Option<&str>) -> Result<EventStream, ClientError> {
        let task = TaskId::from(task);
        let open = self.resubscribe(&task, after).await?;
        Ok(EventStream::new(self.clone(), Some(task), after.map(str::to_owned), open))
    }

    /// Follows a task that was followed before, from the event after `after`, or from now on. Connects when it is read, and
    /// tries as often as after a cut. A task that is over is fetched.
    pub fn resume(&self, task: &str, after: Option<&str>) -> EventStream {
        EventStream::following(self.clone(), TaskId::from(task), after.map(str::to_owned))
    }

    /// Sends a message that may have arrived already, and follows its events from the beginning. `None` unless the agent
    /// streams and recognises it ([`Self::recognises_messages`]): any other would take it for a new one.
    pub fn resume_send(&self, message: OutgoingMessage) -> Option<EventStream> {
        let is_safe = self.shared.card.capabilities.streaming && self.recognises_messages();
        is_safe.then(|| EventStream::lost(self.clone(), message.into()))
    }

    /// Has the agent send what happens to a task to the URL in `config`.
    pub async fn create_push_config(
        &self,
        task: &str,
        config: PushConfig,
    ) -> Result<RemotePushConfig, ClientError> {
        let shape = match self.protocol().version() {
            Version::V0_3 => PushShape::WholeTask,
            Version::V1_0 => PushShape::EachUpdate,
        };
        let task = TaskId::from(task);
        let request = NewPushConfig { config: config.clone(), shape };
        let create = PushConfigOperation::Create { task: task.clone(), request };
        let created = self.call(&Operation::PushConfig(create), Protocol::decode_push_config).await;
        // Agents of 0.3 take one of two forms, and nothing tells which.
        let endpoint = self.endpoint();
        match (created, endpoint.protocol.encode_push_resource(&task, &config)) {
            (Err(error @ ClientError::Refused(_)), Some(encoded)) if !error.is_not_found() => {
                let request = endpoint.request_for(encoded)?;
                let response = self.shared.exchange.call_with(endpoint, request).await?;
                endpoint.protocol.decode_push_config(response.status, &response.body).map_err(|_| error)
            }
            (created, _) => created,
        }
    }

    pub async fn push_config(&self, task: &str, config: &str) -> Result<RemotePushConfig, ClientError> {
        let get = PushConfigOperation::Get { task: TaskId::from(task), config: Some(config.into()) };
        self.call(&Operation::PushConfig(get), Protocol::decode_push_config).await
    }

    /// One page; pass the token of a page to get the next one.
    pub async fn push_configs(
        &self,
        task: &str,
        page_token: &str,
    ) -> Result<RemotePushConfigPage, ClientError> {
        let list =
            ListPushConfigs { task: TaskId::from(task), page_size: None, page_token: page_token.to_owned() };
        let list = PushConfigOperation::List(list);
        self.call(&Operation::PushConfig(list), Protocol::decode_push_configs).await
    }

    pub async fn delete_push_config(&self, task: &str, config: &str) -> Result<(), ClientError> {
        let delete = PushConfigOperation::Delete { task: TaskId::from(task), config: config.into() };
        self.call(&Operation::PushConfig(delete), Protocol::decode_nothing).await
    }

    /// The card for callers that the agent knows. This client goes on with the public one.
    pub async fn extended_card(&self) -> Result<RemoteCard, ClientError> {
        match self.extended_card_document().await? {
            Value::Object(document) => discovery::read(&document),
            _ => Err(ClientError::Malformed { what: "its extended card is no object".into() }),
        }
    }

    /// The same in the form that the agent gave it.
    pub async fn extended_card_document(&self) -> Result<Value, ClientError> {
        self.call(&Operation::ExtendedCard, Protocol::decode_card).await
    }

    pub(crate) async fn resubscribe(
        &self,
        task: &TaskId,
        after: Option<&str>,
    ) -> Result<OpenStream, ClientError> {
        self.open_stream(&Operation::Subscribe(SubscribeTask::to(task.clone())), after).await
    }

    pub(crate) async fn open_stream(
        &self,
        operation: &Operation,
        after: Option<&str>,
    ) -> Result<OpenStream, ClientError> {
        let mut route = self.shared.routes.begin();
        loop {
            let opened = self.shared.exchange.open_stream(route.endpoint(), operation, after).await;
            if let ControlFlow::Break(end) = route.tried(opened) {
                return end;
            }
        }
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.shared.exchange.options
    }

    /// The agent recognises a message that it has received already: it offers the replay or the idempotent-send extension.
    pub fn recognises_messages(&self) -> bool {
        self.replays_events() || self.shared.card.extension(extensions::IDEMPOTENT_SEND).is_some()
    }

    /// The agent shows events again: it offers the replay extension.
    pub fn replays_events(&self) -> bool {
        let capabilities = &self.shared.card.capabilities;
        capabilities.streaming && self.shared.card.extension(replay::URI).is_some()
    }

    pub(crate) async fn call<T: Hide>(
        &self,
        operation: &Operation,
        decode: impl Fn(Protocol, u16, &[u8]) -> Result<T, DecodeError>,
    ) -> Result<T, ClientError> {
        let mut route = self.shared.routes.begin();
        loop {
            let called = self.call_at(route.endpoint(), operation, &decode).await;
            if let ControlFlow::Break(end) = route.tried(called) {
                return end;
            }
        }
    }

    async fn call_at<T: Hide>(
        &self,
        endpoint: &Endpoint,
        operation: &Operation,
        decode: &impl Fn(Protocol, u16, &[u8]) -> Result<T, DecodeError>,
    ) -> Result<T, ClientError> {
        let exchange = &self.shared.exchange;
        let result = match exchange.call(endpoint, operation).await {
            Ok(response) => {
                let decode = |body: &[u8]| decode(endpoint.protocol, response.status, body);
                exchange.secrets.decode(&response.body, decode).map_err(Into::into)
            }
            Err(error) => Err(error),
        };
        result.map(|value| exchange.secrets.hide(value)).map_err(|error| exchange.secrets.hide(error))
    }

    fn endpoint(&self) -> &Endpoint {
        self.shared.routes.current()
    }
}

/// Asks for the development-tool extension in the agent's version. Another major version is not asked for; the returned
/// text says so.
fn adopt_version(extensions: &mut Vec<String>, card: &RemoteCard) -> Option<String> {
    let is_asked = |uri: &String| devtool::devtool_version(uri).is_some();
    match card.development_tool() {
        DevelopmentToolOffer::Understood { uri } => {
            extensions.iter_mut().filter(|asked| is_asked(asked)).for_each(|asked| uri.clone_into(asked));
            None
        }
        DevelopmentToolOffer::OtherVersion { version } if extensions.iter().any(is_asked) => {
            extensions.retain(|asked| !is_asked(asked));
            Some(other_version(version))
        }
        DevelopmentToolOffer::OtherVersion { .. } | DevelopmentToolOffer::None => None,
    }
}

pub(crate) fn other_version(version: &str) -> String {
    format!(
        "the agent offers the development-tool extension in version {}, and only version 0 is understood here, so it is not used",
        excerpt(version)
    )
}
