//! The gRPC binding: the services of both versions, on the port of all the others.
//!
//! The service's name tells the version. Frames, metadata and deadlines are done by hand on hyper, like the other
//! bindings: a call is one message in and one out, or a stream of them, and what they say is `attache_wire::proto`'s
//! to know. A client that goes away or runs out of time never stops a task. Beside A2A there are the usual services:
//! health and reflection.

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_wire::proto::{self, GrpcCode, GrpcStatus};
use attache_wire::{Version, replay, version};
use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode, header};

use crate::app::{App, RequestOrigin};
use crate::encoder::Encoder;
use crate::framing::BindingName;
use crate::handler;
use crate::handler::{HandledOperation, OperationOutcome, OperationRequest};
use crate::http::{Body, Response};
use crate::request_body::RequestBody;
use crate::{body, large_bodies, push_state, rest};
pub(crate) use cards::GrpcCards;
use stream::GrpcStream;

mod cards;
mod deadline;
mod frame;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod health;
mod reflection;
mod response;
mod stream;

const MEDIA_TYPE: &[u8] = b"application/grpc";

/// A request for this binding: nothing else speaks with its media type, and it needs HTTP/2.
pub(crate) fn is_for(head: &Parts) -> bool {
    head.version == http::Version::HTTP_2
        && head.headers.get(header::CONTENT_TYPE).is_some_and(|value| {
            value.as_bytes().get(..MEDIA_TYPE.len()).is_some_and(|it| it.eq_ignore_ascii_case(MEDIA_TYPE))
        })
}

/// Whoever watches over a server has no token for its tasks.
pub(crate) fn is_public(path: &str) -> bool {
    matches!(path, health::CHECK | health::WATCH)
}

pub(crate) fn refuse(path: &str, fault: &Fault) -> Response {
    response::failure(&proto::status(version_for(path), fault))
}

pub(crate) async fn handle(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    admitted: RequestOrigin,
) -> Response {
    if let Some(status) = http_refusal(head) {
        let mut response = Response::new(Body::from(Bytes::new()));
        *response.status_mut() = status;
        return response;
    }
    let deadline = match deadline::of(&head.headers) {
        Ok(deadline) => deadline,
        Err(fault) => return refuse(head.uri.path(), &fault),
    };
    let answering = async {
        match head.uri.path() {
            health::CHECK => health::check(app, head, body).await,
            health::WATCH | reflection::V1 | reflection::V1_ALPHA => {
                let open_call = match app.open_calls.take_stream(admitted) {
                    Ok(open_call) => open_call,
                    Err(fault) => {
                        app.metrics.count_refused_stream();
                        return refuse(head.uri.path(), &fault);
                    }
                };
                match head.uri.path() {
                    health::WATCH => health::watch(app, head, body, deadline, open_call).await,
                    _ => reflection::serve(app, body, deadline, open_call),
                }
            }
            _ => call(app, head, body, admitted, deadline).await,
        }
    };
    match deadline {
        None => answering.await,
        Some(at) => match tokio::time::timeout_at(at, answering).await {
            Ok(response) => response,
            Err(_) => response::failure(&deadline::exceeded()),
        },
    }
}

/// What cannot even be answered in gRPC's words: it is not gRPC that was asked for.
fn http_refusal(head: &Parts) -> Option<StatusCode> {
    if head.method != Method::POST {
        return Some(StatusCode::METHOD_NOT_ALLOWED);
    }
    let media_type = head.headers.get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    let rest = media_type.and_then(|it| it.get(MEDIA_TYPE.len()..)).unwrap_or_default();
    let rest = rest.strip_prefix(b"+proto").unwrap_or(rest).trim_ascii_start();
    let fits = rest.is_empty() || rest.starts_with(b";");
    (!fits).then_some(StatusCode::UNSUPPORTED_MEDIA_TYPE)
}

/// Errors about paths that are of no version are spelled as 1.0 does.
fn version_for(path: &str) -> Version {
    proto::version_of_path(path).unwrap_or(Version::V1_0)
}

async fn call(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    admitted: RequestOrigin,
    deadline: deadline::Deadline,
) -> Response {
    let path = head.uri.path();
    // The extension's methods have one name in both versions: the metadata tells.
    let command = || {
        let named = version::parse_requested(rest::header(&head.headers, version::HEADER_NAME), None);
        let version = named.ok().flatten().unwrap_or(Version::V1_0);
        proto::command_method(path).map(|kind| (version, kind))
    };
    let Some((version, kind)) = proto::method(path).or_else(command) else {
        let method = path.chars().take(MAX_NAME_CHARS).collect();
        return refuse(path, &Fault::MethodNotFound { method });
    };
    if let Err(fault) = check_version(head, version) {
        return refuse(path, &fault);
    }
    let message = match read_message(app, head, body, version).await {
        Ok(message) => message,
        Err(status) => return response::failure(&status),
    };
    // Clients that speak nothing but gRPC have no other way to the card, so 0.3 is shown the public one.
    if version == Version::V0_3 && kind == OperationKind::ExtendedCard && !app.cards.has_extended() {
        app.metrics.count_call(BindingName::Grpc, version, kind, None);
        return card(app.grpc_cards.public(app));
    }
    let asked =
        OperationRequest { headers: &head.headers, admitted, binding: BindingName::Grpc, version, kind };
    large_bodies::run(message.len(), pin!(run(app, asked, message, deadline))).await
}

