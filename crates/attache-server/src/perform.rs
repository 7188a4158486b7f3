//! Spells what an operation came to as JSON, for both bindings that speak it.

use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_wire::devtool::{Profile, commands};
use attache_wire::{Decoded, Dialect, encode, replay};
use http::request::Parts;

use crate::app::{Admitted, App};
use crate::framing::Framing;
use crate::http::Response;
use crate::operate::{Asked, First, Opened, Operated, Outcome, operate, shape};
use crate::speech::Speech;
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
    let Operated { activation, result, share } = operate(app, &asked, decode).await;
    let mut response = match result {
        Ok(outcome) => {
            let epoch = activation.is_active(replay::URI).then(|| app.session.epoch().clone());
            spell(app, head, framing, Speech { language: dialect, epoch }, outcome)
        }
        Err(fault) => refused(head, &framing, kind, &fault),
    };
    activation.confirm(version, &mut response);
    if let Some(share) = share {
        response.extensions_mut().insert(share);
    }
    response
}

fn spell(
    app: &Arc<App>,
    head: &Parts,
    framing: Framing,
    speech: Speech<Dialect>,
    outcome: Outcome,
) -> Response {
    let dialect = speech.language;
    let mut out = Vec::with_capacity(1024);
    let mut push_state = None;
    framing.open(&mut out);
    match outcome {
        Outcome::Sent { view, shape } => speech.write_task_item(&view, shape, None, &mut out),
        Outcome::Replied(message) => encode::write_message_item(dialect, &message, &mut out),
        Outcome::Seen { seen, shape } => speech.write_seen(&seen, shape, &mut out),
        Outcome::Canceled { view, shape } => speech.write_task(&view, shape, &mut out),
        Outcome::Listed { page, shape } => encode::write_list(&page, shape, &mut out),
        Outcome::Stream(opened) => return EventStream::new(app, framing, speech, opened).into_response(),
        Outcome::Commands(specs) => commands::write_list(&specs, &mut out),
        Outcome::Executed { executed, profile } => {
            if execute::wants_events(head) {
                return executed_events(app, framing, speech, executed, profile);
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

/// A call that is refused, in the form in which its method answers.
pub(crate) fn refused(head: &Parts, framing: &Framing, kind: OperationKind, fault: &Fault) -> Response {
    let takes_events = execute::wants_events(head);
    match kind {
        OperationKind::Stream | OperationKind::Subscribe => framing.fault_for_stream(fault, takes_events),
        _ => framing.fault(fault),
    }
}

/// What is answered about a command, then everything that happens.
fn executed_events(
    app: &Arc<App>,
    framing: Framing,
    speech: Speech<Dialect>,
    executed: execute::Executed,
    profile: Option<Profile>,
) -> Response {
    let Some(started) = executed.started else { return executed.response.alone(&framing) };
    let mut first = Vec::new();
    executed.response.write(&mut first);
    let subscription = app.session.follow(started);
    let profile = profile.unwrap_or_else(|| Profile::of_ending(subscription.view.progress.ending));
    let shape = shape(None, profile);
    let opened =
        Opened { open_call: executed.open_call, subscription, shape, first: First::Task, resumes: false };
    let mut stream = EventStream::new(app, framing, speech, opened);
    stream.begin_with(&first);
    stream.into_response()
}
