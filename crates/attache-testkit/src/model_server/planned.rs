//! An answer to come, down to when which bytes go out.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub steps: Vec<Step>,
    pub ending: Ending,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// One chunk of the body, written at once.
    Bytes(Vec<u8>),
    Pause(Duration),
    /// Goes on once the test says so.
    Hold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The body ends as HTTP wants it.
    Whole,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection is reset.
    Reset,
}

impl Planned {
    /// A stream of events that begins with nothing.
    pub fn stream() -> Self {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self { status: 200, headers, steps: Vec::new(), ending: Ending::Whole }
    }

    /// One body in one piece.
    pub fn text(status: u16, media_type: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), media_type.to_owned())];
        Self { status, headers, steps: vec![Step::Bytes(body.into())], ending: Ending::Whole }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(Step::Bytes(bytes.into()));
        self
    }

    pub fn pause(mut self, pause: Duration) -> Self {
        self.steps.push(Step::Pause(pause));
        self
    }

    pub fn hold(mut self) -> Self {
        self.steps.push(Step::Hold);
        self
    }

    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Goes on, and ends, as `other` does.
    pub fn then(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self.ending(other.ending)
    }

    /// The same, every byte in a chunk of its own.
    pub fn bytewise(mut self) -> Self {
        let steps = std::mem::take(&mut self.steps);
        self.steps = steps.into_iter().flat_map(single_bytes).collect();
        self
    }
}

fn single_bytes(step: Step) -> Vec<Step> {
    match step {
        Step::Bytes(bytes) => bytes.into_iter().map(|byte| Step::Bytes(vec![byte])).collect(),
        other => vec![other],
    }
}
