//! Carries out one operation; what comes of it is the same for every binding and is spelled by them.

use std::sync::Arc;

use attache_domain::{
    CommandSpec, Cursor, Fault, GapPolicy, GetTask, Message, Operation, OperationKind, PushConfigOperation,
    PushConfigPage, Scope, StoredPushConfig, TaskId, TaskState, TaskView,
};
use attache_session::{RenderedTask, SendReply, Subscription, WhenFinished, weight_of_view};
use attache_wire::devtool::Profile;
use attache_wire::encode::{IncludeArtifacts, TaskPage, TaskShape};
use attache_wire::{DecodedOperation, Version, replay};
use http::HeaderMap;

use crate::app::{App, RequestOrigin};
use crate::command_response::ExecutedCommand;
use crate::connection_origin::Admission;
use crate::extension_selection::ExtensionSelection;
use crate::framing::BindingName;
use crate::open_calls::{CallPurpose, OpenCall};
use crate::response_budget::{BudgetFull, ResponseReservation, reserve, try_reserve};

/// A request whose operation is known and whose parameters are not yet read.
pub(crate) struct OperationRequest<'a> {
    pub(crate) headers: &'a HeaderMap,
    pub(crate) admitted: RequestOrigin,
    pub(crate) binding: BindingName,
    pub(crate) version: Version,
    pub(crate) kind: OperationKind,
}

/// What an operation came to.
pub(crate) enum OperationOutcome {
    /// The answer to a send: a task, or nothing but a message.
    Sent {
        view: Arc<TaskView>,
        shape: TaskShape,
    },
    Replied(Arc<Message>),
    /// A task that was asked for, as it may have been spelled before.
    Task {
        seen: Arc<RenderedTask>,
        shape: TaskShape,
    },
    Canceled {
        view: Arc<TaskView>,
        shape: TaskShape,
    },
    Listed {
        page: TaskPage,
        shape: TaskShape,
    },
    Stream(StreamStart),
    Commands(Vec<CommandSpec>),
    Executed {
        executed: ExecutedCommand,
        profile: Option<Profile>,
    },
    PushConfig(StoredPushConfig),
    PushConfigs(PushConfigPage),
    PushConfigDeleted,
    ExtendedCard,
}

/// An operation that was carried out, or refused.
pub(crate) struct HandledOperation {
    pub(crate) activation: ExtensionSelection,
    pub(crate) result: Result<OperationOutcome, Fault>,
    /// What a large answer holds of the room for them, to be kept with the answer.
    pub(crate) reservation: Option<Arc<ResponseReservation>>,
}

/// A stream, not yet begun.
pub(crate) struct StreamStart {
    /// Counts the stream while it is open.
    pub(crate) open_call: Option<OpenCall>,
    pub(crate) subscription: Subscription,
    pub(crate) shape: TaskShape,
    pub(crate) first: StreamOpening,
    /// The client has seen everything before: it comes back to where it was cut off.
    pub(crate) resumes: bool,
}

/// What a stream shows first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamOpening {
    Task,
    /// The task itself is left out, unless there is nothing else to be seen.
    Events,
    /// The answer is one bare message; there is no task to be seen.
    Message,
}

/// Checks in the order extension, capability, parameters, resource, state; then acts.
pub(crate) async fn handle(
    app: &Arc<App>,
    asked: &OperationRequest<'_>,
    decode: impl FnOnce() -> Result<DecodedOperation, Fault>,
) -> HandledOperation {
    let mut activation = ExtensionSelection::of(app, asked.headers, asked.version);
    let mut share = None;
    let result = run(app, asked, &mut activation, &mut share, decode).await;
    app.metrics.count_call(asked.binding, asked.version, asked.kind, result.as_ref().err());
    if let Err(fault) = &result {
        report(asked.admitted.number, asked.kind, fault);
    }
    HandledOperation { activation, result, reservation: share }
}

