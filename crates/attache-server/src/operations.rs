//! Runs one operation against the session. The outcome is the same for every binding.

use std::sync::Arc;

use attache_domain::{
    CancelTask, CommandSpec, Fault, GapPolicy, GetTask, ListTasks, Message, Operation, OperationKind,
    PushConfigOperation, PushConfigPage, Scope, SendMessage, StoredPushConfig, SubscribeTask, TaskId,
    TaskState, TaskView,
};
use attache_session::{FinishedTaskRule, RenderedTask, SendReply, weight_of_view};
use attache_wire::devtool::Dialect;
use attache_wire::encode::{IncludeArtifacts, TaskPage, TaskShape};
use attache_wire::{DecodedOperation, Version, replay};

use crate::app::{App, RequestOrigin, unless_refused};
use crate::command_response::ExecutedCommand;
use crate::connection_origin::Admission;
use crate::extension_selection::ExtensionSelection;
use crate::handler::OperationRequest;
use crate::last_event_id;
use crate::open_requests::{OpenRequest, RequestPurpose};
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

/// Checks in the order extension, capability, parameters, resource, state; then acts.
///
/// A large answer leaves its share of the response budget in `reservation`, which lives as long as the response.
pub(crate) async fn run(
    app: &Arc<App>,
    request: &OperationRequest<'_>,
    extensions: &mut ExtensionSelection,
    reservation: &mut Option<Arc<ResponseReservation>>,
    decode: impl FnOnce() -> Result<DecodedOperation, Fault>,
) -> Result<OperationOutcome, Fault> {
    let decoded = decode();
    // The content of a message may show that its client speaks the extension.
    extensions.set_recognized_dialect(decoded.as_ref().ok().and_then(|decoded| decoded.dialect));
    extensions.check(app)?;
    check_capability(app, request.kind)?;
    let DecodedOperation { mut operation, tenant, .. } = decoded?;
    check_tenant(app, tenant.as_deref())?;
    let key = app.take_settings(operation.requested_settings_mut(), request.origin);
    let scope = request.origin.caller.scope(tenant.unwrap_or_default());
    let run = OperationRun { app, request, extensions, scope, reservation };
    unless_refused(key, run.run(operation).await)
}

/// One operation whose parameters are valid.
struct OperationRun<'a> {
    app: &'a Arc<App>,
    request: &'a OperationRequest<'a>,
    extensions: &'a ExtensionSelection,
    scope: Scope,
    reservation: &'a mut Option<Arc<ResponseReservation>>,
}

