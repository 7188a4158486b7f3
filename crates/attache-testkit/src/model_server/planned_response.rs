//! A planned response: its bytes, and when they are sent.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct PlannedResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub steps: Vec<ResponseStep>,
    pub ending: ResponseEnd,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ResponseStep {
    /// One chunk of the body, written at once.
    Bytes(Vec<u8>),
    Pause(Duration),
    /// Waits for `ModelServer::release`.
    Hold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseEnd {
    /// The body ends correctly.
    Whole,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection is reset.
    Reset,
}

impl PlannedResponse {
    /// An event stream without events.
    pub fn stream() -> Self {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self { status: 200, headers, steps: Vec::new(), ending: ResponseEnd::Whole }
    }

    /// A whole body.
    pub fn text(status: u16, media_type: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), media_type.to_owned())];
        Self { status, headers, steps: vec![ResponseStep::Bytes(body.into())], ending: ResponseEnd::Whole }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(ResponseStep::Bytes(bytes.into()));
        self
    }

    pub fn pause(mut self, pause: Duration) -> Self {
        self.steps.push(ResponseStep::Pause(pause));
        self
    }

    pub fn hold(mut self) -> Self {
        self.steps.push(ResponseStep::Hold);
        self
    }

    pub fn ending(mut self, ending: ResponseEnd) -> Self {
        self.ending = ending;
        self
    }

    /// Appends the steps and the end of `other`.
    pub fn then(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self.ending(other.ending)
    }

    /// The same response with one byte per chunk.
    pub fn bytewise(mut self) -> Self {
        let steps = std::mem::take(&mut self.steps);
        self.steps = steps.into_iter().flat_map(single_bytes).collect();
        self
    }
}

fn single_bytes(step: ResponseStep) -> Vec<ResponseStep> {
    match step {
        ResponseStep::Bytes(bytes) => bytes.into_iter().map(|byte| ResponseStep::Bytes(vec![byte])).collect(),
        other => vec![other],
    }
}
