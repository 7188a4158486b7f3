//! The gRPC binding without a gRPC library, so that checks control every byte. Messages are checked as ProtoJSON.

mod message;
mod status;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Method};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::check::{CheckResult, fail};
use crate::error_response::{ErrorResponse, Reply};
use crate::events::{EventSource, Events};
use crate::framing;
use crate::http::{HttpRequest, RESPONSE_TIMEOUT, ResponseHead, causes};
use crate::pair::Pair;
use crate::protocol::Version;
use crate::request::Operation;
use message::Rpc;
pub(crate) use status::GrpcStatus;

/// A running call.
pub(crate) struct GrpcStream {
    pub(crate) head: ResponseHead,
    rpc: Rpc,
    body: reqwest::Body,
    buffer: BytesMut,
    trailers: HeaderMap,
    /// The first message, read early to detect an error.
    first: Option<Value>,
}

pub(crate) enum GrpcFrame {
    Message(Value),
    End(GrpcStatus),
}

pub(crate) async fn unary(pair: &Pair, operation: &Operation) -> CheckResult<Reply<Value>> {
    let mut stream = begin(pair, operation).await?;
    let mut result = None;
    loop {
        match next_frame(&mut stream).await? {
            GrpcFrame::Message(value) => result = Some(value),
            GrpcFrame::End(end) if end.is_ok() => break,
            GrpcFrame::End(end) => return Ok(Reply::Refused(refusal(pair, stream.head, &end))),
        }
    }
    match result {
        Some(value) => Ok(Reply::Done(value, stream.head)),
        None => fail("the call ended well but without a message"),
    }
}

pub(crate) async fn stream(pair: &Pair, operation: &Operation) -> CheckResult<Reply<Events>> {
    let mut stream = begin(pair, operation).await?;
    match next_frame(&mut stream).await? {
        GrpcFrame::Message(value) => stream.first = Some(value),
        GrpcFrame::End(end) if end.is_ok() => {}
        GrpcFrame::End(end) => return Ok(Reply::Refused(refusal(pair, stream.head, &end))),
    }
    let head = stream.head.clone();
    Ok(Reply::Done(Events::new(pair.clone(), EventSource::Grpc(stream)), head))
}

/// Calls `rpc` with exactly these bytes as its message and returns its status.
pub(crate) async fn raw(pair: &Pair, path: &str, message: &[u8]) -> CheckResult<GrpcStatus> {
    let (head, mut body) = send(pair, path, message).await?;
    let mut trailers = HeaderMap::new();
    let reading = async {
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => {
                    if let Ok(found) = frame.into_trailers() {
                        trailers = found;
                    }
                }
                Err(error) => return fail(format!("the answer broke off: {}", causes(&error))),
            }
        }
        Ok(GrpcStatus::of(&head, &trailers))
    };
    match tokio::time::timeout(RESPONSE_TIMEOUT, reading).await {
        Ok(end) => end,
        Err(_) => fail(format!("{path}: no answer within {} s", RESPONSE_TIMEOUT.as_secs())),
    }
}

async fn next_frame(stream: &mut GrpcStream) -> CheckResult<GrpcFrame> {
    match tokio::time::timeout(RESPONSE_TIMEOUT, stream.next()).await {
        Ok(received) => received,
        Err(_) => fail(format!("{}: no answer within {} s", stream.rpc.path(), RESPONSE_TIMEOUT.as_secs())),
    }
}

async fn begin(pair: &Pair, operation: &Operation) -> CheckResult<GrpcStream> {
    let (name, params) = call(pair, operation)?;
    let rpc = Rpc::find(pair.version(), name)?;
    let message = rpc.encode(&params)?;
    let (head, body) = send(pair, &rpc.path(), &message).await?;
    Ok(GrpcStream { head, rpc, body, buffer: BytesMut::new(), trailers: HeaderMap::new(), first: None })
}

async fn send(pair: &Pair, path: &str, message: &[u8]) -> CheckResult<(ResponseHead, reqwest::Body)> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let framed = [&[0][..], &length.to_be_bytes(), message].concat();
    let request = HttpRequest::new(Method::POST, format!("{}{path}", origin(pair)))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(framed);
    let sending = pair.subject.http.begin_grpc(framing::apply_options(pair, request));
    match tokio::time::timeout(RESPONSE_TIMEOUT, sending).await {
        Ok(begun) => begun,
        Err(_) => fail(format!("{path}: no answer within {} s", RESPONSE_TIMEOUT.as_secs())),
    }
}

