//! Spells what an operation came to as JSON, for both bindings that speak it.

use std::sync::Arc;

use attache_domain::{Fault, OperationKind, TaskView};
use attache_session::Seen;
use attache_wire::devtool::{Profile, commands};
use attache_wire::encode::{self, TaskShape};
use attache_wire::replay::{self, Mark};
use attache_wire::{Decoded, Dialect};
use http::request::Parts;

use crate::app::{Admitted, App};
use crate::framing::Framing;
use crate::http::Response;
use crate::operate::{Asked, First, Opened, Outcome, operate, shape};
use crate::sse::EventStream;
use crate::{execute, push_state};

/// A request in JSON whose parameters are not yet read.
pub(crate) struct JsonRequest<'a> {
    pub(crate) head: &'a Parts,
    pub(crate) admitted: Admitted,
    pub(crate) framing: Framing,
    pub(crate) dialect: Dialect,
    pub(crate) kind: OperationKind,
}

pub(crate) async fn perform(
    app: &Arc<App>,
    request: JsonRequest<'_>,
    decode: impl FnOnce() -> Result<Decoded, Fault>,
) -> Response {
    let JsonRequest { head, admitted, framing, dialect, kind } = request;
    let version = framing.version();
    let asked = Asked { headers: &head.headers, admitted, binding: framing.binding(), version, kind };
    let (activation, result) = operate(app, &asked, decode).await;
    let mut response = match result {
        Ok(outcome) => {
            let epoch = activation.is_active(replay::URI).then(|| app.session.epoch().clone());
            spell(app, head, Speech { framing, dialect, epoch }, outcome)
        }
        Err(fault) => framing.fault(&fault),
    };
    activation.confirm(version, &mut response);
    response
}

/// How an answer is put.
struct Speech {
    framing: Framing,
    dialect: Dialect,
    /// The log's name, for those who want to know where in it they are.
    epoch: Option<Arc<str>>,
}

impl Speech {
    fn mark<'a>(&'a self, view: &TaskView) -> Option<Mark<'a>> {
        self.epoch.as_ref().map(|epoch| Mark { epoch, seq: view.progress.head, gap: None })
    }

    fn write_task_item(&self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        let start = out.len();
        encode::write_task_item(self.dialect, view, shape, out);
        if let Some(mark) = self.mark(view) {
            replay::mark_item(self.dialect, &mark, out, start);
        }
    }

    fn write_task(&self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        let start = out.len();
        encode::write_task(self.dialect, view, shape, out);
        if let Some(mark) = self.mark(view) {
            replay::mark_task(&mark, out, start);
        }
    }

    /// As it was spelled for whoever asked before, where that can be.
    fn write_seen(&self, seen: &Seen, shape: TaskShape, out: &mut Vec<u8>) {
        let write = |view: &TaskView, out: &mut Vec<u8>| self.write_task(view, shape, out);
        match (shape.history_length, &self.epoch) {
            (None, None) => seen.write_whole(shape.profile.index(self.dialect), out, write),
            _ => write(&seen.view, out),
        }
    }
}

fn spell(app: &Arc<App>, head: &Parts, speech: Speech, outcome: Outcome) -> Response {
    let (framing, dialect) = (speech.framing.clone(), speech.dialect);
    let mut out = Vec::with_capacity(1024);
    let mut push_state = None;
    framing.open(&mut out);
    match outcome {
        Outcome::Sent { view, shape } => speech.write_task_item(&view, shape, &mut out),
        Outcome::Replied(message) => encode::write_message_item(dialect, &message, &mut out),
        Outcome::Seen { seen, shape } => speech.write_seen(&seen, shape, &mut out),
        Outcome::Canceled { view, shape } => speech.write_task(&view, shape, &mut out),
        Outcome::Listed { page, shape } => {
            let page = encode::TaskPage {
                tasks: page.tasks,
                next_page_token: page.next_page_token,
                page_size: page.page_size,
                total_size: page.total_size,
            };
            encode::write_list(&page, shape, &mut out);
        }
        Outcome::Stream(opened) => return stream(app, speech, opened).into_response(),
        Outcome::Commands(specs) => commands::write_list(&specs, &mut out),
        Outcome::Executed { executed, profile } => {
            if execute::wants_events(head) {
                return executed_events(app, speech, executed, profile);
            }
            executed.response.write(&mut out);
        }
        Outcome::PushConfig(kept) => {
            push_state = push_state::of_one(&kept);
            encode::write_push_config(dialect, &kept, &mut out);
        }
        Outcome::PushConfigs(page) => {
            push_state = push_state::of_many(&page.configs);
            encode::write_push_configs(dialect, &page, &mut out);
        }
        Outcome::PushConfigDeleted => framing.nothing(&mut out),
        Outcome::ExtendedCard => {
            app.cards.write_extended(framing.version(), &mut out);
            framing.close(&mut out);
            return app.cards.keep_private(framing.answer(out));
        }
    }
    framing.close(&mut out);
    let mut response = framing.answer(out);
    if let Some(push_state) = push_state {
        response.headers_mut().insert(push_state::NAME, push_state);
    }
    response
}

fn stream(app: &Arc<App>, speech: Speech, opened: Opened) -> EventStream {
    let Speech { framing, dialect, epoch } = speech;
    let Opened { subscription, shape, first } = opened;
    let bare = first == First::Message;
    let mut stream = EventStream::new(app, framing, dialect, shape, subscription, bare);
    if first == First::Events {
        stream.begin_with_events();
    }
    if let Some(epoch) = epoch {
        stream.mark_places(epoch);
    }
    stream
}

/// What is answered about a command, then everything that happens.
fn executed_events(
    app: &Arc<App>,
    speech: Speech,
    executed: execute::Executed,
    profile: Option<Profile>,
) -> Response {
    let Some(started) = executed.started else { return executed.response.alone(&speech.framing) };
    let mut first = Vec::new();
    executed.response.write(&mut first);
    let subscription = app.session.follow(started);
    let profile = profile.unwrap_or_else(|| Profile::of_ending(subscription.view.progress.ending));
    let shape = shape(None, profile);
    let mut stream = stream(app, speech, Opened { subscription, shape, first: First::Task });
    stream.begin_with(&first);
    stream.into_response()
}
