//! Runs one operation against the session. The outcome is the same for every binding.

use std::sync::Arc;

use attache_domain::{
    CommandSpec, Fault, GapPolicy, GetTask, Message, Operation, OperationKind, PushConfigOperation,
    PushConfigPage, Scope, StoredPushConfig, TaskId, TaskState, TaskView,
};
use attache_session::{RenderedTask, SendReply, WhenFinished, weight_of_view};
use attache_wire::devtool::Dialect;
use attache_wire::encode::{IncludeArtifacts, TaskPage, TaskShape};
use attache_wire::{DecodedOperation, Version, replay};

use crate::app::{App, RequestOrigin};
use crate::command_response::ExecutedCommand;
use crate::connection_origin::Admission;
use crate::extension_selection::ExtensionSelection;
use crate::handler::OperationRequest;
use crate::last_event_id;
use crate::open_calls::{CallPurpose, OpenCall};
use crate::response_budget::{BudgetFull, ResponseReservation, reserve, try_reserve};
use crate::task_stream::{StreamOpening, StreamStart};

/// The result of an operation, before it is encoded.
pub(crate) enum OperationOutcome {
    /// The answer to a send: a task, or one bare message.
    Sent {
        view: Arc<TaskView>,
        shape: TaskShape,
    },
    Replied(Arc<Message>),
    /// The answer to a get; its encoded form may be cached.
    Task {
        task: Arc<RenderedTask>,
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
        command: ExecutedCommand,
        dialect: Option<Dialect>,
    },
    PushConfig(StoredPushConfig),
    PushConfigs(PushConfigPage),
    PushConfigDeleted,
    ExtendedCard,
}

