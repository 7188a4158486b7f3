//! Summarises one stream of a coding agent, in either dialect: its text, its calls, and how it ended.

use std::borrow::Cow;

use anyhow::{Context, bail, ensure};
use attache_net::sse::SseReader;
use serde::Deserialize;
use serde_json::Value;

use crate::load::chunked::ChunkedDecoder;
use crate::load::connection::{Connection, Framing};

/// Sends `request` and listens to the end of its stream.
pub(super) async fn read_stream(
    connection: &mut Connection,
    request: &[u8],
) -> anyhow::Result<StreamSummary> {
    let head = connection.request(request).await?;
    if head.status != 200 || head.framing != Framing::Chunked {
        let body = connection.body(head).await?;
        bail!("no stream but {}: {}", head.status, String::from_utf8_lossy(body));
    }
    let mut decoder = ChunkedDecoder::default();
    let (mut summary, mut reader) = (StreamSummary::default(), SseReader::new(usize::MAX));
    while !decoder.is_done() {
        let mut result = Ok(());
        let read = |payload: &[u8]| {
            if result.is_ok() {
                result = summary.read(&mut reader, payload);
            }
        };
        connection.next_piece(&mut decoder, read).await?;
        result?;
    }
    ensure!(summary.is_final, "the stream ended without a final event");
    Ok(summary)
}

#[derive(Debug, Default)]
pub(super) struct StreamSummary {
    pub(super) events: u64,
    pub(super) text: String,
    /// Calls that were carried out.
    pub(super) done: u64,
    /// The call that was asked about last.
    pub(super) question: Option<WaitingCall>,
    is_final: bool,
}

/// A call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaitingCall {
    pub(super) task: String,
    pub(super) context: String,
    pub(super) call: String,
}

impl StreamSummary {
    fn read(&mut self, reader: &mut SseReader, payload: &[u8]) -> anyhow::Result<()> {
        let mut result = Ok(());
        reader.read(payload, |event| {
            if let (Some(data), Ok(())) = (event.data, &result) {
                result = self.event(data);
            }
        })?;
        result
    }

    fn event(&mut self, data: &[u8]) -> anyhow::Result<()> {
        let envelope: Envelope<'_> = serde_json::from_slice(data)
            .with_context(|| format!("an unknown event: {}", String::from_utf8_lossy(data)))?;
        let event = match envelope {
            Envelope { result: Some(event), .. } => event,
            Envelope { error, .. } => bail!("an error: {}", error.unwrap_or_default()),
        };
        self.events += 1;
        self.is_final = event.is_final;
        let kind = event.metadata.as_ref().and_then(Metadata::kind).unwrap_or_default();
        let parts = event.status.and_then(|status| status.message).map(|message| message.parts);
        for part in parts.unwrap_or_default() {
            if let (Some(text), "text-content" | "TEXT_CONTENT") = (&part.text, kind) {
                self.text.push_str(text);
            }
            let Some(call) = part.data else { continue };
            if matches!(&*call.status, "success" | "SUCCEEDED") {
                self.done += 1;
            }
            if let Some(id) = call.asks() {
                let (task, context) = (event.task.clone(), event.context.clone());
                self.question = Some(WaitingCall { task: task.into(), context: context.into(), call: id });
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    result: Option<Event<'a>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default, rename = "taskId")]
    task: Cow<'a, str>,
    #[serde(borrow, default, rename = "contextId")]
    context: Cow<'a, str>,
    #[serde(default, rename = "final")]
    is_final: bool,
    #[serde(borrow)]
    status: Option<Status<'a>>,
    #[serde(borrow)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Call<'a>>,
}

/// A tool call as either dialect shows it.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    request: Option<CallRequest<'a>>,
    #[serde(borrow, rename = "tool_call_id")]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "confirmation_request")]
    confirmation: Option<Value>,
}

#[derive(Deserialize)]
struct CallRequest<'a> {
    #[serde(borrow, rename = "callId")]
    id: Cow<'a, str>,
}

impl Call<'_> {
    /// The id, if an approval is asked for.
    fn asks(&self) -> Option<String> {
        match (&self.request, &self.id) {
            (Some(request), _) if self.status == "awaiting_approval" => Some(request.id.to_string()),
            (_, Some(id)) if self.confirmation.is_some() => Some(id.to_string()),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, rename = "coderAgent")]
    gemini: Option<Kind<'a>>,
    #[serde(
        borrow,
        rename = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
    )]
    rfc: Option<Kind<'a>>,
}

impl Metadata<'_> {
    fn kind(&self) -> Option<&str> {
        self.gemini.as_ref().or(self.rfc.as_ref()).map(|found| &*found.kind)
    }
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::URI;
    use super::*;

    fn summarize(events: &[Value]) -> StreamSummary {
        let mut summary = StreamSummary::default();
        for event in events {
            let line = format!("id: 1\ndata: {}\n\n", json!({ "jsonrpc": "2.0", "id": 1, "result": event }));
            summary.read(&mut SseReader::new(usize::MAX), line.as_bytes()).unwrap();
        }
        summary
    }

    fn update(metadata: Value, part: Value) -> Value {
        let status = json!({ "state": "working", "message": { "kind": "message", "parts": [part] } });
        json!({ "taskId": "t", "contextId": "c", "status": status, "final": false, "metadata": metadata })
    }

    #[test]
    fn both_dialects_are_heard_alike() {
        let gemini = |kind: &str, part| update(json!({ "coderAgent": { "kind": kind } }), part);
        let rfc = |kind: &str, part| update(json!({ URI: { "kind": kind } }), part);
        let end = json!({ "taskId": "t", "contextId": "c", "status": {}, "final": true });
        let spoken = [
            json!({ "kind": "task", "id": "t", "contextId": "c", "status": {}, "metadata": {} }),
            gemini("state-change", json!({ "text": "a notice" })),
            gemini("text-content", json!({ "text": "one\n" })),
            gemini(
                "tool-call-confirmation",
                json!({ "data": { "status": "awaiting_approval", "request": { "callId": "k" } } }),
            ),
            gemini(
                "tool-call-update",
                json!({ "data": { "status": "success", "request": { "callId": "k" } } }),
            ),
            end.clone(),
        ];
        let told = [
            rfc("STATE_CHANGE", json!({ "text": "a notice" })),
            rfc("TEXT_CONTENT", json!({ "text": "one\n" })),
            rfc(
                "TOOL_CALL_UPDATE",
                json!({ "data": { "status": "PENDING", "tool_call_id": "k", "confirmation_request": {} } }),
            ),
            rfc("TOOL_CALL_UPDATE", json!({ "data": { "status": "SUCCEEDED", "tool_call_id": "k" } })),
            end,
        ];
        for events in [&spoken[..], &told[..]] {
            let summary = summarize(events);
            assert_eq!((summary.text.as_str(), summary.done, summary.is_final), ("one\n", 1, true));
            let expected = WaitingCall { task: "t".into(), context: "c".into(), call: "k".into() };
            assert_eq!(summary.question, Some(expected));
            assert_eq!(summary.events, events.len() as u64);
        }
    }

    #[test]
    fn an_error_is_no_event() {
        let line = format!("data: {}\n\n", json!({ "id": 1, "error": { "code": -32001 } }));
        let mut reader = SseReader::new(usize::MAX);
        let error = StreamSummary::default().read(&mut reader, line.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("-32001"), "{error}");
    }
}
