//! One way for every request of every binding: run the operation, encode the outcome, frame it.

use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_session::RenderedTask;
use attache_wire::devtool::{Dialect, rest_api};
use attache_wire::encode::TaskShape;
use attache_wire::{DecodedOperation, Encoder, Encoding, replay};
use http::header;
use http::request::Parts;

use crate::app::{App, RequestOrigin};
use crate::command_response::ExecutedCommand;
use crate::extension_selection::ExtensionSelection;
use crate::framing::Framing;
use crate::http::Response;
use crate::operation_call::OperationCall;
use crate::operations::{self, OperationOutcome, shape};
use crate::push_state;
use crate::sse::{self, SseStream};
use crate::task_stream::{StreamOpening, StreamStart};

/// A request whose operation is known and whose parameters are not yet decoded.
pub(crate) struct OperationRequest<'a> {
    pub(crate) head: &'a Parts,
    pub(crate) origin: RequestOrigin,
    pub(crate) framing: Framing,
    pub(crate) encoding: Encoding,
    pub(crate) kind: OperationKind,
    pub(crate) send_response_form: SendResponseForm,
    pub(crate) task_form: TaskForm,
}

/// How the answer to a send shows that it is a task or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendResponseForm {
    /// As the version of the encoding has it.
    OfVersion,
    /// The object of 0.3 as the member `task` or `message`, which is the envelope of 1.0.
    Wrapped,
}

/// The members of tasks in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskForm {
    A2a,
    /// A2A 1.0 and the REST API.
    Union,
}

pub(crate) async fn handle(
    app: &Arc<App>,
    request: OperationRequest<'_>,
    decode: impl FnOnce() -> Result<DecodedOperation, Fault>,
) -> Response {
    let version = request.encoding.version();
    let mut extensions = ExtensionSelection::of(app, &request.head.headers, version);
    let mut reservation = None;
    let OperationRequest { kind, origin, .. } = request;
    let call = OperationCall { kind, binding: request.framing.binding(), version, origin };
    let work = operations::run(app, &request, &mut extensions, &mut reservation, decode);
    let result = call.serve(app, work).await;
    let epoch = extensions.is_active(replay::URI).then(|| app.session.epoch().clone());
    let encoder = Encoder { encoding: request.encoding, epoch };
    let response = result.and_then(|outcome| encode(app, &request, encoder, outcome));
    let mut response = response.unwrap_or_else(|fault| request.refusal(&fault));
    extensions.confirm(version, &mut response);
    if let Some(reservation) = reservation {
        response.extensions_mut().insert(reservation);
    }
    response
}

impl OperationRequest<'_> {
    /// The response to a request that is refused, in the form in which its method answers.
    pub(crate) fn refusal(&self, fault: &Fault) -> Response {
        match self.kind {
            OperationKind::Stream | OperationKind::Subscribe => {
                self.framing.stream_fault(fault, self.accepts_events())
            }
            _ => self.framing.fault(fault),
        }
    }

    fn write_sent(&self, member: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        match self.send_response_form {
            SendResponseForm::OfVersion => write(out),
            SendResponseForm::Wrapped => {
                out.extend([b"{\"", member.as_bytes(), b"\":"].concat());
                write(out);
                out.push(b'}');
            }
        }
    }

    fn accepts_events(&self) -> bool {
        let mut accepted = self.head.headers.get_all(header::ACCEPT).iter();
        accepted.any(|value| value.to_str().is_ok_and(|value| value.contains("text/event-stream")))
    }
}

fn encode(
    app: &Arc<App>,
    request: &OperationRequest<'_>,
    encoder: Encoder,
    outcome: OperationOutcome,
) -> Result<Response, Fault> {
    let framing = &request.framing;
    let mut push_state = None;
    let mut out = Vec::with_capacity(1024);
    let start = framing.open(&mut out);
    match outcome {
        OperationOutcome::Stream(start) => return Ok(framing.clone().stream(app, encoder, start)),
        OperationOutcome::Executed { command, dialect } => {
            if framing.has_events() && request.accepts_events() {
                return command_events(app, framing, encoder, command, dialect);
            }
            command.response.write(&encoder, &mut out).map_err(not_encodable)?;
        }
        OperationOutcome::Sent { view, shape } => request.write_sent("task", &mut out, |out| {
            encoder.write_task_item(&view, shape, None, out);
        }),
        OperationOutcome::Replied(message) => {
            request.write_sent("message", &mut out, |out| encoder.write_message_item(&message, out));
        }
        OperationOutcome::Task { task, shape } => {
            write_rendered(&encoder, &task, shape, &mut out);
            if request.task_form == TaskForm::Union {
                rest_api::add_members(&task.view, shape, &mut out);
            }
        }
        OperationOutcome::Canceled { view, shape } => {
            encoder.write_task(&view, shape, &mut out);
            if request.task_form == TaskForm::Union {
                rest_api::add_members(&view, shape, &mut out);
            }
        }
        OperationOutcome::Listed { page, shape } => match request.task_form {
            TaskForm::A2a => encoder.write_list(&page, shape, &mut out),
            TaskForm::Union => rest_api::write_list(&page, shape, &mut out),
        },
        OperationOutcome::Commands(specs) => {
            encoder.write_commands(&specs, &mut out).map_err(not_encodable)?;
        }
        OperationOutcome::PushConfig(stored) => {
            push_state = push_state::of_one(&stored);
            encoder.write_push_config(&stored, &mut out);
        }
        OperationOutcome::PushConfigs(page) => {
            push_state = push_state::of_many(&page.configs);
            encoder.write_push_configs(&page, &mut out);
        }
        OperationOutcome::PushConfigDeleted => framing.write_empty(&mut out),
        OperationOutcome::ExtendedCard => {
            app.cards.write_extended(encoder.encoding, &mut out)?;
            framing.close(start, &mut out);
            let response = framing.response(out);
            return Ok(if framing.has_events() { app.cards.keep_private(response) } else { response });
        }
    }
    framing.close(start, &mut out);
    let mut response = framing.response(out);
    if let Some(push_state) = push_state {
        response.headers_mut().insert(push_state::NAME, push_state);
    }
    Ok(response)
}

/// From the task's cache where the client wants all of it and no cursors.
fn write_rendered(encoder: &Encoder, task: &RenderedTask, shape: TaskShape, out: &mut Vec<u8>) {
    match (shape.history_length, &encoder.epoch) {
        (None, None) => task.write_whole(encoder.index(shape.dialect), out, |view, out| {
            encoder.write_task(view, shape, out);
        }),
        _ => encoder.write_task(&task.view, shape, out),
    }
}

/// The response to a command as the first event, then the events of its task.
fn command_events(
    app: &Arc<App>,
    framing: &Framing,
    encoder: Encoder,
    command: ExecutedCommand,
    dialect: Option<Dialect>,
) -> Result<Response, Fault> {
    let mut payload = Vec::new();
    command.response.write(&encoder, &mut payload).map_err(not_encodable)?;
    let Some(started) = command.started else { return Ok(sse::single_event(framing, &payload)) };
    let subscription = app.session.follow(started);
    let dialect = dialect.unwrap_or_else(|| Dialect::from_ending(subscription.view.progress.ending));
    let start = StreamStart {
        open_request: command.open_request,
        subscription,
        shape: shape(None, dialect),
        first: StreamOpening::Task,
        resumes: false,
    };
    let mut stream = SseStream::new(app, framing.clone(), encoder, start);
    stream.set_preface(&payload);
    Ok(stream.into_response())
}

fn not_encodable(error: String) -> Fault {
    tracing::error!(error, "a response cannot be encoded");
    Fault::Internal
}