async fn run(
    app: &Arc<App>,
    asked: &OperationRequest<'_>,
    activation: &mut ExtensionSelection,
    share: &mut Option<Arc<ResponseReservation>>,
    decode: impl FnOnce() -> Result<DecodedOperation, Fault>,
) -> Result<OperationOutcome, Fault> {
    let OperationRequest { headers, admitted, version, kind, .. } = *asked;
    let decoded = decode();
    // A message may show by what it says that its client knows the extension.
    activation.set_recognized_profile(decoded.as_ref().ok().and_then(|decoded| decoded.profile));
    activation.check(app)?;
    check_capability(app, kind)?;
    let DecodedOperation { mut operation, tenant, .. } = decoded?;
    if admitted.is_local
        && let Some(wishes) = operation.requested_settings_mut()
    {
        wishes.mark_local_client();
    }
    check_tenant(app, tenant.as_deref())?;
    let replays = activation.is_active(replay::URI);
    let scope = &Scope::new(tenant.unwrap_or_default(), admitted.caller.owner);
    let (session, room) = (&app.session, &app.options.limits.response_budget);
    // A client that does not name the task it goes on with is shown it.
    let mut names_task = true;
    let streams = matches!(operation, Operation::Stream(_));
    if let Operation::Send(send) | Operation::Stream(send) = &mut operation {
        names_task = send.message.task.is_some();
        activation.apply_to(send, admitted.answer_place);
        send.options.resumes = streams && cursor(headers)?.is_some();
        if let Some(task) = session.task_in_context(scope, send).await? {
            send.message.task = Some(task);
        }
    }
    let open_call = open_call(app, scope, admitted, &operation).await?;
    // What ties a request's number to the task that other lines of the log name.
    let done =
        |task: &TaskId| tracing::debug!(request = admitted.number, operation = kind.name(), %task, "done");
    Ok(match operation {
        Operation::Send(send) => {
            let length = send.configuration.history_length;
            match session.send(scope, send).await? {
                SendReply::Task(view) => {
                    *share = reserve(room, weight_of_view(&view)).await?;
                    done(&view.task);
                    let shape = shape(length, activation.profile_for(&view));
                    OperationOutcome::Sent { view, shape }
                }
                SendReply::Message(message) => OperationOutcome::Replied(message),
            }
        }
        Operation::Get(mut get) => {
            if replays {
                get.at = cursor(headers)?;
            }
            let mut seen = session.get(scope, &get).await?;
            let bytes = weight_of_view(&seen.view);
            match try_reserve(room, bytes) {
                Ok(found) => *share = found,
                Err(BudgetFull) => {
                    drop(seen);
                    *share = reserve(room, bytes).await?;
                    seen = session.get(scope, &get).await?;
                }
            }
            done(&seen.view.task);
            let shape = shape(get.history_length, activation.profile_for(&seen.view));
            OperationOutcome::Task { seen, shape }
        }
        Operation::List(list) => {
            let mut page = session.list(scope, &list).await?;
            let bytes = page.tasks.iter().map(|view| weight_of_view(view)).sum();
            match try_reserve(room, bytes) {
                Ok(found) => *share = found,
                Err(BudgetFull) => {
                    drop(page);
                    *share = reserve(room, bytes).await?;
                    page = session.list(scope, &list).await?;
                }
            }
            let page = TaskPage {
                tasks: page.tasks,
                next_page_token: page.next_page_token,
                page_size: page.page_size,
                total_size: page.total_size,
            };
            let artifacts =
                if list.include_artifacts { IncludeArtifacts::Always } else { IncludeArtifacts::Never };
            let profile = activation.opening_profile();
            let shape = TaskShape { history_length: list.history_length, artifacts, profile };
            OperationOutcome::Listed { page, shape }
        }
        Operation::Cancel(cancel) => {
            let view = session.cancel(scope, &cancel).await?;
            *share = reserve(room, weight_of_view(&view)).await?;
            done(&view.task);
            let shape = shape(None, activation.profile_for(&view));
            OperationOutcome::Canceled { view, shape }
        }
        Operation::Stream(send) => {
            let length = send.configuration.history_length;
            let after = cursor(headers)?;
            let (subscription, bare) = session.stream(scope, send, after.as_ref()).await?;
            *share = reserve(room, weight_of_view(&subscription.view)).await?;
            done(&subscription.view.task);
            let shape = shape(length, activation.profile_for(&subscription.view));
            // Both dialects of the extension go on where they were; 1.0 wants every stream to begin with the task.
            let goes_on = names_task && shape.profile != Profile::Plain && version == Version::V0_3;
            let first = match (bare, goes_on) {
                (true, _) => StreamOpening::Message,
                (false, true) => StreamOpening::Events,
                (false, false) => StreamOpening::Task,
            };
            OperationOutcome::Stream(StreamStart {
                open_call,
                subscription,
                shape,
                first,
                resumes: after.is_some(),
            })
        }
        Operation::Subscribe(mut subscribe) => {
            subscribe.after = cursor(headers)?.or(subscribe.after);
            if replays {
                subscribe.gap_policy = GapPolicy::Report;
            }
            let when_finished = match version {
                Version::V0_3 => WhenFinished::Show,
                Version::V1_0 => WhenFinished::Refuse,
            };
            let mut subscription = session.subscribe(scope, &subscribe, when_finished).await?;
            *share = reserve(room, weight_of_view(&subscription.view)).await?;
            done(&subscription.view.task);
            let shape = shape(None, activation.profile_for(&subscription.view));
            // Clients of Gemini CLI's server expect a stream that ends when there is nothing to wait for.
            if shape.profile == Profile::Gemini && version == Version::V0_3 {
                subscription.close_at_rest();
            }
            let resumes = subscribe.after.is_some() && subscription.gap.is_none();
            OperationOutcome::Stream(StreamStart {
                open_call,
                subscription,
                shape,
                first: StreamOpening::Task,
                resumes,
            })
        }
        Operation::Commands(list) => OperationOutcome::Commands(session.commands(scope, list).await?),
        Operation::Execute(mut send) => {
            activation.apply_to(&mut send, admitted.answer_place);
            let execution = session.run_command(scope, send).await?;
            let executed = ExecutedCommand::new(execution, open_call);
            OperationOutcome::Executed { executed, profile: activation.profile() }
        }
        Operation::PushConfig(call) => match call {
            PushConfigOperation::Create { task, wish } => {
                OperationOutcome::PushConfig(session.create_push_config(scope, &task, wish).await?)
            }
            PushConfigOperation::Get { task, config } => {
                OperationOutcome::PushConfig(session.push_config(scope, &task, config.as_ref()).await?)
            }
            PushConfigOperation::List(list) => {
                OperationOutcome::PushConfigs(session.push_configs(scope, &list).await?)
            }
            PushConfigOperation::Delete { task, config } => {
                session.delete_push_config(scope, &task, &config).await?;
                OperationOutcome::PushConfigDeleted
            }
        },
        Operation::ExtendedCard if app.cards.has_extended() => OperationOutcome::ExtendedCard,
        Operation::ExtendedCard => return Err(Fault::ExtendedCardNotConfigured),
    })
}

