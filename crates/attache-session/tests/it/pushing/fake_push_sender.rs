//! A sender that keeps what it is given and answers as planned.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::*;
use attache_session::*;
use attache_store::Stores;
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::world::{Act, Actor, options, scope};

pub(crate) struct FakePushSender {
    /// What each configuration's receiver answers next; then it takes everything.
    plans: Mutex<HashMap<String, VecDeque<DeliveryResult>>>,
    pub(crate) delivered: Mutex<Vec<Delivered>>,
    /// When set, a notification is only taken with a permit.
    pub(crate) gate: Option<Semaphore>,
    pub(crate) tries: Mutex<Vec<(String, u64, Duration)>>,
    started: Instant,
}

/// One notification that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub(crate) config: String,
    pub(crate) url: String,
    pub(crate) seq: u64,
    pub(crate) body: String,
}

impl FakePushSender {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_gate(None)
    }

    pub(crate) fn gated() -> Arc<Self> {
        Self::with_gate(Some(Semaphore::new(0)))
    }

    fn with_gate(gate: Option<Semaphore>) -> Arc<Self> {
        Arc::new(Self {
            plans: Mutex::default(),
            delivered: Mutex::default(),
            gate,
            tries: Mutex::default(),
            started: Instant::now(),
        })
    }

    pub(crate) fn plan(&self, config: &str, answers: impl IntoIterator<Item = DeliveryResult>) {
        self.plans.lock().unwrap().entry(config.into()).or_default().extend(answers);
    }

    /// The sequence numbers that were delivered to a configuration.
    pub(crate) fn seqs(&self, config: &str) -> Vec<u64> {
        let delivered = self.delivered.lock().unwrap();
        delivered
            .iter()
            .filter(|delivered| delivered.config == config)
            .map(|delivered| delivered.seq)
            .collect()
    }

    pub(crate) fn bodies(&self, config: &str) -> Vec<String> {
        let delivered = self.delivered.lock().unwrap();
        delivered
            .iter()
            .filter(|delivered| delivered.config == config)
            .map(|delivered| delivered.body.clone())
            .collect()
    }

    pub(crate) fn tries(&self) -> usize {
        self.tries.lock().unwrap().len()
    }

    /// Waits until a configuration has got so many notifications.
    pub(crate) async fn until(&self, config: &str, count: usize) -> Vec<u64> {
        let waiting = async {
            while self.seqs(config).len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20_000), waiting).await;
        assert!(waited.is_ok(), "{config} was delivered {:?} only", self.seqs(config));
        self.seqs(config)
    }
}

pub(crate) fn failed(why: &str) -> DeliveryResult {
    DeliveryResult::Failed { why: why.into(), retry_after: None }
}

#[async_trait]
impl PushSender for FakePushSender {
    async fn check(&self, config: &PushConfig) -> Result<(), PushConfigError> {
        match config.url.strip_prefix("bad:") {
            Some(why) => Err(PushConfigError { field: "url", why: why.into() }),
            None => Ok(()),
        }
    }

    fn encode(&self, notice: &PushPayload<'_>) -> Bytes {
        match notice {
            PushPayload::Task(view) => {
                format!("task at {} {:?}", view.progress.head, view.status.state).into()
            }
            PushPayload::Update { entry, .. } => match entry.update() {
                Some(Update::Status { status, .. }) => format!("{:?}", status.state).into(),
                Some(Update::Artifact { .. }) => "artifact".into(),
                other => panic!("{other:?}"),
            },
        }
    }

    async fn deliver(&self, delivery: &PushDelivery) -> DeliveryResult {
        // Lets other tasks run before each delivery.
        tokio::task::yield_now().await;
        let config = delivery.config.id.to_string();
        let at = self.started.elapsed();
        self.tries.lock().unwrap().push((config.clone(), delivery.seq.0, at));
        if let Some(gate) = &self.gate {
            gate.acquire().await.unwrap().forget();
        }
        let planned = self.plans.lock().unwrap().get_mut(&config).and_then(VecDeque::pop_front);
        if let Some(planned) = planned.filter(|planned| *planned != DeliveryResult::Accepted) {
            return planned;
        }
        let body = String::from_utf8(delivery.body.to_vec()).unwrap();
        let (url, seq) = (delivery.config.url.clone(), delivery.seq.0);
        self.delivered.lock().unwrap().push(Delivered { config, url, seq, body });
        DeliveryResult::Accepted
    }
}

pub(crate) async fn start(
    stores: &Stores,
    actor: &Arc<Actor>,
    sender: &Arc<FakePushSender>,
    change: impl FnOnce(&mut PushOptions),
) -> Arc<SessionService> {
    let mut push = PushOptions { attempts: 4, ..PushOptions::default() };
    change(&mut push);
    let push = Some(PushSetup { sender: sender.clone(), options: push });
    let options = SessionOptions { push, ..options() };
    SessionService::start(stores.clone(), actor.clone(), options).await.unwrap()
}

pub(crate) fn config(id: &str) -> PushConfig {
    PushConfig { id: id.into(), url: format!("https://{id}.test"), token: None, authentication: None }
}

pub(crate) fn new_config(id: &str, shape: PushShape) -> NewPushConfig {
    NewPushConfig { config: config(id), shape }
}

/// A message that wants to be delivered of its task.
pub(crate) fn with_push(mut send: SendMessage, id: &str) -> SendMessage {
    send.configuration.push = Some(Box::new(new_config(id, PushShape::EachUpdate)));
    send
}

pub(crate) async fn kept(session: &SessionService, task: &TaskId, id: &str) -> StoredPushConfig {
    session.push_config(&scope(), task, Some(&id.into())).await.unwrap()
}

pub(crate) async fn create(session: &SessionService, task: &TaskId, id: &str) -> StoredPushConfig {
    session.create_push_config(&scope(), task, new_config(id, PushShape::EachUpdate)).await.unwrap()
}

/// Waits until nothing is left to tell.
pub(crate) async fn at_rest(session: &SessionService) {
    let waiting = async {
        while session.outbox_stats().active > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20_000), waiting).await.expect("nothing is left to tell");
}

pub(crate) fn ask() -> Act {
    let message = Message::from_agent("ask".into(), "c".into(), None, "?");
    Act::Record(Fact::CredentialAsked { message: message.into() })
}
