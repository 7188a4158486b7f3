//! The gRPC binding: the services of both versions, on the same port as the other bindings.
//!
//! The service's name gives the version. Frames, metadata and deadlines are written directly on hyper, like the other
//! bindings: a call is one message in and one out, or a stream of them; `attache_wire::proto` encodes the messages. A
//! client that disconnects or runs out of time never stops a task. Beside A2A there are the health and reflection
//! services.

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_wire::proto::{self, GrpcStatus};
use attache_wire::{Encoder, Encoding, Version, version};
use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode, header};

use crate::app::{App, RequestOrigin};
use crate::framing::{BindingName, Framing};
use crate::handler::{self, OperationRequest, SendResponseForm, TaskForm};
use crate::http::{Body, Response};
use crate::request_body::RequestBody;
use crate::task_stream::StreamStart;
use crate::{body, large_bodies, rest};
pub(crate) use deadline::Deadline;
use stream::GrpcStream;

mod deadline;
pub(crate) mod frame;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod health;
mod reflection;
pub(crate) mod response;
mod stream;

const MEDIA_TYPE: &[u8] = b"application/grpc";

/// No other binding uses this media type, and gRPC needs HTTP/2.
pub(crate) fn is_for(head: &Parts) -> bool {
    head.version == http::Version::HTTP_2
        && head.headers.get(header::CONTENT_TYPE).is_some_and(|value| {
            value.as_bytes().get(..MEDIA_TYPE.len()).is_some_and(|it| it.eq_ignore_ascii_case(MEDIA_TYPE))
        })
}

/// Health checks come from monitors that have no token.
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
    origin: RequestOrigin,
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
                let open_request = match app.open_requests.take_stream(origin) {
                    Ok(open_request) => open_request,
                    Err(fault) => {
                        app.metrics.count_refused_stream();
                        return refuse(head.uri.path(), &fault);
                    }
                };
                match head.uri.path() {
                    health::WATCH => health::watch(app, head, body, deadline, open_request).await,
                    _ => reflection::serve(app, body, deadline, open_request),
                }
            }
            _ => call(app, head, body, origin, deadline).await,
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

/// The HTTP status for a request that is not gRPC and gets no gRPC status.
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

/// Errors about unknown services are encoded as in 1.0.
fn version_for(path: &str) -> Version {
    proto::version_of_path(path).unwrap_or(Version::V1_0)
}

async fn call(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
    deadline: Deadline,
) -> Response {
    let path = head.uri.path();
    // The extension's methods have one name in both versions; the metadata says which.
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
    // Clients that speak only gRPC have no other way to the card, so 0.3 gets the public one.
    if version == Version::V0_3 && kind == OperationKind::ExtendedCard && !app.cards.has_extended() {
        app.metrics.count_call(BindingName::Grpc, version, kind, None);
        return match app.cards.public_proto() {
            Ok(card) => response::message(frame::framed(card)),
            Err(fault) => refuse(path, &fault),
        };
    }
    let (framing, encoding) = (Framing::Grpc { version, deadline }, Encoding::Proto(version));
    let (send_response_form, task_form) = (SendResponseForm::OfVersion, TaskForm::A2a);
    let request = OperationRequest { head, origin, framing, encoding, kind, send_response_form, task_form };
    let length = message.len();
    let handling = handler::handle(app, request, || proto::decode(version, kind, message));
    large_bodies::run(length, pin!(handling)).await
}

pub(crate) fn stream_response(
    app: &Arc<App>,
    encoder: Encoder,
    start: StreamStart,
    deadline: Deadline,
) -> Response {
    response::stream(GrpcStream::new(app, encoder, start, deadline))
}

/// An error names this much of an unknown method.
const MAX_NAME_CHARS: usize = 120;

/// The service gives the version; metadata can only contradict it.
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
        // The fault names the limit of a message, without its prefix.
        Fault::BodyTooLarge { .. } => {
            proto::status(version, &Fault::BodyTooLarge { limit: limits.body_bytes })
        }
        fault => proto::status(version, &fault),
    })
}
