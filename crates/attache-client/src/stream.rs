//! A stream of events that comes back by itself.
//!
//! When it is cut, or ends although its task goes on, the task is subscribed to again after the last event that was
//! seen. An agent that numbers its events, as attache does, then repeats and leaves out nothing, or says that something
//! is missing (`Event::gap`); one that does not begins again with the task as it is.

use std::time::Duration;

use attache_net::HttpResponse;

use crate::request::{Call, Method};
use crate::sse::{SseEvent, SseParser};
use crate::{Client, ClientError, Event};

const INITIAL_RETRY_DELAY: Duration = Duration::from_millis(50);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct EventStream {
    client: Client,
    task: Option<String>,
    last_id: Option<String>,
    /// None between a cut and coming back.
    answer: Option<HttpResponse>,
    parser: SseParser,
    /// Nothing more is due: the task is over or waits for somebody.
    settled: bool,
    /// The next event may be the task at the very place where the stream was cut, which has been told.
    came_back: bool,
    failures: u32,
    /// What cut it last.
    why: String,
    over: bool,
}

impl EventStream {
    pub(crate) fn new(
        client: Client,
        place: Option<(String, Option<String>)>,
        (answer, parser): (HttpResponse, SseParser),
    ) -> Self {
        let (task, last_id) = place.map_or((None, None), |(task, after)| (Some(task), after));
        Self {
            client,
            task,
            last_id,
            answer: Some(answer),
            parser,
            settled: false,
            came_back: false,
            failures: 0,
            why: String::new(),
            over: false,
        }
    }

    /// The id of the last event that was handed out, to subscribe after.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The next event; `None` once the task has settled. After an error there is nothing more.
    ///
    /// Can be dropped and called again: what was not handed out comes next time.
    pub async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        while !self.over {
            if let Some(frame) = self.parser.next_event() {
                match self.accept_frame(frame) {
                    Ok(None) => continue,
                    Ok(Some(event)) => return Some(Ok(event)),
                    Err(error) => return Some(Err(self.end(error))),
                }
            }
            if let Err(error) = self.advance().await {
                return Some(Err(self.end(error)));
            }
        }
        None
    }

    /// More bytes, or a way back to where more bytes are.
    async fn advance(&mut self) -> Result<(), ClientError> {
        let Some(answer) = &mut self.answer else { return self.reconnect().await };
        let why = match answer.chunk().await {
            Ok(Some(bytes)) => {
                let too_large = |_| ClientError::Malformed { what: "an event is too large".into() };
                return self.parser.push(&bytes).map_err(too_large);
            }
            Ok(None) if self.settled => {
                self.over = true;
                return Ok(());
            }
            Ok(None) => "it ended early".to_owned(),
            Err(error) if self.settled => {
                tracing::debug!(%error, "a stream that was done broke off");
                self.over = true;
                return Ok(());
            }
            Err(error) => error.to_string(),
        };
        tracing::debug!(why, "a stream was cut");
        self.answer = None;
        if self.task.is_none() {
            return Err(ClientError::StreamLost { tries: 0, why: format!("before its first event: {why}") });
        }
        self.why = why;
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), ClientError> {
        if self.failures >= self.client.options().tries {
            return Err(ClientError::StreamLost { tries: self.failures, why: std::mem::take(&mut self.why) });
        }
        let pause = INITIAL_RETRY_DELAY.saturating_mul(1 << self.failures.min(10)).min(MAX_RETRY_DELAY);
        // Counts until an event proves that it was worth it: a server may take the call and cut it again.
        self.failures += 1;
        tokio::time::sleep(pause).await;
        let call = Call::about(Method::Subscribe, self.task.as_deref().unwrap_or_default(), None);
        match self.client.open_stream(call, self.last_id.as_deref()).await {
            Ok((answer, parser)) => {
                self.answer = Some(answer);
                self.parser = parser;
                self.came_back = self.last_id.is_some();
                Ok(())
            }
            Err(error) if error.is_transient() => {
                self.why = error.to_string();
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// What a frame tells, if it is anything new.
    fn accept_frame(&mut self, frame: SseEvent) -> Result<Option<Event>, ClientError> {
        let event = self.client.decode_item(&frame.data)?;
        let came_back = std::mem::take(&mut self.came_back);
        let told = came_back && frame.id.is_some() && frame.id == self.last_id;
        if let Some(id) = frame.id {
            self.last_id = Some(id);
        }
        if self.task.is_none() {
            self.task = event.task_id().map(str::to_owned);
        }
        if let Some(state) = event.state() {
            self.settled = state.is_terminal() || state.is_interrupted();
        }
        self.settled |= matches!(event, Event::Message(_));
        if told && matches!(event, Event::Task(_)) {
            return Ok(None);
        }
        self.failures = 0;
        Ok(Some(event))
    }

    fn end(&mut self, error: ClientError) -> ClientError {
        self.over = true;
        error
    }
}
