//! A client for one version on one binding, with every operation.
//!
//! A check of the binding itself builds its requests with [`crate::framing`] and sends them directly.

use std::sync::Arc;

use http::Method;
use serde_json::Value;

use crate::check::{CheckResult, fail};
use crate::error_response::{ErrorResponse, Reply};
use crate::events::{EventSource, Events};
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::grpc;
use crate::http::{HttpRequest, HttpResponse, ResponseHead, StreamOrResponse};
use crate::json_form::{self, JsonForm};
use crate::protocol::{Binding, PushConfig, SendResult, StreamItem, Task, TaskPage, Version};
use crate::request::{Operation, SendRequest};
use crate::shape;
use crate::subject::{CardInterface, Subject};
use crate::text::shown;

/// Headers and other options of requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestOptions {
    /// The version header; `None` sends none.
    pub(crate) version: Option<String>,
    /// The `Authorization` header.
    pub(crate) authorization: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    /// The content type of a body.
    pub(crate) content_type: Option<String>,
    /// Appended to the path.
    pub(crate) query: Option<String>,
    /// Does not check the response against the data model, because the request should have been refused.
    pub(crate) quiet: bool,
}

#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) subject: Arc<Subject>,
    pub(crate) interface: CardInterface,
    pub(crate) options: RequestOptions,
}

impl Pair {
    pub(crate) fn new(subject: &Arc<Subject>, offer: &CardInterface) -> Self {
        let options = RequestOptions {
            version: (offer.version == Version::V1_0).then(|| "1.0".to_owned()),
            authorization: subject.token.as_ref().map(|token| format!("Bearer {token}")),
            headers: required_extensions(subject, offer.version),
            ..RequestOptions::default()
        };
        Self { subject: subject.clone(), interface: offer.clone(), options }
    }

    pub(crate) fn version(&self) -> Version {
        self.interface.version
    }

    pub(crate) fn binding(&self) -> Binding {
        self.interface.binding
    }

    pub(crate) fn is_1_0(&self) -> bool {
        self.version() == Version::V1_0
    }

