//! A session around an agent that does what a test tells it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::*;
use attache_session::*;
use attache_store::Stores;
use tokio::sync::Semaphore;

/// What the agent does in a turn, in order.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a handful of them in a test")]
pub(crate) enum Act {
    Record(Fact),
    /// Goes on when the test says so.
    Wait,
    Panic,
}

pub(crate) fn say(text: &str) -> Act {
    Act::Record(Fact::TextSaid { text: text.into(), last: false })
}

pub(crate) fn end(outcome: TurnOutcome) -> Act {
    Act::Record(Fact::TurnEnded { outcome, message: None, usage: None })
}

/// Plays one list of acts for each turn; goes on after what is already recorded of a turn.
pub(crate) struct Actor {
    turns: Vec<Vec<Act>>,
    pub(crate) go: Semaphore,
    /// How often a turn was performed or gone on with.
    pub(crate) performed: Mutex<Vec<u32>>,
}

impl Actor {
    pub(crate) fn of(turns: Vec<Vec<Act>>) -> Arc<Self> {
        Arc::new(Self { turns, go: Semaphore::new(0), performed: Mutex::default() })
    }
}

#[async_trait]
impl Agent for Actor {
    fn keeps_conversation(&self, _: &TaskView) -> bool {
        false
    }

    fn reply_shape(&self, _: &Message) -> ReplyShape {
        ReplyShape::Task
    }

    async fn run_turn(&self, request: TurnRequest, journal: &Journal) -> Result<(), TurnStopped> {
        let turn = request.view.progress.turn;
        self.performed.lock().unwrap().push(turn.number);
        let acts = &self.turns[turn.number as usize - 1];
        let mut recorded = 0;
        for act in acts {
            match act {
                Act::Record(_) if recorded < turn.emitted => recorded += 1,
                Act::Record(fact) => journal.record(fact.clone()).await?,
                Act::Wait if recorded < turn.emitted => {}
                Act::Wait => self.go.acquire().await.unwrap().forget(),
                Act::Panic => panic!("as the test wants"),
            }
        }
        Ok(())
    }
}

pub(crate) fn scope() -> Scope {
    Scope::new("", "me")
}

pub(crate) fn options() -> SessionOptions {
    SessionOptions { cancel_patience: Duration::from_secs(20), ..SessionOptions::default() }
}

pub(crate) async fn session(stores: &Stores, actor: &Arc<Actor>) -> Arc<SessionService> {
    SessionService::start(stores.clone(), actor.clone(), options()).await.unwrap()
}

pub(crate) fn message(id: &str, task: Option<TaskId>) -> SendMessage {
    let message = Message {
        id: id.into(),
        role: Role::User,
        parts: vec![Part::text(id)],
        context: None,
        task,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: vec![],
        extensions: vec![],
        metadata: None,
    };
    SendMessage {
        message,
        answers: Default::default(),
        configuration: SendConfiguration::default(),
        metadata: None,
        options: SendOptions { rights: Rights::ALL, ..SendOptions::default() },
    }
}

pub(crate) fn at_once(id: &str) -> SendMessage {
    let mut send = message(id, None);
    send.configuration.return_immediately = true;
    send
}

#[track_caller]
pub(crate) fn task(reply: SendReply) -> Arc<TaskView> {
    match reply {
        SendReply::Task(view) => view,
        SendReply::Message(message) => panic!("a bare message: {message:?}"),
    }
}

/// Everything a reader sees after `after`, up to the update that closes a stream.
pub(crate) async fn read_from(
    session: &SessionService,
    task: &TaskId,
    after: Option<Seq>,
) -> (Arc<TaskView>, Vec<u64>) {
    let after = after.map(|seq| Cursor { epoch: None, seq });
    let subscribe = SubscribeTask { task: task.clone(), after, gap_policy: GapPolicy::Refuse };
    let subscription = session.subscribe(&scope(), &subscribe, FinishedTaskRule::Show).await.unwrap();
    let mut seen = Vec::new();
    let Some(mut follower) = subscription.follower else { return (subscription.view, seen) };
    loop {
        let mut entries = Vec::new();
        follower.next(7, &mut entries).await.unwrap();
        for entry in entries {
            seen.push(entry.event.seq.0);
            if entry.closes() {
                return (subscription.view, seen);
            }
        }
    }
}
