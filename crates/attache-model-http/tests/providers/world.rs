//! One fake server, one model, and a clock that moves only when a pause is announced.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use attache_domain::{CallId, Content, Exchange, ModelPart, ModelPartContent, ToolResult, Usage};
use attache_model::{AnswerEvent, AnswerPiece, LanguageError, LanguageModel, Prompt, StopReason};
use attache_model_http::retry::{Jitter, RetryOptions};
use attache_net::{HttpClient, HttpClientOptions};
use attache_testkit::model_server::ModelServer;
use futures_util::StreamExt;

pub(crate) const KEY: &str = "s3cret-key";

pub(crate) struct World<M> {
    pub(crate) server: ModelServer,
    pub(crate) model: M,
    _still: Still,
}

/// All that came of one prompt.
#[derive(Debug)]
pub(crate) struct PromptResult {
    pub(crate) pieces: Vec<AnswerPiece>,
    pub(crate) end: Result<(StopReason, Usage, Vec<ModelPart>), LanguageError>,
}

impl<M: LanguageModel> World<M> {
    pub(crate) fn of_model(server: ModelServer, model: M) -> Self {
        Self { server, model, _still: Still::new() }
    }

    pub(crate) async fn ask(&self, prompt: Prompt) -> PromptResult {
        self.ask_and_hear(prompt, |_| ()).await
    }

    /// As [`ask`](Self::ask), and `hear` gets each piece as it comes.
    pub(crate) async fn ask_and_hear(&self, prompt: Prompt, hear: impl Fn(&AnswerPiece)) -> PromptResult {
        let mut stream = self.model.stream(prompt);
        let mut pieces = Vec::new();
        let end = loop {
            match stream.next().await.expect("an end") {
                Ok(AnswerEvent::Piece(piece)) => {
                    hear(&piece);
                    if let AnswerPiece::Retrying { pause, .. } = &piece {
                        tokio::time::advance(*pause).await;
                    }
                    pieces.push(piece);
                }
                Ok(AnswerEvent::End { stop, usage, parts }) => break Ok((stop, usage, parts)),
                Err(error) => break Err(error),
            }
        };
        assert!(stream.next().await.is_none(), "nothing comes after the end");
        PromptResult { pieces, end }
    }
}

impl PromptResult {
    /// The text since the last new beginning.
    pub(crate) fn text(&self) -> String {
        let retried = |piece: &AnswerPiece| matches!(piece, AnswerPiece::Retrying { .. });
        let start = self.pieces.iter().rposition(retried).map_or(0, |last| last + 1);
        let texts = self.pieces[start..].iter().filter_map(|piece| match piece {
            AnswerPiece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The pauses that were announced, in seconds.
    pub(crate) fn pauses(&self) -> Vec<f64> {
        let pauses = self.pieces.iter().filter_map(|piece| match piece {
            AnswerPiece::Retrying { pause, .. } => Some(pause.as_secs_f64()),
            _ => None,
        });
        pauses.collect()
    }

    pub(crate) fn said(&self) -> &[ModelPart] {
        &self.end.as_ref().expect("an answer").2
    }

    pub(crate) fn stop(&self) -> &StopReason {
        &self.end.as_ref().expect("an answer").0
    }

    pub(crate) fn usage(&self) -> Usage {
        self.end.as_ref().expect("an answer").1
    }

    pub(crate) fn error(&self) -> &LanguageError {
        self.end.as_ref().expect_err("an error")
    }

    /// Everything, with ids that were made up numbered in order, so that two answers can be compared.
    pub(crate) fn shown(&self) -> String {
        let mut shown = format!("{self:#?}");
        let ids = self.end.iter().flat_map(|(_, _, said)| said).filter_map(|said| match &said.what {
            ModelPartContent::Call(call) => Some(call.id.0.clone()),
            _ => None,
        });
        for (index, id) in ids.enumerate() {
            shown = shown.replace(&id, &format!("call {index}"));
        }
        shown
    }
}

/// The usual tries, without chance.
pub(crate) fn retry() -> RetryOptions {
    RetryOptions { jitter: Jitter::none(), ..RetryOptions::default() }
}

pub(crate) fn client() -> HttpClient {
    HttpClient::new(&HttpClientOptions::default()).expect("a client")
}

pub(crate) fn user(text: &str) -> Exchange {
    Exchange::User(vec![Content::Text(text.into())])
}

pub(crate) fn hello() -> Prompt {
    prompt([user("Hello")])
}

pub(crate) fn prompt(exchanges: impl IntoIterator<Item = Exchange>) -> Prompt {
    Prompt { exchanges: Arc::new(exchanges.into_iter().map(Arc::new).collect()), ..Prompt::default() }
}

/// The answer as it is sent in the next prompt, with a result for each call.
pub(crate) fn answered(said: &[ModelPart]) -> Vec<Exchange> {
    let result = |(call, name): (&CallId, &String)| ToolResult {
        call: call.clone(),
        name: name.clone(),
        output: vec![Content::Text("fine".into())],
        failed: false,
    };
    let calls = said.iter().filter_map(|said| match &said.what {
        ModelPartContent::Call(call) => Some((&call.id, &call.name)),
        _ => None,
    });
    let results: Vec<_> = calls.map(result).collect();
    vec![Exchange::Model(said.to_vec()), Exchange::Results(results)]
}

/// While it lives, a paused clock stays where it is even when everybody waits: real sockets take real time.
pub(crate) struct Still(Option<Sender<()>>);

impl Still {
    pub(crate) fn new() -> Self {
        let (held, released) = channel::<()>();
        // The runtime does not move its clock while blocking work is under way.
        drop(tokio::task::spawn_blocking(move || released.recv().is_err()));
        Self(Some(held))
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}

pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
