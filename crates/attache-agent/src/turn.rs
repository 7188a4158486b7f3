//! One turn: a model's stream becomes facts.

use attache_domain::{Fact, Outcome};
use attache_model::{Finish, ModelChunk, ModelError, ModelProvider, ModelRequest, ModelStream, StreamItem};
use attache_session::{Journal, Stopped, TurnRequest};
use futures_util::{FutureExt, StreamExt};

use crate::voice::Voice;

pub(crate) async fn perform(
    model: &dyn ModelProvider,
    request: TurnRequest,
    journal: &Journal,
) -> Result<(), Stopped> {
    let turn = request.view.progress.turn;
    let voice = Voice::of(&request.view);
    let history = request.view.history.clone();
    // The view is let go before anything is recorded, so that it need not be copied to change.
    drop(request);
    let stream = model.stream(ModelRequest { history, turn: turn.number, emitted: turn.emitted, results: Vec::new() });
    let mut stream = Lookahead { stream, next: None };
    let mut credentials = turn.emitted;
    while let Some(item) = stream.next().await {
        match item {
            Ok(StreamItem::Chunk(chunk)) => {
                let last = matches!(chunk, ModelChunk::Text(_)) && stream.finish_is_next();
                journal.record(fact_of(chunk, last, &voice, &mut credentials)).await?;
            }
            Ok(StreamItem::Finish(finish)) => return journal.record(end_of(finish, &voice)).await,
            Err(error) => return journal.record(failed(&error, &voice)).await,
        }
    }
    let silent = ModelError::Interrupted { what: "it ended without saying so".into() };
    journal.record(failed(&silent, &voice)).await
}

/// A stream that can be asked, without waiting, whether it is about to finish.
struct Lookahead {
    stream: ModelStream,
    next: Option<Option<Result<StreamItem, ModelError>>>,
}

impl Lookahead {
    async fn next(&mut self) -> Option<Result<StreamItem, ModelError>> {
        match self.next.take() {
            Some(item) => item,
            None => self.stream.next().await,
        }
    }

    /// True only when that is already known; a model may still need time to say that it is done.
    fn finish_is_next(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.stream.next().now_or_never();
        }
        matches!(self.next, Some(Some(Ok(StreamItem::Finish(_)))))
    }
}

fn fact_of(chunk: ModelChunk, last: bool, voice: &Voice, credentials: &mut u32) -> Fact {
    match chunk {
        ModelChunk::Thought(text) => Fact::ThoughtShared { text },
        ModelChunk::Text(text) => Fact::TextSaid { text, last },
        ModelChunk::Withdrawn => Fact::TextWithdrawn,
        ModelChunk::Artifact { artifact, append, last } => {
            Fact::ArtifactAdded { artifact: Box::new(artifact), append, last }
        }
        ModelChunk::CredentialNeeded(text) => {
            *credentials += 1;
            Fact::CredentialAsked { message: voice.text(&format!("credential-{credentials}"), text).into() }
        }
        ModelChunk::Resumed => Fact::WorkResumed,
    }
}

fn end_of(finish: Finish, voice: &Voice) -> Fact {
    let ended = |outcome: Outcome, text: Option<String>| Fact::TurnEnded {
        outcome,
        message: text.map(|text| voice.text("status", text).into()),
    };
    match finish {
        Finish::Completed { status } => ended(Outcome::Completed, status),
        Finish::InputRequired { question } => ended(Outcome::InputRequired, question),
        Finish::AuthRequired { explanation } => ended(Outcome::AuthRequired, Some(explanation)),
        Finish::Failed { reason } => ended(Outcome::Failed, Some(reason)),
        Finish::Rejected { reason } => ended(Outcome::Rejected, Some(reason)),
        Finish::Calls(_) => ended(Outcome::Failed, Some("This model uses tools.".into())),
        // A bare reply belongs to no task that anyone can see.
        Finish::Replied { parts } => {
            let mut message = voice.message("reply", parts);
            message.task = None;
            Fact::Replied { message: message.into() }
        }
    }
}

fn failed(error: &ModelError, voice: &Voice) -> Fact {
    let message = voice.text("status", format!("The model failed: {error}."));
    Fact::TurnEnded { outcome: Outcome::Failed, message: Some(message.into()) }
}
