//! One answer of the model becomes facts.

use attache_domain::{AnswerEnd, Content, ContextReason, Fact, ModelAnswer, Outcome, Said, Usage, Utterance};
use attache_model::{LanguageError, LanguageModel, Piece, Prompt, Stop, Streamed};
use attache_session::Stopped;
use futures_util::StreamExt;

use crate::performance::{Performance, Turn};
use crate::reason::Reason;
use crate::repetition::Repetition;

/// What the model is told when it repeats itself.
const LOOP: &str = "You seem to be repeating yourself without getting any further. Stop and think: what have you learnt, \
    what is missing, and is there another way? If not, say plainly where you are stuck.";

impl Performance<'_> {
    pub(crate) async fn round(&mut self, model: &dyn LanguageModel) -> Result<Turn, Stopped> {
        if let Some(told) = self.limit_reached() {
            return self.end(Outcome::InputRequired, Some(told)).await;
        }
        if self.place.limits.detects_loops
            && self.journal.look(|progress| progress.work.circles.is_going_round())
        {
            return self.in_circles().await;
        }
        if !self.make_room(model).await? {
            let text = "There is no room left in the model's window for what comes next. Start a new task, or say \
                        what matters in a new conversation.";
            return self.end(Outcome::InputRequired, Some((Reason::TooLong, text.into()))).await;
        }
        let view = self.latest.view();
        let exchanges = self.exchanges(&view);
        let instructions = &self.place.instructions;
        let prompt = Prompt {
            instructions: (!instructions.is_empty()).then(|| instructions.clone()),
            exchanges,
            tools: self.tools.declared.clone(),
            ..Prompt::default()
        };
        drop(view);
        self.listen(model, prompt).await
    }

    async fn listen(&self, model: &dyn LanguageModel, prompt: Prompt) -> Result<Turn, Stopped> {
        let mut answering = model.name().to_owned();
        let mut repetition = self.place.limits.detects_loops.then(Repetition::default);
        let mut stream = model.stream(prompt);
        while let Some(streamed) = stream.next().await {
            match streamed {
                Ok(Streamed::Piece(piece)) => {
                    let repeats = match (&piece, &mut repetition) {
                        (Piece::Text(text), Some(repetition)) => repetition.hears(text),
                        _ => false,
                    };
                    if let Piece::Switched { model, .. } = &piece {
                        answering.clone_from(model);
                    }
                    self.take_piece(piece).await?;
                    if repeats {
                        drop(stream);
                        self.withdraw().await?;
                        return self.in_circles().await;
                    }
                }
                Ok(Streamed::End { stop, usage, said }) => {
                    let answer = whole_answer(answering, stop, said, usage);
                    self.journal.record(Fact::ModelAnswered(Box::new(answer))).await?;
                    return Ok(Turn::GoesOn);
                }
                Err(error) => {
                    self.withdraw().await?;
                    return self.after_error(&error).await;
                }
            }
        }
        self.withdraw().await?;
        let what = "its stream ended without saying so".to_owned();
        self.after_error(&LanguageError::Unusable { what }).await
    }

    /// A turn, and a conversation, may be told to end before they do.
    fn limit_reached(&self) -> Option<(Reason, String)> {
        let limits = &self.place.limits;
        let rounds = self.journal.look(|progress| progress.work.rounds);
        if rounds >= limits.turn_rounds {
            let text = format!(
                "I have asked the model {rounds} times for this and stop here. Say \"continue\" to go on."
            );
            return Some((Reason::TurnLimit, text));
        }
        let all = self.earlier.rounds + self.latest.view().rounds;
        let most = limits.conversation_rounds.filter(|most| all >= *most)?;
        let text = format!(
            "This conversation has had the {most} answers of the model it may have. Start a new one."
        );
        Some((Reason::SessionLimit, text))
    }

    /// The first time the model is told; after that a person is.
    async fn in_circles(&self) -> Result<Turn, Stopped> {
        if self.journal.look(|progress| progress.work.circles.times_told()) == 0 {
            self.give(ContextReason::Loop, vec![Content::Text(LOOP.into())]).await?;
            return Ok(Turn::GoesOn);
        }
        let text =
            "I keep repeating myself and stop here. Tell me what to do differently, or say \"continue\".";
        self.end(Outcome::InputRequired, Some((Reason::Loop, text.into()))).await
    }

    async fn take_piece(&self, piece: Piece) -> Result<(), Stopped> {
        match piece {
            Piece::Text(text) => self.journal.record(Fact::TextSaid { text, last: false }).await,
            Piece::Thought(text) => self.journal.record(Fact::ThoughtShared { text }).await,
            // The whole answer, calls included, is recorded when it is whole.
            Piece::CallBegun { .. } | Piece::Call(_) => Ok(()),
            Piece::Retrying { attempt, pause, why } => {
                self.withdraw().await?;
                let seconds = pause.as_secs_f64();
                self.notice(format!("{why}; trying again in {seconds:.1} s (attempt {attempt}).")).await
            }
            Piece::Switched { model, why } => {
                self.withdraw().await?;
                self.notice(format!("{why}; {model} answers instead.")).await
            }
        }
    }

    /// The model has said what there is to say, and asks for nothing.
    pub(crate) async fn after_answer(&self, end: AnswerEnd) -> Result<Turn, Stopped> {
        match end {
            AnswerEnd::Done => self.end(Outcome::Completed, None).await,
            AnswerEnd::Length => {
                let text = "The answer was cut off at the model's output limit. Say \"continue\" to go on.";
                self.end(Outcome::InputRequired, Some((Reason::MaxTokens, text.into()))).await
            }
            AnswerEnd::Refused { why } => {
                let text = format!("The model will not answer this: {why}.");
                self.end(Outcome::Failed, Some((Reason::Refused, text))).await
            }
        }
    }

    /// What may pass, or be mended by a word, leaves the task open.
    async fn after_error(&self, error: &LanguageError) -> Result<Turn, Stopped> {
        tracing::warn!(%error, "the model gave no answer");
        let again = " Send any message to try again.";
        let (outcome, reason, advice) = match error {
            LanguageError::Unavailable { .. } | LanguageError::Unreachable { .. } => {
                (Outcome::InputRequired, Reason::Unavailable, again)
            }
            LanguageError::Unusable { .. } => (Outcome::InputRequired, Reason::Unusable, again),
            LanguageError::QuotaExhausted { .. } => {
                let advice = " Send any message to try again when there is quota.";
                (Outcome::InputRequired, Reason::Quota, advice)
            }
            LanguageError::TooLong { .. } => {
                (Outcome::InputRequired, Reason::TooLong, " Say less, or start a new task.")
            }
            LanguageError::Credential { .. } => (Outcome::Failed, Reason::Credential, ""),
            LanguageError::NoSuchModel { .. } => (Outcome::Failed, Reason::NoSuchModel, ""),
            _ => (Outcome::Failed, Reason::Request, ""),
        };
        let mut text = error.to_string();
        if let Some(first) = text.get(..1).map(str::to_uppercase) {
            text.replace_range(..1, &first);
        }
        self.end(outcome, Some((reason, format!("{text}.{advice}")))).await
    }
}

fn whole_answer(model: String, stop: Stop, mut said: Vec<Said>, usage: Usage) -> ModelAnswer {
    let end = match stop {
        Stop::Done => AnswerEnd::Done,
        Stop::Length => AnswerEnd::Length,
        Stop::Refused { why } => {
            // Whoever will not answer wants nothing done.
            said.retain(|said| !matches!(said.what, Utterance::Call(_)));
            AnswerEnd::Refused { why }
        }
    };
    ModelAnswer { model, said, usage, end }
}
