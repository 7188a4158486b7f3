//! One answer of the model becomes facts.

use attache_domain::{AnswerEnd, Content, ContextReason, Fact, ModelAnswer, Outcome, Said, Usage, Utterance};
use attache_model::{LanguageError, LanguageModel, Piece, Prompt, Stop, Streamed};
use attache_session::Stopped;
use futures_util::StreamExt;

use crate::ahead::Ahead;
use crate::performance::{Performance, Turn};
use crate::reason::Reason;
use crate::repetition::Repetition;
use crate::wording::{because, sentence, still_waiting};

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
            let advice = self.advice(" Start a new task, or say what matters in a new conversation.");
            let text = format!("There is no room left in the model's window for what comes next.{advice}");
            return self.end(Outcome::InputRequired, Some((Reason::TooLong, text))).await;
        }
        let prompt = self.prompt();
        let mut heard = self.listen(model, prompt).await?;
        if matches!(heard, Err(LanguageError::TooLong { .. })) && self.make_more_room(model).await? {
            let prompt = self.prompt();
            heard = self.listen(model, prompt).await?;
        }
        match heard {
            Ok(turn) => Ok(turn),
            Err(error) => self.after_error(&error).await,
        }
    }

    fn prompt(&mut self) -> Prompt {
        let view = self.latest.view();
        let exchanges = self.exchanges(&view);
        let instructions = &self.place.instructions;
        Prompt {
            instructions: (!instructions.is_empty()).then(|| instructions.to_string()),
            exchanges,
            tools: self.tools.declared.clone(),
            ..Prompt::default()
        }
    }

    /// Records what the model says. When it gives no answer, nothing of it stays.
    async fn listen(
        &mut self,
        model: &dyn LanguageModel,
        prompt: Prompt,
    ) -> Result<Result<Turn, LanguageError>, Stopped> {
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
                        return self.in_circles().await.map(Ok);
                    }
                }
                Ok(Streamed::End { stop, usage, said }) => {
                    let answer = whole_answer(answering, stop, said, usage);
                    let view = self.latest.view();
                    self.ahead.get_or_insert_with(|| Ahead::of(&view)).answered(&answer, &view);
                    drop(view);
                    self.journal.record(Fact::ModelAnswered(Box::new(answer))).await?;
                    return Ok(Ok(Turn::GoesOn));
                }
                Err(error) => {
                    self.withdraw().await?;
                    return Ok(Err(error));
                }
            }
        }
        self.withdraw().await?;
        let what = "its stream ended without saying so".to_owned();
        Ok(Err(LanguageError::Unusable { what }))
    }

    /// A turn, and a conversation, may be told to end before they do.
    fn limit_reached(&self) -> Option<(Reason, String)> {
        let limits = &self.place.limits;
        let rounds = self.journal.look(|progress| progress.work.rounds);
        if rounds >= limits.turn_rounds {
            let text = format!("I have asked the model {rounds} times for this and stop here.");
            return Some((Reason::TurnLimit, text + self.advice(" Say \"continue\" to go on.")));
        }
        let own = self.ahead.as_ref().map_or_else(|| self.latest.view().rounds, |ahead| ahead.rounds);
        let all = self.earlier.rounds + own;
        let most = limits.conversation_rounds.filter(|most| all >= *most)?;
        let text = format!("This conversation has had the {most} answers of the model it may have.");
        Some((Reason::SessionLimit, text + self.advice(" Start a new one.")))
    }

    /// The first time the model is told; after that a person is.
    async fn in_circles(&mut self) -> Result<Turn, Stopped> {
        if self.journal.look(|progress| progress.work.circles.times_told()) == 0 {
            self.give(ContextReason::Loop, vec![Content::Text(LOOP.into())]).await?;
            self.be_durable().await?;
            return Ok(Turn::GoesOn);
        }
        let advice = self.advice(" Tell me what to do differently, or say \"continue\".");
        let text = format!("I keep repeating myself and stop here.{advice}");
        self.end(Outcome::InputRequired, Some((Reason::Loop, text))).await
    }

    async fn take_piece(&self, piece: Piece) -> Result<(), Stopped> {
        match piece {
            Piece::Begun { id } => self.journal.record(Fact::ModelResponded { id }).await,
            Piece::Text(text) => self.journal.record(Fact::TextSaid { text, last: false }).await,
            Piece::Thought(text) => self.journal.record(Fact::ThoughtShared { text }).await,
            // The whole answer, calls included, is recorded when it is whole.
            Piece::CallBegun { .. } | Piece::Call(_) => Ok(()),
            Piece::Waiting { silent, most } => self.notice(still_waiting(silent, most)).await,
            Piece::Retrying { attempt, pause, why } => {
                self.withdraw().await?;
                let seconds = pause.as_secs_f64();
                let what = format!("trying again in {seconds:.1} s (attempt {attempt})");
                self.notice(because(&why, &what)).await
            }
            Piece::Switched { model, why } => {
                self.withdraw().await?;
                self.notice(because(&why, &format!("{model} answers instead"))).await
            }
        }
    }

    /// The model has said what there is to say, and asks for nothing.
    pub(crate) async fn after_answer(&self, end: AnswerEnd) -> Result<Turn, Stopped> {
        match end {
            AnswerEnd::Done => self.end(Outcome::Completed, None).await,
            AnswerEnd::Length => {
                let advice = self.advice(" Say \"continue\" to go on.");
                let text = format!("The answer was cut off at the model's output limit.{advice}");
                self.end(Outcome::InputRequired, Some((Reason::MaxTokens, text))).await
            }
            AnswerEnd::Refused { why } => {
                let text = sentence(&format!("The model will not answer this: {why}"));
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
            LanguageError::Credential { .. } | LanguageError::NoCredential { .. } => {
                (Outcome::Failed, Reason::Credential, "")
            }
            LanguageError::NoSuchModel { .. } => (Outcome::Failed, Reason::NoSuchModel, ""),
            _ => (Outcome::Failed, Reason::Request, ""),
        };
        let text = sentence(&error.to_string()) + self.advice(advice);
        self.end(outcome, Some((reason, text))).await
    }

    /// Nobody is told to say something where nobody can.
    fn advice<'a>(&self, advice: &'a str) -> &'a str {
        if self.place.attended { advice } else { "" }
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