/// Cards name gRPC interfaces with and without a scheme. gRPC ignores a path.
fn origin(pair: &Pair) -> String {
    let url = &pair.interface.url;
    if let Some((scheme, rest)) = url.split_once("://") {
        return format!("{scheme}://{}", rest.split('/').next().unwrap_or_default());
    }
    let scheme = if pair.subject.base.starts_with("https:") { "https" } else { "http" };
    format!("{scheme}://{url}")
}

/// The name of the rpc and its request, in ProtoJSON.
fn call(pair: &Pair, operation: &Operation) -> CheckResult<(&'static str, Value)> {
    if pair.version() == Version::V1_0 {
        return framing::call(pair, operation);
    }
    let name = |task: &str| format!("tasks/{task}");
    let config_name = |task: &str, config: &str| format!("tasks/{task}/pushNotificationConfigs/{config}");
    Ok(match operation {
        Operation::Send(params) => ("SendMessage", params.clone()),
        Operation::Stream(params) => ("SendStreamingMessage", params.clone()),
        Operation::Get { task, history } => {
            // A missing value is 0 here. Some servers return all for 0 and some none, so the value is always written.
            let history = history.clone().unwrap_or(json!(1000));
            ("GetTask", json!({"name": name(task), "historyLength": history}))
        }
        Operation::List(_) => return crate::check::not_applicable("0.3 has no list of tasks"),
        Operation::Cancel { task } => ("CancelTask", json!({"name": name(task)})),
        Operation::Subscribe { task } => ("TaskSubscription", json!({"name": name(task)})),
        Operation::PushCreate { task, config } => {
            let [wrapped, _] = framing::push_bodies(pair, task, config);
            ("CreateTaskPushNotificationConfig", wrapped)
        }
        Operation::PushGet { task, config } => {
            let config = config.as_deref().unwrap_or_default();
            ("GetTaskPushNotificationConfig", json!({"name": config_name(task, config)}))
        }
        Operation::PushList { task } => ("ListTaskPushNotificationConfig", json!({"parent": name(task)})),
        Operation::PushDelete { task, config } => {
            ("DeleteTaskPushNotificationConfig", json!({"name": config_name(task, config)}))
        }
        Operation::ExtendedCard => ("GetAgentCard", json!({})),
    })
}

fn refusal(pair: &Pair, head: ResponseHead, end: &GrpcStatus) -> ErrorResponse {
    ErrorResponse {
        version: pair.version(),
        binding: pair.binding(),
        head,
        code: None,
        status: Some(end.name().to_owned()),
        name: None,
        message: end.message.clone(),
        details: end.details.clone(),
        body: Value::from(end.shown()),
    }
}

impl GrpcStream {
    pub(crate) async fn next(&mut self) -> CheckResult<GrpcFrame> {
        if let Some(first) = self.first.take() {
            return Ok(GrpcFrame::Message(first));
        }
        loop {
            if let Some(message) = self.message()? {
                return self.rpc.decode(&message).map(GrpcFrame::Message);
            }
            match self.body.frame().await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.buffer.extend_from_slice(&data),
                    Err(frame) => self.trailers = frame.into_trailers().unwrap_or_default(),
                },
                Some(Err(error)) => return fail(format!("the stream broke off: {}", causes(&error))),
                None => return Ok(GrpcFrame::End(GrpcStatus::of(&self.head, &self.trailers))),
            }
        }
    }

    /// The next whole message in the buffer.
    fn message(&mut self) -> CheckResult<Option<Bytes>> {
        let Some(prefix) = self.buffer.first_chunk::<5>() else { return Ok(None) };
        let [compressed, length @ ..] = *prefix;
        if compressed != 0 {
            return fail("a compressed message, though none was asked for");
        }
        let length = u32::from_be_bytes(length) as usize;
        if self.buffer.len() < 5 + length {
            return Ok(None);
        }
        self.buffer.advance(5);
        Ok(Some(self.buffer.split_to(length).freeze()))
    }
}
