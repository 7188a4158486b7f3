//! Carries out one operation and wraps what comes of it; the same for every binding.

use std::sync::Arc;

use attache_domain::{Call, Fault, Operation, OperationKind, Scope, Seq, TaskId, TaskView};
use attache_session::{Reply, WhenFinished};
use attache_wire::encode::{self, ArtifactsShown, TaskShape};
use attache_wire::{Decoded, Dialect, Version, extensions};
use http::request::Parts;
use http::{HeaderName, HeaderValue};

use crate::app::{Admitted, App};
use crate::framing::Framing;
use crate::http::Response;
use crate::sse::EventStream;

/// A request whose operation is known and whose parameters are not yet read.
pub(crate) struct Asked<'a> {
    pub(crate) head: &'a Parts,
    pub(crate) admitted: Admitted,
    pub(crate) framing: Framing,
    pub(crate) dialect: Dialect,
    pub(crate) kind: OperationKind,
}

/// Checks in the order extension, capability, parameters, resource, state; then acts.
pub(crate) async fn perform(
    app: &Arc<App>,
    asked: Asked<'_>,
    decode: impl FnOnce() -> Result<Decoded, Fault>,
) -> Response {
    let Asked { head, admitted, framing, dialect, kind } = asked;
    let (result, activated) = match activate(app, head) {
        Err(fault) => (Err(fault), Vec::new()),
        Ok(activated) => (act(app, head, admitted, &framing, (dialect, kind), decode).await, activated),
    };
    app.metrics.called(framing.binding(), framing.version(), kind, result.as_ref().err());
    let mut response = match result {
        Ok(response) => response,
        Err(fault) => {
            report(admitted.number, kind, &fault);
            framing.fault(&fault)
        }
    };
    if !activated.is_empty()
        && let Ok(value) = HeaderValue::from_str(&activated.join(", "))
    {
        let name = HeaderName::from_static(extensions::header_name(framing.version()));
        response.headers_mut().insert(name, value);
    }
    response
}

/// Both header names are read on both versions: a client that means well is not punished for the other one.
fn activate(app: &App, head: &Parts) -> Result<Vec<String>, Fault> {
    if app.options.card.capabilities.extensions.is_empty() {
        return Ok(Vec::new());
    }
    let names = [extensions::header_name(Version::V1_0), extensions::header_name(Version::V0_3)];
    let values =
        names.iter().flat_map(|name| head.headers.get_all(*name)).filter_map(|value| value.to_str().ok());
    app.activate(&extensions::requested(values))
}

