//! Requests one answer from the model and records it as facts.

use attache_domain::{
    Content, ContextReason, Fact, ModelAnswer, ModelPart, ModelPartContent, ResponseEnd, TurnOutcome, Usage,
};
use attache_model::{AnswerEvent, AnswerPiece, LanguageError, LanguageModel, Prompt, StopReason};
use attache_session::TurnStopped;
use futures_util::StreamExt;

use crate::reason::StatusReason;
use crate::repeat_detector::TextRepeatDetector;
use crate::turn_runner::{TurnFlow, TurnRunner};
use crate::wording::{because, sentence, still_waiting};

/// The warning for a model that repeats itself.
const LOOP_WARNING: &str = "You seem to be repeating yourself without getting any further. Stop and think: what have you learnt, \
    what is missing, and is there another way? If not, say plainly where you are stuck.";

impl TurnRunner<'_> {
    pub(crate) async fn request_model(&mut self, model: &dyn LanguageModel) -> Result<TurnFlow, TurnStopped> {
        if let Some(reason) = self.limit_reached() {
            return self.end_turn(TurnOutcome::InputRequired, Some(reason)).await;
        }
        if self.setup.limits.detects_loops
            && self.journal.with_progress(|progress| progress.work.repeats.is_repeating())
        {
            return self.handle_loop().await;
        }
        if !self.compact_if_needed(model).await? {
            let advice = self.advice(" Start a new task, or say what matters in a new conversation.");
            let text = format!("There is no room left in the model's window for what comes next.{advice}");
            return self.end_turn(TurnOutcome::InputRequired, Some((StatusReason::TooLong, text))).await;
        }
        let prompt = self.prompt();
        let mut answer = self.read_answer(model, prompt).await?;
        if matches!(answer, Err(LanguageError::TooLong { .. })) && self.compact_further(model).await? {
            let prompt = self.prompt();
            answer = self.read_answer(model, prompt).await?;
        }
        match answer {
            Ok(turn) => Ok(turn),
            Err(error) => self.after_error(&error).await,
        }
    }

    fn prompt(&mut self) -> Prompt {
        let view = self.task.view();
        let (key, exchanges) = self.prompt_builder.next(&self.setup.opening, &view);
        let instructions = &self.setup.instructions;
        Prompt {
            instructions: (!instructions.is_empty()).then(|| instructions.to_string()),
            exchanges,
            key: Some(key),
            tools: self.tools.declarations.clone(),
            ..Prompt::default()
        }
    }

    /// Records the model's answer. Withdraws the text of an incomplete answer.
    async fn read_answer(
        &mut self,
        model: &dyn LanguageModel,
        prompt: Prompt,
    ) -> Result<Result<TurnFlow, LanguageError>, TurnStopped> {
        // Everything that led to the request is durable before it is sent.
        self.journal.flush().await?;
        let mut answering = model.name().to_owned();
        let mut repetition = self.setup.limits.detects_loops.then(TextRepeatDetector::default);
        let mut stream = model.stream(prompt);
        while let Some(streamed) = stream.next().await {
            match streamed {
                Ok(AnswerEvent::Piece(piece)) => {
                    let repeats = match (&piece, &mut repetition) {
                        (AnswerPiece::Text(text), Some(repetition)) => repetition.push(text),
                        _ => false,
                    };
                    if let AnswerPiece::Switched { model, .. } = &piece {
                        answering.clone_from(model);
                    }
                    self.record_piece(piece).await?;
                    if repeats {
                        drop(stream);
                        self.withdraw_partial_answer().await?;
                        return self.handle_loop().await.map(Ok);
                    }
                }
                Ok(AnswerEvent::End { stop, usage, parts }) => {
                    let answer = complete_answer(answering, stop, parts, usage);
                    self.journal.record(Fact::ModelAnswered(Box::new(answer))).await?;
                    return Ok(Ok(TurnFlow::Continue));
                }
                Err(error) => {
                    self.withdraw_partial_answer().await?;
                    return Ok(Err(error));
                }
            }
        }
        self.withdraw_partial_answer().await?;
        let what = "its stream ended without saying so".to_owned();
        Ok(Err(LanguageError::Unusable { what }))
    }

    /// The limits of answers in a turn and in a conversation.
    fn limit_reached(&self) -> Option<(StatusReason, String)> {
        let limits = &self.setup.limits;
        let rounds = self.journal.with_progress(|progress| progress.work.rounds);
        if rounds >= limits.turn_requests {
            let text = format!("I have asked the model {rounds} times for this and stop here.");
            return Some((StatusReason::TurnLimit, text + self.advice(" Say \"continue\" to go on.")));
        }
        let all = self.prompt_builder.rounds + self.task.view().rounds;
        let limit = limits.conversation_requests.filter(|limit| all >= *limit)?;
        let text = format!("This conversation has had the {limit} answers of the model it may have.");
        Some((StatusReason::SessionLimit, text + self.advice(" Start a new one.")))
    }

    /// The model gets a warning first. The second time the turn stops and a person is asked.
    async fn handle_loop(&mut self) -> Result<TurnFlow, TurnStopped> {
        if self.journal.with_progress(|progress| progress.work.repeats.warnings()) == 0 {
            self.record_context(ContextReason::Loop, vec![Content::Text(LOOP_WARNING.into())]).await?;
            return Ok(TurnFlow::Continue);
        }
        let advice = self.advice(" Tell me what to do differently, or say \"continue\".");
        let text = format!("I keep repeating myself and stop here.{advice}");
        self.end_turn(TurnOutcome::InputRequired, Some((StatusReason::Loop, text))).await
    }

    async fn record_piece(&self, piece: AnswerPiece) -> Result<(), TurnStopped> {
        match piece {
            AnswerPiece::Begun { id } => self.journal.record(Fact::ModelResponded { id }).await,
            AnswerPiece::Text(text) => self.journal.record(Fact::TextSaid { text, last: false }).await,
            AnswerPiece::Thought(text) => self.journal.record(Fact::ThoughtShared { text }).await,
            // The whole answer, calls included, is recorded when it is complete.
            AnswerPiece::CallBegun { .. } | AnswerPiece::Call(_) => Ok(()),
            AnswerPiece::Waiting { silent, timeout } => {
                self.record_notice(still_waiting(silent, timeout)).await
            }
            AnswerPiece::Retrying { attempt, pause, why } => {
                self.withdraw_partial_answer().await?;
                let seconds = pause.as_secs_f64();
                let what = format!("trying again in {seconds:.1} s (attempt {attempt})");
                self.record_notice(because(&why, &what)).await
            }
            AnswerPiece::Switched { model, why } => {
                self.withdraw_partial_answer().await?;
                self.record_notice(because(&why, &format!("{model} answers instead"))).await
            }
        }
    }

    /// The answer is complete and requests no calls.
    pub(crate) async fn after_answer(&self, end: ResponseEnd) -> Result<TurnFlow, TurnStopped> {
        match end {
            ResponseEnd::Done => self.end_turn(TurnOutcome::Completed, None).await,
            ResponseEnd::Length => {
                let advice = self.advice(" Say \"continue\" to go on.");
                let text = format!("The answer was cut off at the model's output limit.{advice}");
                self.end_turn(TurnOutcome::InputRequired, Some((StatusReason::MaxTokens, text))).await
            }
            ResponseEnd::Refused { why } => {
                let text = sentence(&format!("The model will not answer this: {why}"));
                self.end_turn(TurnOutcome::Failed, Some((StatusReason::Refused, text))).await
            }
        }
    }

    /// After an error that may pass or that a message can solve, the task stays open.
    async fn after_error(&self, error: &LanguageError) -> Result<TurnFlow, TurnStopped> {
        tracing::warn!(task = %self.task.view().task, %error, "the model gave no answer");
        let again = " Send any message to try again.";
        let (outcome, reason, advice) = match error {
            LanguageError::Unavailable { .. } | LanguageError::Unreachable { .. } => {
                (TurnOutcome::InputRequired, StatusReason::Unavailable, again)
            }
            LanguageError::Unusable { .. } => (TurnOutcome::InputRequired, StatusReason::Unusable, again),
            LanguageError::QuotaExhausted { .. } => {
                let advice = " Send any message to try again when there is quota.";
                (TurnOutcome::InputRequired, StatusReason::Quota, advice)
            }
            LanguageError::TooLong { .. } => {
                (TurnOutcome::InputRequired, StatusReason::TooLong, " Say less, or start a new task.")
            }
            LanguageError::Credential { .. } | LanguageError::NoCredential { .. } => {
                (TurnOutcome::Failed, StatusReason::Credential, "")
            }
            LanguageError::NoSuchModel { .. } => (TurnOutcome::Failed, StatusReason::NoSuchModel, ""),
            _ => (TurnOutcome::Failed, StatusReason::Request, ""),
        };
        let text = sentence(&error.to_string()) + self.advice(advice);
        self.end_turn(outcome, Some((reason, text))).await
    }

    /// Advice for people, if a person can answer.
    fn advice<'a>(&self, advice: &'a str) -> &'a str {
        if self.setup.attended { advice } else { "" }
    }
}

fn complete_answer(model: String, stop: StopReason, mut parts: Vec<ModelPart>, usage: Usage) -> ModelAnswer {
    let end = match stop {
        StopReason::Done => ResponseEnd::Done,
        StopReason::Length => ResponseEnd::Length,
        StopReason::Refused { why } => {
            // A refusal has no calls.
            parts.retain(|part| !matches!(part.what, ModelPartContent::Call(_)));
            ResponseEnd::Refused { why }
        }
    };
    ModelAnswer { model, parts, usage, end }
}