async fn run(
    app: &Arc<App>,
    asked: OperationRequest<'_>,
    message: Bytes,
    deadline: deadline::Deadline,
) -> Response {
    let OperationRequest { version, kind, .. } = asked;
    let operated = handler::handle(app, &asked, || proto::decode(version, kind, message)).await;
    let HandledOperation { activation, result, reservation: share } = operated;
    let mut response = match result {
        Ok(outcome) => {
            let epoch = activation.is_active(replay::URI).then(|| app.session.epoch().clone());
            encode(app, Encoder { encoding: version, epoch }, outcome, deadline)
        }
        Err(fault) => response::failure(&proto::status(version, &fault)),
    };
    activation.confirm(version, &mut response);
    if let Some(share) = share {
        response.extensions_mut().insert(share);
    }
    response
}

/// How much of an unknown method's name is told back.
const MAX_NAME_CHARS: usize = 120;

/// The service has said the version; metadata can only contradict it.
fn check_version(head: &Parts, spoken: Version) -> Result<(), Fault> {
    let requested = version::parse_requested(rest::header(&head.headers, version::HEADER_NAME), None)?;
    version::check_rest(head.uri.path(), spoken, requested, false)
}

/// The one message of a request.
async fn read_message(
    app: &App,
    head: &Parts,
    body: &mut RequestBody,
    version: Version,
) -> Result<Bytes, GrpcStatus> {
    let encoding = frame::Compression::of(&head.headers)?;
    let limits = &app.options.limits;
    let read = async {
        let bytes = body::collect(body, limits, limits.body_bytes + frame::PREFIX_BYTES).await?;
        let message = frame::single_message(bytes, encoding, limits).await?;
        let weigh = async { proto::check_decoded_size(head.uri.path(), &message, limits.parsed_bytes()) };
        large_bodies::run(message.len(), pin!(weigh)).await?;
        Ok(message)
    };
    read.await.map_err(|fault| match fault {
        // What is told is how large a message may be.
        Fault::BodyTooLarge { .. } => {
            proto::status(version, &Fault::BodyTooLarge { limit: limits.body_bytes })
        }
        fault => proto::status(version, &fault),
    })
}

fn encode(
    app: &Arc<App>,
    speech: Encoder<Version>,
    outcome: OperationOutcome,
    deadline: deadline::Deadline,
) -> Response {
    let version = speech.encoding;
    let mut out = frame::open();
    let mut push_state = None;
    match outcome {
        OperationOutcome::Sent { view, shape } => speech.write_task_item(&view, shape, None, &mut out),
        OperationOutcome::Replied(message) => proto::write_message_item(version, &message, &mut out),
        OperationOutcome::Task { seen, shape } => speech.write_rendered(&seen, shape, &mut out),
        OperationOutcome::Canceled { view, shape } => speech.write_task(&view, shape, &mut out),
        OperationOutcome::Listed { page, shape } => proto::write_list(&page, shape, &mut out),
        OperationOutcome::Stream(opened) => {
            return response::stream(GrpcStream::new(app, speech, opened, deadline));
        }
        OperationOutcome::PushConfig(kept) => {
            push_state = push_state::of_one(&kept);
            proto::write_push_config(version, &kept, &mut out);
        }
        OperationOutcome::PushConfigs(page) => {
            push_state = push_state::of_many(&page.configs);
            proto::write_push_configs(version, &page, &mut out);
        }
        OperationOutcome::PushConfigDeleted => {}
        OperationOutcome::ExtendedCard => return card(app.grpc_cards.extended(app, version)),
        OperationOutcome::Commands(specs) => {
            if let Err(error) = proto::write_commands(&specs, &mut out) {
                return response::failure(&failed(&error));
            }
        }
        // What happens next is read from the task.
        OperationOutcome::Executed { executed, .. } => {
            if let Err(error) = executed.response.write_proto(&mut out) {
                return response::failure(&failed(&error));
            }
        }
    }
    let mut response = response::message(out);
    if let Some(push_state) = push_state {
        response.headers_mut().insert(push_state::NAME, push_state);
    }
    response
}

fn card(card: Option<&Bytes>) -> Response {
    match card {
        Some(card) => {
            let mut out = frame::open();
            out.extend_from_slice(card);
            response::message(out)
        }
        None => response::failure(&failed("the card cannot be written in protobuf")),
    }
}

fn failed(message: &str) -> GrpcStatus {
    GrpcStatus { code: GrpcCode::Internal, message: message.to_owned(), details: Vec::new() }
}