/// Checks in the order rights, extension, capability, parameters, resource, state; then acts.
///
/// A large answer leaves its share of the response budget in `reservation`, which lives as long as the response.
pub(crate) async fn run(
    app: &Arc<App>,
    request: &OperationRequest<'_>,
    extensions: &mut ExtensionSelection,
    reservation: &mut Option<Arc<ResponseReservation>>,
    decode: impl FnOnce() -> Result<DecodedOperation, Fault>,
) -> Result<OperationOutcome, Fault> {
    let OperationRequest { head, origin, encoding, kind, .. } = *request;
    origin.caller.may_ask(kind)?;
    let (headers, version) = (&head.headers, encoding.version());
    let interface = request.framing.binding().interface();
    let decoded = decode();
    // The content of a message may show that its client speaks the extension.
    extensions.set_recognized_dialect(decoded.as_ref().ok().and_then(|decoded| decoded.dialect));
    extensions.check(app)?;
    check_capability(app, kind)?;
    let DecodedOperation { mut operation, tenant, .. } = decoded?;
    if origin.is_local
        && let Some(settings) = operation.requested_settings_mut()
    {
        settings.mark_local_client();
    }
    check_tenant(app, tenant.as_deref())?;
    let replays = extensions.is_active(replay::URI);
    let scope = &origin.caller.scope(tenant.unwrap_or_default());
    let (session, budget) = (&app.session, &app.options.limits.response_budget);
    // A client that continues a task without naming it is shown the task.
    let mut names_task = true;
    let streams = matches!(operation, Operation::Stream(_));
    if let Operation::Send(send) | Operation::Stream(send) = &mut operation {
        names_task = send.message.task.is_some();
        app.address_to_session(send);
        extensions.apply_to(app, send, origin, interface);
        send.options.resumes = streams && last_event_id::cursor(headers)?.is_some();
        if let Some(task) = session.task_in_context(scope, send).await? {
            send.message.task = Some(task);
        }
    }
    let open_call = open_call(app, scope, origin, &operation).await?;
    // Ties the request's number to the task that other log lines name.
    let done =
        |task: &TaskId| tracing::debug!(request = origin.number, operation = kind.name(), %task, "done");
    Ok(match operation {
        Operation::Send(send) => {
            let length = send.configuration.history_length;
            match session.send(scope, send).await? {
                SendReply::Task(view) => {
                    *reservation = reserve(budget, weight_of_view(&view)).await?;
                    done(&view.task);
                    let shape = shape(length, extensions.dialect_for(&view));
                    OperationOutcome::Sent { view, shape }
                }
                SendReply::Message(message) => OperationOutcome::Replied(message),
            }
        }
        Operation::Get(mut get) => {
            if replays {
                get.at = last_event_id::cursor(headers)?;
            }
            let mut task = session.get(scope, &get).await?;
            let bytes = weight_of_view(&task.view);
            match try_reserve(budget, bytes) {
                Ok(found) => *reservation = found,
                Err(BudgetFull) => {
                    drop(task);
                    *reservation = reserve(budget, bytes).await?;
                    task = session.get(scope, &get).await?;
                }
            }
            done(&task.view.task);
            let shape = shape(get.history_length, extensions.dialect_for(&task.view));
            OperationOutcome::Task { task, shape }
        }
        Operation::List(list) => {
            let mut page = session.list(scope, &list).await?;
            let bytes = page.tasks.iter().map(|view| weight_of_view(view)).sum();
            match try_reserve(budget, bytes) {
                Ok(found) => *reservation = found,
                Err(BudgetFull) => {
                    drop(page);
                    *reservation = reserve(budget, bytes).await?;
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
            let dialect = extensions.opening_dialect();
            let shape = TaskShape { history_length: list.history_length, artifacts, dialect };
            OperationOutcome::Listed { page, shape }
        }
        Operation::Cancel(cancel) => {
            let view = session.cancel(scope, &cancel).await?;
            *reservation = reserve(budget, weight_of_view(&view)).await?;
            done(&view.task);
            let shape = shape(None, extensions.dialect_for(&view));
            OperationOutcome::Canceled { view, shape }
        }
        Operation::Stream(send) => {
            let length = send.configuration.history_length;
            let after = last_event_id::cursor(headers)?;
            let (subscription, bare) = session.stream(scope, send, after.as_ref()).await?;
            *reservation = reserve(budget, weight_of_view(&subscription.view)).await?;
            done(&subscription.view.task);
            let shape = shape(length, extensions.dialect_for(&subscription.view));
            // Both dialects of the extension continue with events; in 1.0 every stream begins with the task.
            let goes_on = names_task && shape.dialect != Dialect::Plain && version == Version::V0_3;
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
            subscribe.after = last_event_id::cursor(headers)?.or(subscribe.after);
            if replays {
                subscribe.gap_policy = GapPolicy::Report;
            }
            let when_finished = match version {
                Version::V0_3 => WhenFinished::Show,
                Version::V1_0 => WhenFinished::Refuse,
            };
            let mut subscription = session.subscribe(scope, &subscribe, when_finished).await?;
            *reservation = reserve(budget, weight_of_view(&subscription.view)).await?;
            done(&subscription.view.task);
            let shape = shape(None, extensions.dialect_for(&subscription.view));
            // Clients of Gemini CLI's server expect a stream that ends when there is nothing to wait for.
            if shape.dialect == Dialect::Gemini && version == Version::V0_3 {
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
            app.address_to_session(&mut send);
            extensions.apply_to(app, &mut send, origin, interface);
            let execution = session.run_command(scope, send).await?;
            let command = ExecutedCommand::new(execution, open_call);
            OperationOutcome::Executed { command, dialect: extensions.dialect() }
        }
        Operation::PushConfig(call) => match call {
            PushConfigOperation::Create { task, request } => {
                OperationOutcome::PushConfig(session.create_push_config(scope, &task, request).await?)
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

/// Counts streams and waiting sends. Refuses them at the caller's limit and on reserve connections, except an answer that a
/// task waits for.
pub(crate) async fn open_call(
    app: &App,
    scope: &Scope,
    origin: RequestOrigin,
    operation: &Operation,
) -> Result<Option<OpenCall>, Fault> {
    let continued = match operation {
        Operation::Send(send) | Operation::Stream(send) | Operation::Execute(send) => {
            send.message.task.clone()
        }
        Operation::Subscribe(_) => None,
        _ => return Ok(None),
    };
    let in_reserve = origin.connection.admission == Admission::Reserve;
    let at_once = matches!(operation, Operation::Send(send) if send.configuration.return_immediately);
    let refused = if in_reserve {
        let what = "all connections are taken, and this one only serves health checks, cancels and answers to approvals";
        Fault::Busy { what }
    } else if at_once {
        return Ok(None);
    } else {
        match app.open_calls.take(origin.caller, origin.connection, CallPurpose::Any) {
            Ok(open_call) => return Ok(Some(open_call)),
            Err(refused) => refused,
        }
    };
    if let Some(task) = continued
        && let Ok(seen) = app.session.get(scope, &GetTask { task, history_length: None, at: None }).await
        && matches!(seen.view.progress.state, TaskState::InputRequired | TaskState::AuthRequired)
    {
        return app.open_calls.take(origin.caller, origin.connection, CallPurpose::Answer).map(Some);
    }
    app.metrics.count_refused_stream();
    Err(refused)
}

/// With a list of tenants, all others are unknown.
fn check_tenant(app: &App, tenant: Option<&str>) -> Result<(), Fault> {
    let Some(tenant) = tenant else { return Ok(()) };
    let listed = &app.options.tenants;
    let fits = tenant.len() <= MAX_TENANT_BYTES && !attache_wire::rest::is_reserved(tenant);
    if fits && (listed.is_empty() || listed.iter().any(|known| known == tenant)) {
        return Ok(());
    }
    Err(Fault::TenantNotFound { tenant: tenant.chars().take(MAX_SHOWN_TENANT_CHARS).collect() })
}

/// A tenant is part of every key in the store, so its name is limited.
const MAX_TENANT_BYTES: usize = 256;

/// An error names this much of an unknown tenant.
const MAX_SHOWN_TENANT_CHARS: usize = 80;

pub(crate) fn shape(history_length: Option<usize>, dialect: Dialect) -> TaskShape {
    TaskShape { history_length, artifacts: IncludeArtifacts::WhenAny, dialect }
}

/// Refuses what the card does not offer, before the parameters are checked.
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