/// Counts what stays open while it waits: streams, and sends that wait for their task. Refuses it when the caller is at its
/// limit, and when the connection is one of the reserve; but not an answer that a task waits for.
async fn open_call(
    app: &App,
    scope: &Scope,
    admitted: RequestOrigin,
    operation: &Operation,
) -> Result<Option<OpenCall>, Fault> {
    let continued = match operation {
        Operation::Send(send) | Operation::Stream(send) | Operation::Execute(send) => {
            send.message.task.clone()
        }
        Operation::Subscribe(_) => None,
        _ => return Ok(None),
    };
    let in_reserve = admitted.connection.admission == Admission::Reserve;
    let at_once = matches!(operation, Operation::Send(send) if send.configuration.return_immediately);
    let refused = if in_reserve {
        let what = "all connections are taken, and this one only serves health checks, cancels and answers to approvals";
        Fault::Busy { what }
    } else if at_once {
        return Ok(None);
    } else {
        match app.open_calls.take(admitted.caller, admitted.connection, CallPurpose::Any) {
            Ok(open_call) => return Ok(Some(open_call)),
            Err(refused) => refused,
        }
    };
    if let Some(task) = continued
        && let Ok(seen) = app.session.get(scope, &GetTask { task, history_length: None, at: None }).await
        && matches!(seen.view.progress.state, TaskState::InputRequired | TaskState::AuthRequired)
    {
        return app.open_calls.take(admitted.caller, admitted.connection, CallPurpose::Answer).map(Some);
    }
    app.metrics.count_refused_stream();
    Err(refused)
}

/// When tenants are listed, there are no others.
fn check_tenant(app: &App, tenant: Option<&str>) -> Result<(), Fault> {
    let Some(tenant) = tenant else { return Ok(()) };
    let listed = &app.options.tenants;
    let fits = tenant.len() <= MAX_TENANT_BYTES && !attache_wire::rest::is_reserved(tenant);
    if fits && (listed.is_empty() || listed.iter().any(|known| known == tenant)) {
        return Ok(());
    }
    Err(Fault::TenantNotFound { tenant: tenant.chars().take(MAX_SHOWN_TENANT_CHARS).collect() })
}

/// A tenant is part of every key in the store; none has a longer name, in bytes.
const MAX_TENANT_BYTES: usize = 256;

/// How much of an unknown tenant's name is told back.
const MAX_SHOWN_TENANT_CHARS: usize = 80;

pub(crate) fn shape(history_length: Option<usize>, profile: Profile) -> TaskShape {
    TaskShape { history_length, artifacts: IncludeArtifacts::WhenAny, profile }
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

/// Where a stream was cut off: as the replay extension says it, or as browsers and SSE clients do.
fn cursor(headers: &HeaderMap) -> Result<Option<Cursor>, Fault> {
    let value = headers.get(replay::CURSOR_HEADER).or_else(|| headers.get("last-event-id"));
    let text = value.map(|value| value.to_str().unwrap_or("unreadable").trim()).unwrap_or_default();
    if text.is_empty() { Ok(None) } else { replay::parse_cursor(text).map(Some) }
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
