//! Encodes push notifications in the version of the client that configured them, and posts them.
//!
//! The address is checked when a configuration is stored and again before every attempt. Redirects are not followed.
//! Secrets of a configuration go into headers marked as sensitive, and never into a log.

mod address;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod response;
mod signature;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{PushAuthentication, PushConfig, PushShape, TaskId};
use attache_net::{
    AddressRules, HttpClient, HttpClientOptions, HttpRequest, NetError, Resolver, Secret, Url,
};
use attache_session::{DeliveryResult, PushConfigError, PushDelivery, PushPayload, PushSender, TailEntry};
use attache_wire::JsonForm;
use attache_wire::devtool::{DevtoolFrame, Dialect};
use attache_wire::encode;
use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::operations::shape;
use signature::Signer;

/// The options of a push sender.
#[derive(Debug, Clone)]
pub struct PushSenderOptions {
    /// Hosts, addresses and networks that are allowed although they are not public.
    pub allow: Vec<String>,
    /// Allows plain HTTP to public addresses.
    pub allow_http: bool,
    /// For one attempt.
    pub timeout: Duration,
    /// Signs every notification.
    pub signing_key: Option<Secret>,
    pub resolver: Arc<dyn Resolver>,
}

/// Posts notifications over HTTP.
pub struct HttpPushSender {
    client: HttpClient,
    rules: AddressRules,
    allow_http: bool,
    timeout: Duration,
    signer: Option<Signer>,
}

/// For the DNS lookup when a configuration is stored.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

impl HttpPushSender {
    pub fn new(options: PushSenderOptions) -> Result<Self, NetError> {
        let PushSenderOptions { allow, allow_http, timeout, signing_key, resolver } = options;
        let rules = allow.iter().try_fold(AddressRules::public_only(), |rules, place| rules.allow(place))?;
        let client = HttpClient::new(&HttpClientOptions {
            connect_timeout: timeout.min(Duration::from_secs(10)),
            idle_timeout: timeout,
            addresses: rules.clone(),
            resolver,
            ..HttpClientOptions::default()
        })?;
        let signer = signing_key.as_ref().map(Signer::new);
        Ok(Self { client, rules, allow_http, timeout, signer })
    }

    /// The request of a delivery; an error when it may not be sent.
    async fn request(&self, delivery: &PushDelivery) -> Result<HttpRequest, NetError> {
        let PushDelivery { task, config, seq, shape, body } = delivery;
        let url = address::read(&config.url).map_err(|what| NetError::Address { what })?;
        if url.scheme() == "http" && !self.allow_http && !self.all_named(&url).await? {
            return Err(NetError::Address { what: "http is for places that the operator has named".into() });
        }
        let media_type = match shape {
            PushShape::WholeTask => "application/json",
            PushShape::EachUpdate => "application/a2a+json",
        };
        let mut request = HttpRequest::post_json(url, body.clone())
            .header("content-type", media_type)?
            .header("a2a-event-id", &event_id(task, config, seq.0))?
            .header("a2a-event-seq", &seq.to_string())?;
        if let Some(token) = &config.token {
            request = request.secret_header("x-a2a-notification-token", "", &Secret::new(token.as_str()))?;
        }
        if let Some((scheme, credentials)) = config.authentication.as_ref().and_then(credentials) {
            let prefix = format!("{scheme} ");
            request = request.secret_header("authorization", &prefix, &Secret::new(credentials))?;
        }
        match &self.signer {
            Some(signer) => request.header(signature::HEADER, &signer.sign(jiff::Timestamp::now(), body)),
            None => Ok(request),
        }
    }

    async fn all_named(&self, url: &Url) -> Result<bool, NetError> {
        let host = url.host_str().unwrap_or_default();
        let addresses = self.client.resolve_addresses(url).await?;
        Ok(addresses.iter().all(|address| self.rules.is_named(host, *address)))
    }

    async fn post(&self, delivery: &PushDelivery) -> DeliveryResult {
        let failed = |error: &NetError| DeliveryResult::Failed {
            why: address::describe_error(error),
            retry_after: None,
        };
        let request = match self.request(delivery).await {
            Ok(request) => request,
            Err(error) => return failed(&error),
        };
        match self.client.send(request).await {
            Ok(answer) => response::read(answer).await,
            Err(error) => failed(&error),
        }
    }
}

