//! One answer of the model becomes facts.

use attache_domain::{Fact, ModelAnswer, Outcome, TaskView, Utterance};
use attache_model::{LanguageError, Piece, Prompt, Stop, Streamed, ToolDeclaration};
use attache_session::Stopped;
use attache_tool::ToolSpec;
use futures_util::StreamExt;

use crate::performance::{Performance, Turn};
use crate::prompt::{conversation, text_of_turn};

impl Performance<'_> {
    pub(crate) async fn round(&self) -> Result<Turn, Stopped> {
        let rounds = self.journal.look(|progress| progress.work.rounds);
        if rounds >= self.agent.options.most_rounds {
            let text = format!(
                "I have asked the model {rounds} times for this and stop here. Say \"continue\" to go on."
            );
            return self.end(Outcome::InputRequired, Some(text)).await;
        }
        let view = self.latest.view();
        let kept = text_of_turn(&view);
        let prompt = self.prompt_of(&view);
        drop(view);
        let mut stream = self.agent.model.stream(prompt);
        while let Some(streamed) = stream.next().await {
            match streamed {
                Ok(Streamed::Piece(piece)) => self.take_piece(piece, &kept).await?,
                Ok(Streamed::End { stop, usage, said }) => {
                    let calls = said.iter().any(|said| matches!(said.what, Utterance::Call(_)));
                    let answer = ModelAnswer { model: self.agent.model.name().to_owned(), said, usage };
                    self.journal.record(Fact::ModelAnswered(Box::new(answer))).await?;
                    return self.after_answer(stop, calls).await;
                }
                Err(error) => {
                    self.withdraw(&kept).await?;
                    return self.after_error(&error).await;
                }
            }
        }
        self.withdraw(&kept).await?;
        let what = "its stream ended without saying so".to_owned();
        self.after_error(&LanguageError::Unusable { what }).await
    }

    fn prompt_of(&self, view: &TaskView) -> Prompt {
        let instructions = &self.agent.options.instructions;
        let exchanges = self.earlier.iter().cloned().chain(conversation(view));
        Prompt {
            instructions: (!instructions.is_empty()).then(|| instructions.clone()),
            exchanges: exchanges.collect(),
            tools: self.tools.tools().map(|tool| declare(tool.spec())).collect(),
            ..Prompt::default()
        }
    }

    async fn take_piece(&self, piece: Piece, kept: &str) -> Result<(), Stopped> {
        match piece {
            Piece::Text(text) => self.journal.record(Fact::TextSaid { text, last: false }).await,
            Piece::Thought(text) => self.journal.record(Fact::ThoughtShared { text }).await,
            // The whole answer, calls included, is recorded when it is whole.
            Piece::CallBegun { .. } | Piece::Call(_) => Ok(()),
            Piece::Retrying { attempt, pause, why } => {
                self.withdraw(kept).await?;
                let seconds = pause.as_secs_f64();
                let text = format!("{why}; trying again in {seconds:.1} s (attempt {attempt}).");
                // A turn may wait more than once; the place in the log tells its notices apart.
                let place = self.journal.look(|progress| progress.head);
                let message = self.voice.text(&format!("notice-{place}"), text).into();
                self.journal.record(Fact::Noticed { message }).await
            }
            Piece::Switched { model, why } => {
                self.withdraw(kept).await?;
                let place = self.journal.look(|progress| progress.head);
                let text = format!("{why}; {model} answers instead.");
                let message = self.voice.text(&format!("notice-{place}"), text).into();
                self.journal.record(Fact::Noticed { message }).await
            }
        }
    }

    async fn after_answer(&self, stop: Stop, calls: bool) -> Result<Turn, Stopped> {
        match stop {
            Stop::Done if calls => Ok(Turn::GoesOn),
            Stop::Done => self.end(Outcome::Completed, None).await,
            Stop::Length => {
                let text = "The answer was cut off at the model's output limit. Say \"continue\" to go on.";
                self.end(Outcome::InputRequired, Some(text.into())).await
            }
            Stop::Refused { why } => {
                self.end(Outcome::Failed, Some(format!("The model will not answer this: {why}."))).await
            }
        }
    }

    /// What may pass, or be mended by a word, leaves the task open.
    async fn after_error(&self, error: &LanguageError) -> Result<Turn, Stopped> {
        tracing::warn!(%error, "the model gave no answer");
        let (outcome, advice) = match error {
            LanguageError::Unavailable { .. } | LanguageError::Unusable { .. } => {
                (Outcome::InputRequired, " Send any message to try again.")
            }
            LanguageError::QuotaExhausted { .. } => {
                (Outcome::InputRequired, " Send any message to try again when there is quota.")
            }
            LanguageError::TooLong { .. } => (Outcome::InputRequired, " Say less, or start a new task."),
            _ => (Outcome::Failed, ""),
        };
        let mut text = error.to_string();
        if let Some(first) = text.get(..1).map(str::to_uppercase) {
            text.replace_range(..1, &first);
        }
        self.end(outcome, Some(format!("{text}.{advice}"))).await
    }
}

fn declare(spec: &ToolSpec) -> ToolDeclaration {
    let ToolSpec { name, description, parameters, .. } = spec.clone();
    ToolDeclaration { name, description, parameters }
}