    pub(crate) fn json_form(&self) -> JsonForm {
        JsonForm::of(self.version(), self.binding())
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.binding().as_str(), self.version().as_str())
    }

    // The same pair with other options.

    pub(crate) fn with_version(mut self, version: Option<&str>) -> Self {
        self.options.version = version.map(str::to_owned);
        self
    }

    pub(crate) fn with_authorization(mut self, authorization: Option<&str>) -> Self {
        self.options.authorization = authorization.map(str::to_owned);
        self
    }

    /// The same pair for the second caller.
    pub(crate) fn other_caller(self) -> Self {
        let authorization = self.subject.other_token.as_ref().map(|token| format!("Bearer {token}"));
        self.with_authorization(authorization.as_deref())
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.options.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn with_content_type(mut self, content_type: &str) -> Self {
        self.options.content_type = Some(content_type.to_owned());
        self
    }

    pub(crate) fn with_query(mut self, query: &str) -> Self {
        self.options.query = Some(query.to_owned());
        self
    }

    pub(crate) fn unchecked(mut self) -> Self {
        self.options.quiet = true;
        self
    }

    pub(crate) fn with_tenant(mut self, tenant: Option<&str>) -> Self {
        self.interface.tenant = tenant.map(str::to_owned);
        self
    }

    // Operations.

    pub(crate) async fn send(&self, send: SendRequest) -> CheckResult<Reply<SendResult>> {
        self.send_raw(json_form::send(self.json_form(), &send)).await
    }

    pub(crate) async fn send_raw(&self, params: Value) -> CheckResult<Reply<SendResult>> {
        let reply = self.call(Operation::Send(params)).await?;
        reply.map(|value| {
            self.check_item_shape(&value);
            json_form::as_sent(self.json_form(), &value)
        })
    }

    pub(crate) async fn stream(&self, send: SendRequest) -> CheckResult<Reply<Events>> {
        self.follow(Operation::Stream(json_form::send(self.json_form(), &send))).await
    }

    pub(crate) async fn get(&self, task: &str) -> CheckResult<Reply<Task>> {
        self.get_with(task, None).await
    }

    pub(crate) async fn get_with(&self, task: &str, history: Option<Value>) -> CheckResult<Reply<Task>> {
        self.task(Operation::Get { task: task.into(), history }).await
    }

    pub(crate) async fn cancel(&self, task: &str) -> CheckResult<Reply<Task>> {
        self.task(Operation::Cancel { task: task.into() }).await
    }

    pub(crate) async fn list(&self, members: &[(&'static str, Value)]) -> CheckResult<Reply<TaskPage>> {
        let reply = self.call(Operation::List(members.to_vec())).await?;
        reply.map(|value| {
            self.check_shape("Page", &value);
            json_form::as_page(self.json_form(), &value)
        })
    }

    pub(crate) async fn subscribe(&self, task: &str) -> CheckResult<Reply<Events>> {
        self.follow(Operation::Subscribe { task: task.into() }).await
    }

    pub(crate) async fn push_create(&self, task: &str, config: PushConfig) -> CheckResult<Reply<PushConfig>> {
        self.push(Operation::PushCreate { task: task.into(), config }).await
    }

    pub(crate) async fn push_get(&self, task: &str, config: Option<&str>) -> CheckResult<Reply<PushConfig>> {
        self.push(Operation::PushGet { task: task.into(), config: config.map(str::to_owned) }).await
    }

    pub(crate) async fn push_list(&self, task: &str) -> CheckResult<Reply<Vec<PushConfig>>> {
        let reply = self.call(Operation::PushList { task: task.into() }).await?;
        reply.map(|value| json_form::as_push_list(self.json_form(), &value))
    }

    pub(crate) async fn push_delete(&self, task: &str, config: &str) -> CheckResult<Reply<()>> {
        let operation = Operation::PushDelete { task: task.into(), config: config.into() };
        self.call(operation).await?.map(|_| Ok(()))
    }

    pub(crate) async fn extended_card(&self) -> CheckResult<Reply<Value>> {
        self.call(Operation::ExtendedCard).await
    }

    async fn task(&self, operation: Operation) -> CheckResult<Reply<Task>> {
        let reply = self.call(operation).await?;
        reply.map(|value| {
            self.check_shape("Task", &value);
            json_form::as_task(self.json_form(), &value)
        })
    }

    async fn push(&self, operation: Operation) -> CheckResult<Reply<PushConfig>> {
        let reply = self.call(operation).await?;
        reply.map(|value| {
            self.check_shape("TaskPush", &value);
            json_form::as_push(self.json_form(), &value)
        })
    }

    /// One call with a single response; the raw result.
    pub(crate) async fn call(&self, operation: Operation) -> CheckResult<Reply<Value>> {
        match self.binding() {
            Binding::JsonRpc => {
                let (request, id) = framing::json_rpc(self, &operation)?;
                let answer = self.subject.http.call(request).await?;
                self.json_rpc_reply(answer, &id)
            }
            Binding::Rest => {
                let answer = self.subject.http.call(framing::rest(self, &operation)?).await?;
                let reply = self.rest_reply(answer)?;
                match (&reply, framing::rest_alternative(self, &operation)) {
                    (Reply::Refused(refusal), Some(other)) if refusal.is(ExpectedError::InvalidParams) => {
                        self.rest_reply(self.subject.http.call(other).await?)
                    }
                    _ => Ok(reply),
                }
            }
            Binding::Grpc => grpc::unary(self, &operation).await,
        }
    }

    /// One call with a stream as its response.
    pub(crate) async fn follow(&self, operation: Operation) -> CheckResult<Reply<Events>> {
        let (request, id) = match self.binding() {
            Binding::JsonRpc => framing::json_rpc(self, &operation)?,
            Binding::Rest => (framing::rest(self, &operation)?, Value::Null),
            Binding::Grpc => return grpc::stream(self, &operation).await,
        };
        let answer = match self.subject.http.open(request).await? {
            StreamOrResponse::Stream(sse) => {
                let head = sse.head.clone();
                let mut events = Events::new(self.clone(), EventSource::Sse { sse, request_id: id });
                let Some(error) = events.late_error().await? else { return Ok(Reply::Done(events, head)) };
                self.note("S11-any", shown(&error));
                let body = bytes::Bytes::from(error.to_string());
                return Ok(Reply::Refused(match self.binding() {
                    Binding::JsonRpc => ErrorResponse::of_json_rpc(self.version(), head, error),
                    _ => ErrorResponse::of_rest(self.version(), &HttpResponse { head, body }),
                }));
            }
            StreamOrResponse::Response(answer) => answer,
        };
        let reply = match self.binding() {
            Binding::JsonRpc => self.json_rpc_reply(answer, &id)?,
            _ => self.rest_reply(answer)?,
        };
        match reply {
            Reply::Refused(refusal) => Ok(Reply::Refused(refusal)),
            Reply::Done(value, head) => {
                fail(format!("the answer is no stream but `{}`: {}", head.media_type(), shown(&value)))
            }
        }
    }

    pub(crate) fn json_rpc_reply(&self, answer: HttpResponse, id: &Value) -> CheckResult<Reply<Value>> {
        let body = match answer.json() {
            Ok(body) => body,
            Err(_) if matches!(answer.status(), 401 | 403) => Value::Null,
            Err(stop) => return Err(stop),
        };
        if matches!(answer.status(), 401 | 403) {
            return Ok(Reply::Refused(ErrorResponse::of_json_rpc(self.version(), answer.head, body)));
        }
        // An unread body has no id; HTTP itself refuses it.
        let unread = answer.status() == 413;
        if answer.status() != 200 && !unread {
            self.note("9.2-200", format!("HTTP {} with {}", answer.status(), shown(&body)));
        }
        if body["jsonrpc"] != "2.0" || (body["id"] != *id && !unread) {
            self.note("9.2-id", format!("asked with id {id}, answered {}", shown(&body)));
        }
        match (body.get("result"), body.get("error")) {
            (Some(result), None) => Ok(Reply::Done(result.clone(), answer.head)),
            (_, Some(error)) if error.is_object() => {
                Ok(Reply::Refused(ErrorResponse::of_json_rpc(self.version(), answer.head, body)))
            }
            _ => {
                fail(format!("HTTP {} with neither a result nor an error: {}", answer.status(), shown(&body)))
            }
        }
    }

    pub(crate) fn rest_reply(&self, answer: HttpResponse) -> CheckResult<Reply<Value>> {
        if !(200..300).contains(&answer.status()) {
            return Ok(Reply::Refused(ErrorResponse::of_rest(self.version(), &answer)));
        }
        if answer.body.is_empty() {
            return Ok(Reply::Done(Value::Null, answer.head));
        }
        let value = answer.json()?;
        Ok(Reply::Done(value, answer.head))
    }

    /// Sends `request` unchanged, with the default headers of the pair.
    pub(crate) async fn raw(&self, request: HttpRequest) -> CheckResult<HttpResponse> {
        self.subject.http.call(framing::apply_options(self, request)).await
    }

    /// Posts exactly `body` on JSON-RPC.
    pub(crate) async fn post(&self, body: impl Into<bytes::Bytes>) -> CheckResult<HttpResponse> {
        let request = HttpRequest::new(Method::POST, framing::url(self, "")).body(body);
        self.raw(request).await
    }

    // Checks that apply to every response.

    pub(crate) fn check_item_shape(&self, value: &Value) {
        if let Some((object, inner)) = shape::item(self.json_form(), value) {
            self.check_shape(object, inner);
        }
    }

    fn check_shape(&self, object: &str, value: &Value) {
        if self.binding() == Binding::Grpc || self.options.quiet {
            return;
        }
        for fault in shape::faults(self.json_form(), object, value) {
            self.note("D8-shape", fault);
        }
    }

    /// Records a breach of a rule that another check reports.
    pub(crate) fn note(&self, rule: &'static str, what: String) {
        self.subject.note(self.version(), self.binding(), rule, what);
    }
}

impl Reply<SendResult> {
    /// The task in the response to a send.
    pub(crate) fn task(self) -> CheckResult<Task> {
        match self.done()? {
            SendResult::Task(task) => Ok(task),
            SendResult::Message(_) => fail("the send was answered with a message instead of a task"),
        }
    }
}

impl Reply<Events> {
    pub(crate) fn events(self) -> CheckResult<Events> {
        self.done()
    }
}

/// Extensions that the server requires are requested in every call.
fn required_extensions(subject: &Subject, version: Version) -> Vec<(String, String)> {
    let name = if version == Version::V1_0 { "A2A-Extensions" } else { "X-A2A-Extensions" };
    let required = subject.extensions().into_iter().filter(|extension| extension["required"] == true);
    let uris = required.filter_map(|extension| extension["uri"].as_str());
    uris.map(|uri| (name.to_owned(), uri.to_owned())).collect()
}

/// The task at the beginning of a stream.
pub(crate) fn first_task(item: Option<StreamItem>) -> CheckResult<Task> {
    match item {
        Some(StreamItem::Task(task)) => Ok(task),
        Some(other) => fail(format!("the stream began with {}", other.name())),
        None => fail("the stream ended without an item"),
    }
}

/// For checks of the head of a successful response.
pub(crate) fn head_of<T>(reply: Reply<T>) -> CheckResult<ResponseHead> {
    reply.done_with_head().map(|(_, head)| head)
}
