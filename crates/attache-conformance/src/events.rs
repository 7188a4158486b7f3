//! A stream of a task's events, on any binding.

use std::time::Duration;

use serde_json::Value;

use crate::check::{CheckResult, fail};
use crate::grpc::{GrpcFrame, GrpcStream};
use crate::http::{RESPONSE_TIMEOUT, ResponseHead};
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{Binding, StreamItem};
use crate::sse::{SseFrame, SseStream};
use crate::text::shown;

pub(crate) struct Events {
    pair: Pair,
    source: EventSource,
    pub(crate) head: ResponseHead,
    /// The first event, read early to detect an error.
    first: Option<SseFrame>,
    /// The frames so far, on bindings with frames.
    pub(crate) frames: Vec<SseFrame>,
}

pub(crate) enum EventSource {
    Sse { sse: SseStream, request_id: Value },
    Grpc(GrpcStream),
}

/// The next item; none after a timeout.
#[derive(Debug)]
pub(crate) enum NextItem {
    Item(Box<StreamItem>),
    Ended,
    Silence,
}

impl Events {
    pub(crate) fn new(pair: Pair, source: EventSource) -> Self {
        let head = match &source {
            EventSource::Sse { sse, .. } => sse.head.clone(),
            EventSource::Grpc(stream) => stream.head.clone(),
        };
        Self { pair, source, head, first: None, frames: Vec::new() }
    }

    /// The error that the server sent as the first event of a stream instead of an error response.
    pub(crate) async fn late_error(&mut self) -> CheckResult<Option<Value>> {
        let EventSource::Sse { sse, .. } = &mut self.source else { return Ok(None) };
        let first = match tokio::time::timeout(RESPONSE_TIMEOUT, sse.next()).await {
            Ok(first) => first?,
            Err(_) => return fail(format!("no event came within {} s", RESPONSE_TIMEOUT.as_secs())),
        };
        let is_error = |frame: &SseFrame| {
            frame.event.as_deref() == Some("error")
                || (frame.data["error"].is_object() && frame.data.get("result").is_none())
        };
        let error = first.as_ref().filter(|frame| is_error(frame)).map(|frame| frame.data.clone());
        self.first = first;
        Ok(error)
    }

    /// The next item; `None` when the server closed the stream.
    pub(crate) async fn next(&mut self) -> CheckResult<Option<StreamItem>> {
        match self.within(RESPONSE_TIMEOUT).await? {
            NextItem::Item(item) => Ok(Some(*item)),
            NextItem::Ended => Ok(None),
            NextItem::Silence => {
                fail(format!("the stream neither went on nor ended within {} s", RESPONSE_TIMEOUT.as_secs()))
            }
        }
    }

    pub(crate) async fn within(&mut self, time: Duration) -> CheckResult<NextItem> {
        let value = match tokio::time::timeout(time, self.value()).await {
            Err(_) => return Ok(NextItem::Silence),
            Ok(value) => value?,
        };
        let Some(value) = value else { return Ok(NextItem::Ended) };
        self.pair.check_item_shape(&value);
        json_form::as_item(self.pair.json_form(), &value).map(|item| NextItem::Item(Box::new(item)))
    }

    /// Everything until the server closes the stream.
    pub(crate) async fn rest(&mut self) -> CheckResult<Vec<StreamItem>> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await? {
            items.push(item);
        }
        Ok(items)
    }

    /// Items up to and including the first for which `enough` holds.
    pub(crate) async fn until(
        &mut self,
        enough: impl Fn(&StreamItem) -> bool,
    ) -> CheckResult<Vec<StreamItem>> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await? {
            let done = enough(&item);
            items.push(item);
            if done {
                return Ok(items);
            }
        }
        fail(format!("the stream ended early, after {} items", items.len()))
    }

    async fn value(&mut self) -> CheckResult<Option<Value>> {
        match &mut self.source {
            EventSource::Grpc(stream) => match stream.next().await? {
                GrpcFrame::Message(value) => Ok(Some(value)),
                GrpcFrame::End(end) if end.is_ok() => Ok(None),
                GrpcFrame::End(end) => fail(format!("the stream ended with {}", end.shown())),
            },
            EventSource::Sse { sse, request_id } => {
                let next = match self.first.take() {
                    Some(first) => Some(first),
                    None => sse.next().await?,
                };
                let Some(frame) = next else { return Ok(None) };
                self.frames.push(frame.clone());
                if self.pair.binding() == Binding::Rest {
                    return Ok(Some(frame.data));
                }
                if frame.data["jsonrpc"] != "2.0" || frame.data["id"] != *request_id {
                    let seen = shown(&frame.data);
                    self.pair
                        .note("9.2-id", format!("a stream's item does not repeat the request's id: {seen}"));
                }
                match frame.data.get("result") {
                    Some(result) => Ok(Some(result.clone())),
                    None => fail(format!("the stream told an error: {}", shown(&frame.data))),
                }
            }
        }
    }
}
