//! Spells what an operation came to as JSON, for both bindings that speak it.

use std::sync::Arc;

use attache_domain::{Fault, OperationKind, TaskView};
use attache_wire::devtool::{Profile, commands};
use attache_wire::encode;
use attache_wire::{Decoded, Dialect};
use http::request::Parts;

use crate::app::{Admitted, App};
use crate::execute;
use crate::framing::Framing;
use crate::http::Response;
use crate::operate::{Asked, Begins, Opened, Outcome, operate, shape};
use crate::sse::EventStream;

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
        Ok(outcome) => spell(app, head, framing, dialect, outcome),
        Err(fault) => framing.fault(&fault),
    };
    activation.confirm(version, &mut response);
    response
}

fn spell(app: &Arc<App>, head: &Parts, framing: Framing, dialect: Dialect, outcome: Outcome) -> Response {
    let mut out = Vec::with_capacity(1024);
    framing.open(&mut out);
    match outcome {
        Outcome::Sent { view, shape } => encode::write_task_item(dialect, &view, shape, &mut out),
        Outcome::Replied(message) => encode::write_message_item(dialect, &message, &mut out),
        Outcome::Seen { seen, shape } => {
            let write = |view: &TaskView, out: &mut Vec<u8>| encode::write_task(dialect, view, shape, out);
            match shape.history_length {
                None => seen.write_whole(shape.profile.index(dialect), &mut out, write),
                Some(_) => write(&seen.view, &mut out),
            }
        }
        Outcome::Canceled { view, shape } => encode::write_task(dialect, &view, shape, &mut out),
        Outcome::Listed { page, shape } => {
            let page = encode::TaskPage {
                tasks: page.tasks,
                next_page_token: page.next_page_token,
                page_size: page.page_size,
                total_size: page.total_size,
            };
            encode::write_list(&page, shape, &mut out);
        }
        Outcome::Stream(opened) => return stream(app, framing, dialect, opened).into_response(),
        Outcome::Commands(specs) => commands::write_list(&specs, &mut out),
        Outcome::Executed { executed, profile } => {
            if execute::wants_events(head) {
                return executed_events(app, framing, dialect, executed, profile);
            }
            executed.response.write(&mut out);
        }
        Outcome::PushConfig(kept) => encode::write_push_config(dialect, &kept, &mut out),
        Outcome::PushConfigs(page) => encode::write_push_configs(dialect, &page, &mut out),
        Outcome::PushConfigDeleted => framing.nothing(&mut out),
        Outcome::ExtendedCard => app.cards.write_extended(framing.version(), &mut out),
    }
    framing.close(&mut out);
    framing.answer(out)
}

fn stream(app: &Arc<App>, framing: Framing, dialect: Dialect, opened: Opened) -> EventStream {
    let Opened { subscription, shape, begins } = opened;
    let bare = begins == Begins::WithMessage;
    let mut stream = EventStream::new(app, framing, dialect, shape, subscription, bare);
    if begins == Begins::WithEvents {
        stream.begin_with_events();
    }
    stream
}

/// What is answered about a command, then everything that happens.
fn executed_events(
    app: &Arc<App>,
    framing: Framing,
    dialect: Dialect,
    executed: execute::Executed,
    profile: Option<Profile>,
) -> Response {
    let Some(started) = executed.started else { return executed.response.alone(&framing) };
    let mut first = Vec::new();
    executed.response.write(&mut first);
    let subscription = app.session.follow(started);
    let profile = profile.unwrap_or_else(|| Profile::of_ending(subscription.view.progress.ending));
    let shape = shape(None, profile);
    let mut stream = EventStream::new(app, framing, dialect, shape, subscription, false);
    stream.begin_with(&first);
    stream.into_response()
}
