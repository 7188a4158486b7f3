//! The gRPC binding: the services of both versions, on the port of all the others.
//!
//! The service's name tells the version. Frames, metadata and deadlines are done by hand on hyper, like the other
//! bindings: a call is one message in and one out, or a stream of them, and what they say is `attache_wire::proto`'s
//! to know. A client that goes away or runs out of time never stops a task. Beside A2A there are the usual services:
//! health and reflection.

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_wire::proto::{self, Code, Status};
use attache_wire::{Version, replay, version};
use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode, header};

use crate::app::{Admitted, App};
use crate::arriving::Arriving;
use crate::framing::BindingName;
use crate::http::{Body, Response};
use crate::operate::{Asked, Operated, Outcome, operate};
use crate::speech::Speech;
use crate::{body, heavy, push_state, rest};
pub(crate) use cards::Cards;
use stream::EventStream;

mod answer;
mod cards;
mod deadline;
mod frame;
pub(crate) mod fuzz;
mod health;
mod reflection;
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
    answer::failure(&proto::status(version_for(path), fault))
}

pub(crate) async fn handle(
    app: &Arc<App>,
    head: &Parts,
    body: &mut Arriving,
    admitted: Admitted,
) -> Response {
    if let Some(status) = unfit(head) {
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
                        app.metrics.stream_refused();
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
            Err(_) => answer::failure(&deadline::exceeded()),
        },
    }
}

/// What cannot even be answered in gRPC's words: it is not gRPC that was asked for.
fn unfit(head: &Parts) -> Option<StatusCode> {
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
    body: &mut Arriving,
    admitted: Admitted,
    deadline: deadline::Deadline,
) -> Response {
    let path = head.uri.path();
    // The extension's methods have one name in both versions: the metadata tells.
    let command = || {
        let named = version::parse_requested(rest::header(&head.headers, version::NAME), None);
        let version = named.ok().flatten().unwrap_or(Version::V1_0);
        proto::command_method(path).map(|kind| (version, kind))
    };
    let Some((version, kind)) = proto::method(path).or_else(command) else {
        let method = path.chars().take(LONGEST_NAME).collect();
        return refuse(path, &Fault::MethodNotFound { method });
    };
    if let Err(fault) = check_version(head, version) {
        return refuse(path, &fault);
    }
    let message = match read_message(app, head, body, version).await {
        Ok(message) => message,
        Err(status) => return answer::failure(&status),
    };
    // Clients that speak nothing but gRPC have no other way to the card, so 0.3 is shown the public one.
    if version == Version::V0_3 && kind == OperationKind::ExtendedCard && !app.cards.has_extended() {
        app.metrics.called(BindingName::Grpc, version, kind, None);
        return card(app.grpc_cards.public(app));
    }
    let asked = Asked { headers: &head.headers, admitted, binding: BindingName::Grpc, version, kind };
    heavy::answered(message.len(), pin!(perform(app, asked, message, deadline))).await
}

async fn perform(app: &Arc<App>, asked: Asked<'_>, message: Bytes, deadline: deadline::Deadline) -> Response {
    let Asked { version, kind, .. } = asked;
    let operated = operate(app, &asked, || proto::decode(version, kind, message)).await;
    let Operated { activation, result, share } = operated;
    let mut response = match result {
        Ok(outcome) => {
            let epoch = activation.is_active(replay::URI).then(|| app.session.epoch().clone());
            spell(app, Speech { language: version, epoch }, outcome, deadline)
        }
        Err(fault) => answer::failure(&proto::status(version, &fault)),
    };
    activation.confirm(version, &mut response);
    if let Some(share) = share {
        response.extensions_mut().insert(share);
    }
    response
}

/// How much of an unknown method's name is told back.
const LONGEST_NAME: usize = 120;

/// The service has said the version; metadata can only contradict it.
fn check_version(head: &Parts, spoken: Version) -> Result<(), Fault> {
    let requested = version::parse_requested(rest::header(&head.headers, version::NAME), None)?;
    version::check_rest(head.uri.path(), spoken, requested, false)
}

/// The one message of a request.
async fn read_message(
    app: &App,
    head: &Parts,
    body: &mut Arriving,
    version: Version,
) -> Result<Bytes, Status> {
    let encoding = frame::Encoding::of(&head.headers)?;
    let limits = &app.options.limits;
    let read = async {
        let bytes = body::collect(body, limits, limits.body_bytes + frame::PREFIX).await?;
        let message = frame::only(bytes, encoding, limits).await?;
        let weigh = async { proto::check_weight(head.uri.path(), &message, limits.parsed_bytes()) };
        heavy::answered(message.len(), pin!(weigh)).await?;
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

fn spell(
    app: &Arc<App>,
    speech: Speech<Version>,
    outcome: Outcome,
    deadline: deadline::Deadline,
) -> Response {
    let version = speech.language;
    let mut out = frame::open();
    let mut push_state = None;
    match outcome {
        Outcome::Sent { view, shape } => speech.write_task_item(&view, shape, None, &mut out),
        Outcome::Replied(message) => proto::write_message_item(version, &message, &mut out),
        Outcome::Seen { seen, shape } => speech.write_seen(&seen, shape, &mut out),
        Outcome::Canceled { view, shape } => speech.write_task(&view, shape, &mut out),
        Outcome::Listed { page, shape } => proto::write_list(&page, shape, &mut out),
        Outcome::Stream(opened) => {
            return answer::stream(EventStream::new(app, speech, opened, deadline));
        }
        Outcome::PushConfig(kept) => {
            push_state = push_state::of_one(&kept);
            proto::write_push_config(version, &kept, &mut out);
        }
        Outcome::PushConfigs(page) => {
            push_state = push_state::of_many(&page.configs);
            proto::write_push_configs(version, &page, &mut out);
        }
        Outcome::PushConfigDeleted => {}
        Outcome::ExtendedCard => return card(app.grpc_cards.extended(app, version)),
        Outcome::Commands(specs) => {
            if let Err(error) = proto::write_commands(&specs, &mut out) {
                return answer::failure(&failed(&error));
            }
        }
        // What happens next is read from the task.
        Outcome::Executed { executed, .. } => {
            if let Err(error) = executed.response.write_proto(&mut out) {
                return answer::failure(&failed(&error));
            }
        }
    }
    let mut response = answer::message(out);
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
            answer::message(out)
        }
        None => answer::failure(&failed("the card cannot be written in protobuf")),
    }
}

fn failed(message: &str) -> Status {
    Status { code: Code::Internal, message: message.to_owned(), details: Vec::new() }
}
