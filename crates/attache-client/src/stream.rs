//! A stream of events that reconnects.
//!
//! When it is cut, or ends although its task goes on, the stream subscribes to the task again after the last event
//! it has seen. An agent that numbers its events, as attache does, then repeats and omits nothing, or says that
//! something is missing ([`StreamEvent::gap`]); any other agent starts again with the task as it is.

use std::time::Duration;

use attache_domain::TaskId;
use attache_net::HttpResponse;
use attache_net::sse::{SseEvent, SseParser};

use crate::{Client, ClientError, StreamEvent};

const INITIAL_RETRY_DELAY: Duration = Duration::from_millis(50);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct EventStream {
    client: Client,
    task: Option<TaskId>,
    last_id: Option<String>,
    /// `None` between a cut and the next connection.
    response: Option<HttpResponse>,
    parser: SseParser,
    /// The task is over or waits for input, so nothing more is due.
    settled: bool,
    /// The next event may be the task at the place of the cut, which the reader has seen.
    reconnected: bool,
    failures: u32,
    /// Why the last connection ended.
    last_error: String,
    over: bool,
}

impl EventStream {
    pub(crate) fn new(
        client: Client,
        task: Option<TaskId>,
        last_id: Option<String>,
        (response, parser): (HttpResponse, SseParser),
    ) -> Self {
        Self {
            client,
            task,
            last_id,
            response: Some(response),
            parser,
            settled: false,
            reconnected: false,
            failures: 0,
            last_error: String::new(),
            over: false,
        }
    }

    /// The id of the last event that was handed out, to subscribe after.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The next event; `None` once the task has settled. An error ends the stream.
    ///
    /// Cancel safe: an event that was not handed out comes next time.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ClientError>> {
        while !self.over {
            if let Some(event) = self.parser.next_event() {
                match self.accept(event) {
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

    /// Reads more bytes, or reconnects.
    async fn advance(&mut self) -> Result<(), ClientError> {
        let Some(response) = &mut self.response else { return self.reconnect().await };
        let error = match response.chunk().await {
            Ok(Some(bytes)) => return Ok(self.parser.push(&bytes)?),
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
        tracing::debug!(why = error, "a stream was cut");
        self.response = None;
        if self.task.is_none() {
            return Err(ClientError::StreamLost {
                tries: 0,
                why: format!("before its first event: {error}"),
            });
        }
        self.last_error = error;
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), ClientError> {
        let Some(task) = self.task.clone().filter(|_| self.failures < self.client.options().max_retries)
        else {
            let why = std::mem::take(&mut self.last_error);
            return Err(ClientError::StreamLost { tries: self.failures, why });
        };
        let delay = INITIAL_RETRY_DELAY.saturating_mul(1 << self.failures.min(10)).min(MAX_RETRY_DELAY);
        // Reset by the next new event only: a server may accept the call and cut it again.
        self.failures += 1;
        tokio::time::sleep(delay).await;
        match self.client.resubscribe(&task, self.last_id.as_deref()).await {
            Ok((response, parser)) => {
                self.response = Some(response);
                self.parser = parser;
                self.reconnected = self.last_id.is_some();
                Ok(())
            }
            Err(error) if error.is_transient() => {
                self.last_error = error.to_string();
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Decodes an event; `None` if the reader has seen it, or if it holds no data.
    fn accept(&mut self, event: SseEvent) -> Result<Option<StreamEvent>, ClientError> {
        let Some(data) = event.data else { return Ok(None) };
        let decoded = self.client.protocol().decode_event(200, data.as_bytes())?;
        let reconnected = std::mem::take(&mut self.reconnected);
        let is_repeated = reconnected && event.id.is_some() && event.id == self.last_id;
        if let Some(id) = event.id {
            self.last_id = Some(id);
        }
        if self.task.is_none() {
            self.task = decoded.task_id().cloned();
        }
        if let Some(status) = decoded.status() {
            self.settled = status.is_terminal() || status.is_interrupted();
        }
        self.settled |= matches!(decoded, StreamEvent::Message(_));
        if is_repeated && matches!(decoded, StreamEvent::Task(_)) {
            return Ok(None);
        }
        self.failures = 0;
        Ok(Some(decoded))
    }

    fn end(&mut self, error: ClientError) -> ClientError {
        self.over = true;
        error
    }
}