#[async_trait]
impl PushSender for HttpPushSender {
    async fn check(&self, config: &PushConfig) -> Result<(), PushConfigError> {
        self.check_config(config).await
    }

    fn encode(&self, payload: &PushPayload<'_>) -> Bytes {
        let mut out = Vec::with_capacity(512);
        match payload {
            PushPayload::Task(view) => {
                let shape = shape(None, Dialect::from_ending(view.progress.ending));
                encode::write_task(JsonForm::V0_3Rpc, view, shape, &mut out);
            }
            PushPayload::Update { task, context, ending, entry } => {
                let dialect = Dialect::from_ending(*ending);
                let shown = entry.devtool_event().filter(|event| dialect.shows(event));
                match (shown, entry.update()) {
                    (Some(event), _) => {
                        let frame = devtool_frame(task, context, entry, event);
                        dialect.write(JsonForm::V1_0, &frame, &mut out);
                    }
                    (None, Some(update)) => {
                        encode::write_update(JsonForm::V1_0, task, context, &update, &mut out)
                    }
                    (None, None) => {}
                }
            }
        }
        out.into()
    }

    async fn deliver(&self, delivery: &PushDelivery) -> DeliveryResult {
        let silent = |_| {
            let why = format!("it took longer than {} s", self.timeout.as_secs());
            DeliveryResult::Failed { why, retry_after: None }
        };
        tokio::time::timeout(self.timeout, self.post(delivery)).await.unwrap_or_else(silent)
    }
}

impl HttpPushSender {
    async fn check_config(&self, config: &PushConfig) -> Result<(), PushConfigError> {
        let unfit = |why: String| PushConfigError { field: "url", why };
        let url = address::read(&config.url).map_err(unfit)?;
        let found = tokio::time::timeout(LOOKUP_TIMEOUT, self.client.resolve_addresses(&url)).await;
        let named = match found {
            Ok(Ok(addresses)) => {
                let host = url.host_str().unwrap_or_default();
                addresses.iter().all(|address| self.rules.is_named(host, *address))
            }
            Ok(Err(error @ NetError::Address { .. })) => return Err(unfit(address::refused(&url, &error))),
            // An unknown name is looked up again at every attempt.
            Ok(Err(_)) | Err(_) => false,
        };
        if url.scheme() == "http" && !self.allow_http && !named {
            let why = "must begin with https://; the operator can allow http:// for a place with the setting \
                       `push.allow_private_addresses`, and for all with `push.allow_http`";
            return Err(unfit(why.into()));
        }
        let has_secret =
            config.token.is_some() || config.authentication.as_ref().and_then(credentials).is_some();
        if has_secret && !address::may_receive_secrets(&url) {
            return Err(unfit(
                "must begin with https://: a token or credential is not sent in the clear".into(),
            ));
        }
        Ok(())
    }
}

fn devtool_frame<'a>(
    task: &'a TaskId,
    context: &'a attache_domain::ContextId,
    entry: &'a TailEntry,
    event: attache_domain::DevtoolEvent<'a>,
) -> DevtoolFrame<'a> {
    let (seq, at) = (entry.event.seq, entry.event.at);
    DevtoolFrame { task, context, seq, at, stage: entry.stage(), call_records: entry.call_records(), event }
}

/// The first scheme, because 0.3 may name several; none without credentials.
fn credentials(authentication: &PushAuthentication) -> Option<(&str, &str)> {
    Some((authentication.schemes.first()?, authentication.credentials.as_deref()?))
}

/// Identifies a notification: the same for every attempt.
fn event_id(task: &TaskId, config: &PushConfig, seq: u64) -> String {
    const ENCODED: &AsciiSet = &CONTROLS.add(b'%').add(b'/').add(b' ');
    let config = utf8_percent_encode(config.id.as_str(), ENCODED);
    format!("{task}/{config}/{seq}")
}

impl fmt::Debug for HttpPushSender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpPushSender").field("client", &self.client).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "push_sender_tests.rs"]
mod tests;