async fn act(
    app: &Arc<App>,
    head: &Parts,
    admitted: Admitted,
    framing: &Framing,
    (dialect, kind): (Dialect, OperationKind),
    decode: impl FnOnce() -> Result<Decoded, Fault>,
) -> Result<Response, Fault> {
    check_capability(app, kind)?;
    let Decoded { operation, tenant } = decode()?;
    check_tenant(app, head, framing, tenant.as_deref())?;
    let scope = Scope::new(tenant.unwrap_or_default(), admitted.caller.owner);
    let call = Call { scope, operation };
    let session = &app.session;
    let scope = &call.scope;
    // What ties a request's number to the task that other lines of the log name.
    let done =
        |task: &TaskId| tracing::debug!(request = admitted.number, operation = kind.name(), %task, "done");
    let mut out = Vec::with_capacity(1024);
    framing.open(&mut out);
    match call.operation {
        Operation::Send(send) => {
            let shape = shape(send.configuration.history_length);
            match session.send(scope, send).await? {
                Reply::Task(view) => {
                    done(&view.task);
                    encode::write_task_item(dialect, &view, shape, &mut out);
                }
                Reply::Message(message) => encode::write_message_item(dialect, &message, &mut out),
            }
        }
        Operation::Get(get) => {
            let seen = session.get(scope, &get).await?;
            done(&seen.view.task);
            let shape = shape(get.history_length);
            let write = |view: &TaskView, out: &mut Vec<u8>| encode::write_task(dialect, view, shape, out);
            match get.history_length {
                None => seen.write_whole(dialect.index(), &mut out, write),
                Some(_) => write(&seen.view, &mut out),
            }
        }
        Operation::List(list) => {
            let page = session.list(scope, &list).await?;
            let artifacts =
                if list.include_artifacts { ArtifactsShown::Always } else { ArtifactsShown::Never };
            let page = encode::TaskPage {
                tasks: page.tasks,
                next_page_token: page.next_page_token,
                page_size: page.page_size,
                total_size: page.total_size,
            };
            encode::write_list(&page, TaskShape { history_length: list.history_length, artifacts }, &mut out);
        }
        Operation::Cancel(cancel) => {
            let view = session.cancel(scope, &cancel).await?;
            done(&view.task);
            encode::write_task(dialect, &view, shape(None), &mut out);
        }
        Operation::Stream(send) => {
            let shape = shape(send.configuration.history_length);
            let (subscription, bare) = session.stream(scope, send, last_event_id(head)?).await?;
            done(&subscription.view.task);
            return Ok(
                EventStream::new(app, framing.clone(), dialect, shape, subscription, bare).into_response()
            );
        }
        Operation::Subscribe(mut subscribe) => {
            subscribe.after = last_event_id(head)?.or(subscribe.after);
            let when_finished = match framing.version() {
                Version::V0_3 => WhenFinished::Show,
                Version::V1_0 => WhenFinished::Refuse,
            };
            let subscription = session.subscribe(scope, &subscribe, when_finished).await?;
            done(&subscription.view.task);
            let stream = EventStream::new(app, framing.clone(), dialect, shape(None), subscription, false);
            return Ok(stream.into_response());
        }
        Operation::PushConfig(_) => return Err(Fault::PushNotSupported),
        Operation::ExtendedCard => return Err(Fault::ExtendedCardNotConfigured),
    }
    framing.close(&mut out);
    Ok(framing.answer(out))
}

/// When the card lists tenants, there are no others.
fn check_tenant(app: &App, head: &Parts, framing: &Framing, tenant: Option<&str>) -> Result<(), Fault> {
    let Some(tenant) = tenant else { return Ok(()) };
    let mut listed = app.options.card.interfaces.iter().filter_map(|it| it.tenant.as_deref()).peekable();
    if listed.peek().is_none() || listed.any(|known| known == tenant) {
        return Ok(());
    }
    Err(match framing {
        Framing::JsonRpc { .. } => Fault::invalid("tenant", "is not one of this agent's"),
        Framing::Rest { .. } => Fault::RouteNotFound { path: head.uri.path().to_owned() },
    })
}

fn shape(history_length: Option<usize>) -> TaskShape {
    TaskShape { history_length, artifacts: ArtifactsShown::WhenAny }
}

/// What the card does not offer is refused before its parameters are looked at.
fn check_capability(app: &App, kind: OperationKind) -> Result<(), Fault> {
    let capabilities = &app.options.card.capabilities;
    match kind {
        OperationKind::PushCreate
        | OperationKind::PushGet
        | OperationKind::PushList
        | OperationKind::PushDelete
            if !capabilities.push_notifications =>
        {
            Err(Fault::PushNotSupported)
        }
        OperationKind::Stream | OperationKind::Subscribe if !capabilities.streaming => {
            Err(Fault::Unsupported { what: "this agent does not stream".into() })
        }
        OperationKind::ExtendedCard if !capabilities.extended_agent_card => {
            Err(Fault::Unsupported { what: "this agent has no extended card".into() })
        }
        _ => Ok(()),
    }
}

/// Where a stream was cut off, as browsers and SSE clients say it.
fn last_event_id(head: &Parts) -> Result<Option<Seq>, Fault> {
    let Some(value) = head.headers.get("last-event-id") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(None);
    }
    let seq = text.parse().map_err(|_| Fault::BadCursor { given: text.chars().take(40).collect() })?;
    Ok(Some(Seq(seq)))
}

fn report(request: u64, kind: OperationKind, fault: &Fault) {
    let operation = kind.name();
    match fault {
        Fault::Internal | Fault::InvalidAgentResponse { .. } => {
            tracing::error!(request, operation, %fault, "a call failed");
        }
        _ => tracing::debug!(request, operation, %fault, "a call was refused"),
    }
}
