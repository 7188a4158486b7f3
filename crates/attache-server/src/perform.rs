//! Carries out one operation and wraps what comes of it; the same for every binding.

use std::sync::Arc;

use attache_domain::{Call, Fault, Operation, OperationKind, Scope, Seq, TaskId, TaskView};
use attache_session::{Reply, WhenFinished};
use attache_wire::devtool::{Profile, commands};
use attache_wire::encode::{self, ArtifactsShown, TaskShape};
use attache_wire::{Decoded, Dialect, Version};
use http::request::Parts;

use crate::activation::Activation;
use crate::app::{Admitted, App};
use crate::execute;
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
    let mut activation = Activation::of(app, asked.head);
    let result = act(app, &asked, &mut activation, decode).await;
    let Asked { admitted, framing, kind, .. } = asked;
    app.metrics.called(framing.binding(), framing.version(), kind, result.as_ref().err());
    let mut response = match result {
        Ok(response) => response,
        Err(fault) => {
            report(admitted.number, kind, &fault);
            framing.fault(&fault)
        }
    };
    activation.confirm(framing.version(), &mut response);
    response
}

async fn act(
    app: &Arc<App>,
    asked: &Asked<'_>,
    activation: &mut Activation,
    decode: impl FnOnce() -> Result<Decoded, Fault>,
) -> Result<Response, Fault> {
    let Asked { head, admitted, framing, dialect, kind } = asked;
    let (dialect, kind) = (*dialect, *kind);
    let decoded = decode();
    // A message may show by what it says that its client knows the extension.
    activation.sign(decoded.as_ref().ok().and_then(|decoded| decoded.profile));
    activation.check(app)?;
    check_capability(app, kind)?;
    let Decoded { operation, tenant, .. } = decoded?;
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
            let length = send.configuration.history_length;
            match session.send(scope, activation.adopt(send)).await? {
                Reply::Task(view) => {
                    done(&view.task);
                    let shape = shape(length, activation.profile_for(&view));
                    encode::write_task_item(dialect, &view, shape, &mut out);
                }
                Reply::Message(message) => encode::write_message_item(dialect, &message, &mut out),
            }
        }
        Operation::Get(get) => {
            let seen = session.get(scope, &get).await?;
            done(&seen.view.task);
            let profile = activation.profile_for(&seen.view);
            let shape = shape(get.history_length, profile);
            let write = |view: &TaskView, out: &mut Vec<u8>| encode::write_task(dialect, view, shape, out);
            match get.history_length {
                None => seen.write_whole(profile.index(dialect), &mut out, write),
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
            let profile = activation.profile().unwrap_or(Profile::Plain);
            let shape = TaskShape { history_length: list.history_length, artifacts, profile };
            encode::write_list(&page, shape, &mut out);
        }
        Operation::Cancel(cancel) => {
            let view = session.cancel(scope, &cancel).await?;
            done(&view.task);
            let shape = shape(None, activation.profile_for(&view));
            encode::write_task(dialect, &view, shape, &mut out);
        }
        Operation::Stream(send) => {
            let length = send.configuration.history_length;
            let continues = send.message.task.is_some();
            let send = activation.adopt(send);
            let (subscription, bare) = session.stream(scope, send, last_event_id(head)?).await?;
            done(&subscription.view.task);
            let shape = shape(length, activation.profile_for(&subscription.view));
            let mut stream = EventStream::new(app, framing.clone(), dialect, shape, subscription, bare);
            // Both dialects of the extension go on where they were; 1.0 wants every stream to begin with the task.
            if continues && shape.profile != Profile::Plain && framing.version() == Version::V0_3 {
                stream.begin_with_events();
            }
            return Ok(stream.into_response());
        }
        Operation::Subscribe(mut subscribe) => {
            subscribe.after = last_event_id(head)?.or(subscribe.after);
            let when_finished = match framing.version() {
                Version::V0_3 => WhenFinished::Show,
                Version::V1_0 => WhenFinished::Refuse,
            };
            let subscription = session.subscribe(scope, &subscribe, when_finished).await?;
            done(&subscription.view.task);
            let shape = shape(None, activation.profile_for(&subscription.view));
            let stream = EventStream::new(app, framing.clone(), dialect, shape, subscription, false);
            return Ok(stream.into_response());
        }
        Operation::Commands(list) => commands::write_list(&session.commands(scope, list).await?, &mut out),
        Operation::Execute(send) => {
            let send = activation.adopt(send);
            let execution = execute::Executed::new(session.execute(scope, send).await?);
            if execute::wants_events(head) {
                let Some(started) = execution.started else { return Ok(execution.response.alone(framing)) };
                let mut first = Vec::new();
                execution.response.write(&mut first);
                let subscription = session.follow(started);
                let shape = shape(None, activation.profile_for(&subscription.view));
                let mut stream = EventStream::new(app, framing.clone(), dialect, shape, subscription, false);
                stream.begin_with(&first);
                return Ok(stream.into_response());
            }
            execution.response.write(&mut out);
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

fn shape(history_length: Option<usize>, profile: Profile) -> TaskShape {
    TaskShape { history_length, artifacts: ArtifactsShown::WhenAny, profile }
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
