//! Spells what an operation came to as JSON, for both bindings that speak it.

use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_wire::devtool::{Profile, commands};
use attache_wire::{DecodedOperation, Dialect, encode, replay};
use http::request::Parts;

use crate::app::{App, RequestOrigin};
use crate::encoder::Encoder;
use crate::framing::Framing;
use crate::handler::{
    HandledOperation, OperationOutcome, OperationRequest, StreamOpening, StreamStart, handle, shape,
};
use crate::http::Response;
use crate::sse::SseStream;
use crate::{command_response, push_state};

/// A request in JSON whose parameters are not yet read.
pub(crate) struct JsonRequest<'a> {
    pub(crate) head: &'a Parts,
    pub(crate) admitted: RequestOrigin,
    pub(crate) framing: Framing,
    pub(crate) dialect: Dialect,
    pub(crate) kind: OperationKind,
}

pub(crate) async fn handle_json(
    app: &Arc<App>,
    request: JsonRequest<'_>,
    decode: impl FnOnce() -> Result<DecodedOperation, Fault>,
) -> Response {
    let JsonRequest { head, admitted, framing, dialect, kind } = request;
    let version = framing.version();
    let asked =
        OperationRequest { headers: &head.headers, admitted, binding: framing.binding(), version, kind };
    let HandledOperation { activation, result, reservation: share } = handle(app, &asked, decode).await;
    let mut response = match result {
        Ok(outcome) => {
            let epoch = activation.is_active(replay::URI).then(|| app.session.epoch().clone());
            encode(app, head, framing, Encoder { encoding: dialect, epoch }, outcome)
        }
        Err(fault) => refusal(head, &framing, kind, &fault),
    };
    activation.confirm(version, &mut response);
    if let Some(share) = share {
        response.extensions_mut().insert(share);
    }
    response
}

fn encode(
    app: &Arc<App>,
    head: &Parts,
    framing: Framing,
    speech: Encoder<Dialect>,
    outcome: OperationOutcome,
) -> Response {
    let dialect = speech.encoding;
    let mut out = Vec::with_capacity(1024);
    let mut push_state = None;
    framing.open(&mut out);
    match outcome {
        OperationOutcome::Sent { view, shape } => speech.write_task_item(&view, shape, None, &mut out),
        OperationOutcome::Replied(message) => encode::write_message_item(dialect, &message, &mut out),
        OperationOutcome::Task { seen, shape } => speech.write_rendered(&seen, shape, &mut out),
        OperationOutcome::Canceled { view, shape } => speech.write_task(&view, shape, &mut out),
        OperationOutcome::Listed { page, shape } => encode::write_list(&page, shape, &mut out),
        OperationOutcome::Stream(opened) => {
            return SseStream::new(app, framing, speech, opened).into_response();
        }
        OperationOutcome::Commands(specs) => commands::write_list(&specs, &mut out),
        OperationOutcome::Executed { executed, profile } => {
            if command_response::wants_events(head) {
                return executed_events(app, framing, speech, executed, profile);
            }
            executed.response.write(&mut out);
        }
        OperationOutcome::PushConfig(kept) => {
            push_state = push_state::of_one(&kept);
            encode::write_push_config(dialect, &kept, &mut out);
        }
        OperationOutcome::PushConfigs(page) => {
            push_state = push_state::of_many(&page.configs);
            encode::write_push_configs(dialect, &page, &mut out);
        }
        OperationOutcome::PushConfigDeleted => framing.write_empty(&mut out),
        OperationOutcome::ExtendedCard => {
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
pub(crate) fn refusal(head: &Parts, framing: &Framing, kind: OperationKind, fault: &Fault) -> Response {
    let takes_events = command_response::wants_events(head);
    match kind {
        OperationKind::Stream | OperationKind::Subscribe => framing.fault_for_stream(fault, takes_events),
        _ => framing.fault(fault),
    }
}

/// What is answered about a command, then everything that happens.
fn executed_events(
    app: &Arc<App>,
    framing: Framing,
    speech: Encoder<Dialect>,
    executed: command_response::ExecutedCommand,
    profile: Option<Profile>,
) -> Response {
    let Some(started) = executed.started else { return executed.response.alone(&framing) };
    let mut first = Vec::new();
    executed.response.write(&mut first);
    let subscription = app.session.follow(started);
    let profile = profile.unwrap_or_else(|| Profile::from_ending(subscription.view.progress.ending));
    let shape = shape(None, profile);
    let opened = StreamStart {
        open_call: executed.open_call,
        subscription,
        shape,
        first: StreamOpening::Task,
        resumes: false,
    };
    let mut stream = SseStream::new(app, framing, speech, opened);
    stream.set_preface(&first);
    stream.into_response()
}
