//! Carries push notifications: spells them as the version that asked does, and posts them.
//!
//! Where they may go is looked at when a configuration is kept and again at every try. Redirects are not followed. What
//! is secret in a configuration goes into headers marked so, and into no log.

mod address;
pub(crate) mod fuzz;
mod response;
mod signature;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{PushAuthentication, PushConfig, PushShape, TaskId};
use attache_net::{
    AddressRules, HttpClient, HttpClientOptions, HttpRequest, NetError, Proxy, Resolver, Secret, Url,
};
use attache_session::{DeliveryResult, PushConfigError, PushDelivery, PushPayload, PushSender, TailEntry};
use attache_wire::Dialect;
use attache_wire::devtool::{DevtoolFrame, Profile};
use attache_wire::encode;
use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::handler::shape;
use signature::Signer;

/// What a courier is told by whoever starts it.
#[derive(Debug, Clone)]
pub struct PushSenderOptions {
    /// Hosts, addresses and networks that may be told although they are not public.
    pub allow: Vec<String>,
    /// Whether public places may be told without TLS.
    pub allow_http: bool,
    /// How long one try may take.
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

/// For looking up a name when a configuration is kept.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

impl HttpPushSender {
    pub fn new(options: PushSenderOptions) -> Result<Self, NetError> {
        let PushSenderOptions { allow, allow_http, timeout, signing_key, resolver } = options;
        let rules = allow.iter().try_fold(AddressRules::public_only(), |rules, place| rules.allow(place))?;
        let client = HttpClient::new(&HttpClientOptions {
            connect_timeout: timeout.min(Duration::from_secs(10)),
            idle_timeout: timeout,
            proxy: Proxy::Never,
            addresses: rules.clone(),
            resolver,
            ..HttpClientOptions::default()
        })?;
        let signer = signing_key.as_ref().map(Signer::new);
        Ok(Self { client, rules, allow_http, timeout, signer })
    }

    /// The request for a parcel; an error when it cannot be sent as it is.
    async fn request(&self, parcel: &PushDelivery) -> Result<HttpRequest, NetError> {
        let PushDelivery { task, config, seq, shape, body } = parcel;
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

    async fn post(&self, parcel: &PushDelivery) -> DeliveryResult {
        let failed = |error: &NetError| DeliveryResult::Failed {
            why: address::describe_error(error),
            retry_after: None,
        };
        let request = match self.request(parcel).await {
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

    fn encode(&self, notice: &PushPayload<'_>) -> Bytes {
        let mut out = Vec::with_capacity(512);
        match notice {
            PushPayload::Task(view) => {
                let shape = shape(None, Profile::from_ending(view.progress.ending));
                encode::write_task(Dialect::V0_3Rpc, view, shape, &mut out);
            }
            PushPayload::Update { task, context, ending, entry } => {
                let profile = Profile::from_ending(*ending);
                let shown = entry.devtool_event().filter(|happening| profile.shows(happening));
                match (shown, entry.update()) {
                    (Some(happening), _) => {
                        let occasion = devtool_frame(task, context, entry, happening);
                        profile.write(Dialect::V1_0, &occasion, &mut out);
                    }
                    (None, Some(update)) => {
                        encode::write_update(Dialect::V1_0, task, context, &update, &mut out)
                    }
                    (None, None) => {}
                }
            }
        }
        out.into()
    }

    async fn deliver(&self, parcel: &PushDelivery) -> DeliveryResult {
        let silent = |_| {
            let why = format!("it took longer than {} s", self.timeout.as_secs());
            DeliveryResult::Failed { why, retry_after: None }
        };
        tokio::time::timeout(self.timeout, self.post(parcel)).await.unwrap_or_else(silent)
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
            // A name that nobody knows yet: it is looked up again whenever something is sent.
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
    happening: attache_domain::DevtoolEvent<'a>,
) -> DevtoolFrame<'a> {
    let (seq, at) = (entry.event.seq, entry.event.at);
    DevtoolFrame { task, context, seq, at, stage: entry.stage(), cast: entry.call_records(), happening }
}

/// The first scheme, as 0.3 may name several; nothing without credentials.
fn credentials(authentication: &PushAuthentication) -> Option<(&str, &str)> {
    Some((authentication.schemes.first()?, authentication.credentials.as_deref()?))
}

/// Names a notification: the same for every try, another for every other.
fn event_id(task: &TaskId, config: &PushConfig, seq: u64) -> String {
    const ENCODED: &AsciiSet = &CONTROLS.add(b'%').add(b'/').add(b' ');
    let config = utf8_percent_encode(config.id.as_str(), ENCODED);
    format!("{task}/{config}/{seq}")
}

impl fmt::Debug for HttpPushSender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpCourier").field("client", &self.client).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "courier_tests.rs"]
mod tests;
