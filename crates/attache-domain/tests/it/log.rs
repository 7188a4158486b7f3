//! A task and its log, for the tests of the rules.

use attache_domain::*;

pub(crate) fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap()
}

pub(crate) fn message(id: &str, text: &str) -> Message {
    Message {
        id: id.into(),
        role: Role::User,
        parts: vec![Part::text(text)],
        context: None,
        task: None,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: vec![],
        extensions: vec![],
        metadata: None,
    }
}

pub(crate) fn digest(text: &str) -> Digest {
    Digest(text.into())
}

/// A task and its log, driven by intents as the session drives it.
pub(crate) struct Log {
    pub(crate) view: TaskView,
    pub(crate) events: Vec<Event>,
}

impl Log {
    pub(crate) fn open() -> Self {
        Self::open_for(ReplyShape::Task)
    }

    pub(crate) fn open_for(reply: ReplyShape) -> Self {
        let opening = OpenTask {
            task: "t".into(),
            scope: Scope::new("", "me"),
            context: "c".into(),
            message: message("m0", "hello"),
            digest: digest("m0"),
            reply,
            metadata: None,
            ending: attache_domain::TaskEnding::Completes,
            presentation: attache_domain::Presentation::default(),
        };
        let event = Event { seq: Seq(1), at: at(1), fact: opening.decide() };
        Self { view: TaskView::open(&event).unwrap(), events: vec![event] }
    }

    pub(crate) fn push(&mut self, intent: Intent) -> Result<usize, Fault> {
        let facts = self.view.decide(intent)?;
        let count = facts.len();
        for fact in facts {
            let seq = self.view.progress.head.next();
            let event = Event { seq, at: at(seq.0 as i64), fact };
            self.view.apply(&event);
            self.events.push(event);
        }
        Ok(count)
    }

    pub(crate) fn record(&mut self, fact: Fact) -> Result<usize, Fault> {
        self.push(Intent::Record(fact))
    }

    pub(crate) fn say(&mut self, id: &str) -> Result<usize, Fault> {
        self.say_again(id, DuplicateWindow::Always)
    }

    pub(crate) fn say_again(&mut self, id: &str, duplicates: DuplicateWindow) -> Result<usize, Fault> {
        let (message, digest) = (message(id, id), digest(id));
        self.push(Intent::Receive { message, digest, reopens: false, duplicates })
    }

    pub(crate) fn started() -> Self {
        let mut log = Self::open();
        log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
        log
    }
}

pub(crate) fn said(text: &str) -> Fact {
    Fact::TextSaid { text: text.into(), last: false }
}

pub(crate) fn ended(outcome: TurnOutcome) -> Fact {
    Fact::TurnEnded { outcome, message: None, usage: None }
}

pub(crate) fn texts(view: &TaskView) -> Vec<String> {
    view.history.iter().map(|message| message.text()).collect()
}

impl std::fmt::Debug for Log {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.events.fmt(formatter)
    }
}