impl OperationRun<'_> {
    async fn run(mut self, mut operation: Operation) -> Result<OperationOutcome, Fault> {
        let app = self.app;
        let names_task = self.address(&mut operation).await?;
        let open_request = open_request(app, &self.scope, self.request.origin, &operation).await?;
        match operation {
            Operation::Send(send) => self.send(send).await,
            Operation::Get(get) => self.get(get).await,
            Operation::List(list) => self.list(list).await,
            Operation::Cancel(cancel) => self.cancel(&cancel).await,
            Operation::Stream(send) => self.stream(send, names_task, open_request).await,
            Operation::Subscribe(subscribe) => self.subscribe(subscribe, open_request).await,
            Operation::Commands(list) => {
                Ok(OperationOutcome::Commands(app.session.commands(&self.scope, list).await?))
            }
            Operation::Execute(send) => self.execute(send, open_request).await,
            Operation::PushConfig(operation) => self.push_config(operation).await,
            Operation::ExtendedCard if app.cards.has_extended() => Ok(OperationOutcome::ExtendedCard),
            Operation::ExtendedCard => Err(Fault::ExtendedCardNotConfigured),
        }
    }

    fn version(&self) -> Version {
        self.request.encoding.version()
    }

    /// Ties the request's number to the task that other log lines name.
    fn log_task(&self, task: &TaskId) {
        let (number, operation) = (self.request.origin.number, self.request.kind.name());
        tracing::debug!(request = number, operation, %task, "done");
    }

    async fn reserve(&mut self, bytes: usize) -> Result<(), Fault> {
        *self.reservation = reserve(&self.app.options.limits.response_budget, bytes).await?;
        Ok(())
    }

    /// Reserves room for an answer that was read. `None`: it had to wait for room without the answer, which is read again.
    async fn reserve_for<T>(&mut self, read: T, bytes: usize) -> Result<Option<T>, Fault> {
        match try_reserve(&self.app.options.limits.response_budget, bytes) {
            Ok(found) => {
                *self.reservation = found;
                Ok(Some(read))
            }
            Err(BudgetFull) => {
                drop(read);
                self.reserve(bytes).await?;
                Ok(None)
            }
        }
    }

    /// Completes a message. False: its client continues a task without naming it.
    async fn address(&self, operation: &mut Operation) -> Result<bool, Fault> {
        let streams = matches!(operation, Operation::Stream(_));
        let (Operation::Send(send) | Operation::Stream(send)) = operation else { return Ok(true) };
        let names_task = send.message.task.is_some();
        self.app.address_to_session(send);
        self.apply_extensions(send);
        send.options.resumes = streams && last_event_id::cursor(&self.request.head.headers)?.is_some();
        if let Some(task) = self.app.session.task_in_context(&self.scope, send).await? {
            send.message.task = Some(task);
        }
        Ok(names_task)
    }

    fn apply_extensions(&self, send: &mut SendMessage) {
        let interface = self.request.framing.binding().interface();
        self.extensions.apply_to(self.app, send, self.request.origin, interface);
    }

    async fn send(&mut self, send: SendMessage) -> Result<OperationOutcome, Fault> {
        let length = send.configuration.history_length;
        let view = match self.app.session.send(&self.scope, send).await? {
            SendReply::Task(view) => view,
            SendReply::Message(message) => return Ok(OperationOutcome::Replied(message)),
        };
        self.reserve(weight_of_view(&view)).await?;
        self.log_task(&view.task);
        let shape = shape(length, self.extensions.dialect_for(&view));
        Ok(OperationOutcome::Sent { view, shape })
    }

    async fn get(&mut self, mut get: GetTask) -> Result<OperationOutcome, Fault> {
        if self.extensions.is_active(replay::URI) {
            get.at = last_event_id::cursor(&self.request.head.headers)?;
        }
        let session = &self.app.session;
        let task = session.get(&self.scope, &get).await?;
        let bytes = weight_of_view(&task.view);
        let task = match self.reserve_for(task, bytes).await? {
            Some(task) => task,
            None => session.get(&self.scope, &get).await?,
        };
        self.log_task(&task.view.task);
        let shape = shape(get.history_length, self.extensions.dialect_for(&task.view));
        Ok(OperationOutcome::Task { task, shape })
    }

    async fn list(&mut self, list: ListTasks) -> Result<OperationOutcome, Fault> {
        let session = &self.app.session;
        let page = session.list(&self.scope, &list).await?;
        let bytes = page.tasks.iter().map(|view| weight_of_view(view)).sum();
        let page = match self.reserve_for(page, bytes).await? {
            Some(page) => page,
            None => session.list(&self.scope, &list).await?,
        };
        let page = TaskPage {
            tasks: page.tasks,
            next_page_token: page.next_page_token,
            page_size: page.page_size,
            total_size: page.total_size,
        };
        let artifacts =
            if list.include_artifacts { IncludeArtifacts::Always } else { IncludeArtifacts::Never };
        let dialect = self.extensions.opening_dialect();
        let shape = TaskShape { history_length: list.history_length, artifacts, dialect };
        Ok(OperationOutcome::Listed { page, shape })
    }

    async fn cancel(&mut self, cancel: &CancelTask) -> Result<OperationOutcome, Fault> {
        let view = self.app.session.cancel(&self.scope, cancel).await?;
        self.reserve(weight_of_view(&view)).await?;
        self.log_task(&view.task);
        let shape = shape(None, self.extensions.dialect_for(&view));
        Ok(OperationOutcome::Canceled { view, shape })
    }

    async fn stream(
        &mut self,
        send: SendMessage,
        names_task: bool,
        open_request: Option<OpenRequest>,
    ) -> Result<OperationOutcome, Fault> {
        let length = send.configuration.history_length;
        let after = last_event_id::cursor(&self.request.head.headers)?;
        let (subscription, bare) = self.app.session.stream(&self.scope, send, after.as_ref()).await?;
        self.reserve(weight_of_view(&subscription.view)).await?;
        self.log_task(&subscription.view.task);
        let shape = shape(length, self.extensions.dialect_for(&subscription.view));
        // Both dialects of the extension continue with events; in 1.0 every stream begins with the task. A client that
        // continues a task without naming it is shown the task.
        let goes_on = names_task && shape.dialect != Dialect::Plain && self.version() == Version::V0_3;
        let first = match (bare, goes_on) {
            (true, _) => StreamOpening::Message,
            (false, true) => StreamOpening::Events,
            (false, false) => StreamOpening::Task,
        };
        let resumes = after.is_some();
        Ok(OperationOutcome::Stream(StreamStart { open_request, subscription, shape, first, resumes }))
    }

    async fn subscribe(
        &mut self,
        mut subscribe: SubscribeTask,
        open_request: Option<OpenRequest>,
    ) -> Result<OperationOutcome, Fault> {
        subscribe.after = last_event_id::cursor(&self.request.head.headers)?.or(subscribe.after);
        if self.extensions.is_active(replay::URI) {
            subscribe.gap_policy = GapPolicy::Report;
        }
        let when_finished = match self.version() {
            Version::V0_3 => FinishedTaskRule::Show,
            Version::V1_0 => FinishedTaskRule::Refuse,
        };
        let mut subscription = self.app.session.subscribe(&self.scope, &subscribe, when_finished).await?;
        self.reserve(weight_of_view(&subscription.view)).await?;
        self.log_task(&subscription.view.task);
        let shape = shape(None, self.extensions.dialect_for(&subscription.view));
        // Clients of Gemini CLI's server expect a stream that ends when there is nothing to wait for.
        if shape.dialect == Dialect::Gemini && self.version() == Version::V0_3 {
            subscription.close_at_rest();
        }
        let resumes = subscribe.after.is_some() && subscription.gap.is_none();
        let first = StreamOpening::Task;
        Ok(OperationOutcome::Stream(StreamStart { open_request, subscription, shape, first, resumes }))
    }

    async fn execute(
        &self,
        mut send: SendMessage,
        open_request: Option<OpenRequest>,
    ) -> Result<OperationOutcome, Fault> {
        self.app.address_to_session(&mut send);
        self.apply_extensions(&mut send);
        let execution = self.app.session.run_command(&self.scope, send).await?;
        let command = ExecutedCommand::new(execution, open_request);
        Ok(OperationOutcome::Executed { command, dialect: self.extensions.dialect() })
    }

    async fn push_config(&self, operation: PushConfigOperation) -> Result<OperationOutcome, Fault> {
        let (session, scope) = (&self.app.session, &self.scope);
        Ok(match operation {
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
        })
    }
}

/// Counts streams and waiting sends. Refuses them at the caller's limit and on reserve connections, except an answer that a
/// task waits for.
pub(crate) async fn open_request(
    app: &App,
    scope: &Scope,
    origin: RequestOrigin,
    operation: &Operation,
) -> Result<Option<OpenRequest>, Fault> {
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
        match app.open_requests.take(origin.caller, origin.connection, RequestPurpose::Any) {
            Ok(open_request) => return Ok(Some(open_request)),
            Err(refused) => refused,
        }
    };
    if let Some(task) = continued
        && let Ok(seen) = app.session.get(scope, &GetTask { task, history_length: None, at: None }).await
        && matches!(seen.view.progress.state, TaskState::InputRequired | TaskState::AuthRequired)
    {
        return app.open_requests.take(origin.caller, origin.connection, RequestPurpose::Answer).map(Some);
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
