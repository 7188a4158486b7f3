//! A stream of a task's events, whatever the binding.

use std::time::Duration;

use serde_json::Value;

use crate::check::{Outcome, fail};
use crate::dialect;
use crate::grpc::{GrpcStream, Received};
use crate::http::{Head, PATIENCE};
use crate::pair::Pair;
use crate::sse::{Frame, Sse};
use crate::text::shown;
use crate::words::{Binding, Item};

pub(crate) struct Events {
    pair: Pair,
    source: Source,
    pub(crate) head: Head,
    /// Looked at already, to see whether the stream was one.
    first: Option<Frame>,
    /// The frames so far, on bindings that have frames.
    pub(crate) frames: Vec<Frame>,
}

pub(crate) enum Source {
    Sse { sse: Sse, request_id: Value },
    Grpc(GrpcStream),
}

/// What came within a time.
#[derive(Debug)]
pub(crate) enum Waited {
    Item(Box<Item>),
    Ended,
    Silence,
}

impl Events {
    pub(crate) fn new(pair: Pair, source: Source) -> Self {
        let head = match &source {
            Source::Sse { sse, .. } => sse.head.clone(),
            Source::Grpc(stream) => stream.head.clone(),
        };
        Self { pair, source, head, first: None, frames: Vec::new() }
    }

    /// The error that the server told as the first event of a stream instead of refusing the call.
    pub(crate) async fn late_error(&mut self) -> Outcome<Option<Value>> {
        let Source::Sse { sse, .. } = &mut self.source else { return Ok(None) };
        let first = match tokio::time::timeout(PATIENCE, sse.next()).await {
            Ok(first) => first?,
            Err(_) => return fail(format!("no event came within {} s", PATIENCE.as_secs())),
        };
        let is_error = |frame: &Frame| {
            frame.event.as_deref() == Some("error")
                || (frame.data["error"].is_object() && frame.data.get("result").is_none())
        };
        let error = first.as_ref().filter(|frame| is_error(frame)).map(|frame| frame.data.clone());
        self.first = first;
        Ok(error)
    }

    /// The next item; `None` when the server closed the stream.
    pub(crate) async fn next(&mut self) -> Outcome<Option<Item>> {
        match self.within(PATIENCE).await? {
            Waited::Item(item) => Ok(Some(*item)),
            Waited::Ended => Ok(None),
            Waited::Silence => {
                fail(format!("the stream neither went on nor ended within {} s", PATIENCE.as_secs()))
            }
        }
    }

    pub(crate) async fn within(&mut self, time: Duration) -> Outcome<Waited> {
        let value = match tokio::time::timeout(time, self.value()).await {
            Err(_) => return Ok(Waited::Silence),
            Ok(value) => value?,
        };
        let Some(value) = value else { return Ok(Waited::Ended) };
        self.pair.look_at_item(&value);
        dialect::as_item(self.pair.dialect(), &value).map(|item| Waited::Item(Box::new(item)))
    }

    /// Everything until the server closes the stream.
    pub(crate) async fn rest(&mut self) -> Outcome<Vec<Item>> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await? {
            items.push(item);
        }
        Ok(items)
    }

    /// Items up to and including the first for which `enough` holds.
    pub(crate) async fn until(&mut self, enough: impl Fn(&Item) -> bool) -> Outcome<Vec<Item>> {
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

    async fn value(&mut self) -> Outcome<Option<Value>> {
        match &mut self.source {
            Source::Grpc(stream) => match stream.next().await? {
                Received::Message(value) => Ok(Some(value)),
                Received::End(end) if end.is_ok() => Ok(None),
                Received::End(end) => fail(format!("the stream ended with {}", end.shown())),
            },
            Source::Sse { sse, request_id } => {
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
