//! Finds the open question of each answer in a message.
//!
//! Nothing is guessed: an answer that fits no open question is refused, and the refusal says which answers fit. An answer
//! names the id under which the call is asked about; after a call was lost that is an id of the question's own.
//! A question that a tool asks the person takes any text.

use std::ops::Range;

use jiff::Timestamp;
use serde_json::Value;

use crate::choice::{ANSWER, CANCEL, SKIP, verdict_of};
use crate::{
    AnswerLine, Answerer, CallAnswer, CallId, CallPhase, CallProgress, DataAnswer, Fault, GivenChoice,
    Message, MessageAnswers, NamedAnswer, NewContent, PartAnswers, Preview, Progress, TaskView, TextAnswers,
    visible_line,
};

/// An answer with its question.
pub(crate) struct MatchedAnswer {
    pub(crate) call: CallId,
    pub(crate) answer: CallAnswer,
    /// The message says which question it answers.
    pub(crate) is_named: bool,
}

impl TaskView {
    /// The answers that `message`, sent `by` a client at `now`, gives to the open questions.
    pub fn match_answers(
        &self,
        message: &Message,
        answers: &MessageAnswers,
        by: &Answerer,
        now: Timestamp,
    ) -> Result<Vec<(CallId, CallAnswer)>, Fault> {
        let progress = &self.progress;
        if message.context.as_ref().is_some_and(|context| *context != progress.context) {
            let (task, context) = (progress.task.clone(), progress.context.clone());
            return Err(Fault::ContextMismatch { task, context });
        }
        let open: Vec<_> = progress.work.asked().collect();
        let mut matched = Vec::new();
        for (part, answers) in message.parts.iter().zip(&answers.parts) {
            match answers {
                PartAnswers::Text(answers) => {
                    self.match_text(part.as_text().unwrap_or_default(), answers, &open, &mut matched)?;
                }
                PartAnswers::Data(items) => {
                    for item in items {
                        let answer = match_data(progress, item, &open)?;
                        self.refuse_unknown_questions(&answer)?;
                        matched.push(answer);
                    }
                }
                PartAnswers::None => {}
            }
        }
        if matched.is_empty() {
            return Err(not_a_choice(open.first().copied(), ""));
        }
        self.refuse_if_question_changed(&matched, by, now)?;
        Ok(matched.into_iter().map(|matched| (matched.call, matched.answer)).collect())
    }

    fn match_text(
        &self,
        text: &str,
        answers: &TextAnswers,
        open: &[&CallProgress],
        matched: &mut Vec<MatchedAnswer>,
    ) -> Result<(), Fault> {
        if let Some(other) = answers.lines.iter().find_map(|line| self.progress.closed_question(line)) {
            return Err(self.progress.not_open(&other));
        }
        // A question takes any text, so only the ids of the other choices are not taken for words.
        let (asked, words, is_named) = match (named_question(answers, open), open) {
            (Some((asked, words)), _) => (Some(asked), words, true),
            (None, [only]) => (Some(*only), &answers.words, false),
            (None, _) => (None, &(0..0), false),
        };
        let words = text.get(words.clone()).unwrap_or_default();
        let takes_words = |asked: &&CallProgress| {
            takes_any_text(asked)
                && !words.is_empty()
                && ![CANCEL, SKIP].map(|id| find_choice(id, asked)).contains(&Some(words))
        };
        if let Some(asked) = asked.filter(takes_words) {
            let answer = CallAnswer { answers: Some(Value::from(words)), ..answer(asked, ANSWER) };
            matched.push(MatchedAnswer { call: asked.id.clone(), answer, is_named });
            return Ok(());
        }
        for line in &answers.lines {
            self.match_line(line, open, matched)?;
        }
        Ok(())
    }

    fn match_line(
        &self,
        line: &AnswerLine,
        open: &[&CallProgress],
        matched: &mut Vec<MatchedAnswer>,
    ) -> Result<(), Fault> {
        let is_open = |named: &&NamedAnswer| open.iter().any(|asked| is_called(asked, &named.name));
        let one = line.named.as_ref().filter(is_open);
        let all = line.named.as_ref().filter(|named| named.is_all);
        let given = one.or(all).map_or(&line.whole, |named| &named.choice);
        let calls = open.iter().filter(|asked| one.is_none_or(|named| is_called(asked, &named.name)));
        let calls: Vec<_> = calls.copied().collect();
        // One word for several calls may agree to more than was meant. Refusing them all is safe.
        if one.is_none() && all.is_none() && open.len() > 1 && !runs_nothing(given, &calls) {
            return Err(self.several_open(&given.given, open));
        }
        for asked in calls {
            let choice = offered(given, asked).ok_or_else(|| not_a_choice(Some(asked), &given.given))?;
            let answer = answer(asked, choice);
            matched.push(MatchedAnswer { call: asked.id.clone(), answer, is_named: one.is_some() });
        }
        Ok(())
    }

    /// Answers may be given by the names of the questions: their numbers from 0, or their headers.
    fn refuse_unknown_questions(&self, matched: &MatchedAnswer) -> Result<(), Fault> {
        let record = self.call_records.find(&matched.call);
        let (Some(Value::Object(given)), Some(Preview::Questions { questions })) =
            (&matched.answer.answers, record.and_then(|record| record.preview()))
        else {
            return Ok(());
        };
        let headers: Vec<&str> = questions
            .as_array()
            .map(|all| {
                all.iter().map(|question| question["header"].as_str().unwrap_or_default().trim()).collect()
            })
            .unwrap_or_default();
        let is_header = |name: &str| headers.iter().any(|header| header.eq_ignore_ascii_case(name));
        let is_known =
            |name: &str| name.parse().is_ok_and(|number: usize| number < headers.len()) || is_header(name);
        let Some(unknown) = given.keys().map(|name| name.trim()).find(|name| !is_known(name)) else {
            return Ok(());
        };
        let named = |(number, header): (usize, &&str)| match *header {
            "" => format!("\"{number}\""),
            header => format!("\"{number}\" ({})", visible_line(header)),
        };
        let names: Vec<String> = headers.iter().enumerate().map(named).collect();
        let what =
            format!("has no question {:?}; the questions are {}", visible_line(unknown), names.join(", "));
        Err(Fault::invalid("answers", what))
    }

    /// Refuses bare words that could be about several calls, and says what each of them would do.
    fn several_open(&self, word: &str, open: &[&CallProgress]) -> Fault {
        let ids: Vec<_> = open.iter().map(|asked| visible_line(&asked.question_id().0)).collect();
        let mut what = format!(
            "must say which call it is about, because several wait ({}): `CALL: {word}` for one, `all: {word}` for all of \
             them",
            ids.join(", ")
        );
        for record in self.call_records.asked() {
            let (tool, words) = self.in_words(&record.call.id);
            let id = visible_line(&record.shown_id().0);
            what.push_str(&format!("\n{tool} ({id}): {words}"));
        }
        Fault::invalid("message.parts", what)
    }
}

impl Progress {
    /// Does `line` have the form `CALL: answer` for a call that is known here?
    pub(crate) fn names_question(&self, line: &AnswerLine) -> bool {
        let is_open = |named: &NamedAnswer| self.work.asked().any(|asked| is_called(asked, &named.name));
        line.named.as_ref().is_some_and(is_open) || self.closed_question(line).is_some()
    }

    /// The question that `line` answers in the form `CALL: answer`, if it is known and not open: it was answered before, or
    /// the call is known and needs no answer.
    pub(crate) fn closed_question(&self, line: &AnswerLine) -> Option<CallId> {
        let NamedAnswer { name, choice, .. } = line.named.as_ref()?;
        if !choice.is_answer || self.work.asked().any(|asked| is_called(asked, name)) {
            return None;
        }
        let answered = self.answered.iter().map(|answer| answer.question_id());
        let mut known = answered.chain(self.work.calls.iter().map(|call| &call.id));
        known.find(|id| is_id(id, name)).cloned()
    }

    /// The one open call is a question of a tool, which any text answers.
    pub fn takes_any_text(&self) -> bool {
        let mut asked = self.work.asked();
        asked.next().is_some_and(takes_any_text) && asked.next().is_none()
    }

    /// Does a text of a message name an open question of a call that asks something itself? Such a question is open while
    /// other calls still run.
    pub fn names_own_question(&self, answers: &MessageAnswers) -> bool {
        let open: Vec<_> = self.work.asked().filter(|call| call.asks.is_some()).collect();
        let names = |part: &PartAnswers| match part {
            PartAnswers::Text(answers) => named_question(answers, &open).is_some(),
            PartAnswers::Data(_) | PartAnswers::None => false,
        };
        !open.is_empty() && answers.parts.iter().any(names)
    }

    /// The running call that a message cancels, by data that names the call and the choice `cancel`.
    pub fn cancels_running_call(&self, answers: &MessageAnswers) -> Option<CallId> {
        let mut items = answers.parts.iter().flat_map(|part| match part {
            PartAnswers::Data(items) => items.as_slice(),
            PartAnswers::Text(_) | PartAnswers::None => &[],
        });
        let (Some(item), None) = (items.next(), items.next()) else { return None };
        let named = item.call.as_ref()?;
        let call = self.work.calls.iter().find(|call| call.id == *named || call.question_id() == named)?;
        let cancels = item.choice.as_ref()?.choices.iter().any(|choice| choice == CANCEL);
        (cancels && call.phase == CallPhase::Started).then(|| call.id.clone())
    }

    /// Does a message clearly answer about calls? It has data that names a call and a choice, or nothing but words such as
    /// `yes` or `CALL: yes`.
    pub fn is_clear_answer(&self, answers: &MessageAnswers) -> bool {
        let is_clear =
            |line: &&AnswerLine| line.whole.is_answer || line.names_all() || self.names_question(line);
        answers.has_data() || answers.only_lines().is_some_and(|lines| lines.iter().all(is_clear))
    }
}

fn match_data(
    progress: &Progress,
    item: &DataAnswer,
    open: &[&CallProgress],
) -> Result<MatchedAnswer, Fault> {
    let asked = match (&item.call, open) {
        (Some(call), _) => open
            .iter()
            .find(|asked| asked.is_asked_as(call))
            .copied()
            .ok_or_else(|| progress.not_open(call))?,
        (None, [only]) => only,
        (None, _) => return Err(Fault::invalid("call", "is needed: more than one call waits for an answer")),
    };
    let choice = match &item.choice {
        Some(given) => offered(given, asked).ok_or_else(|| not_a_choice(Some(asked), &given.given))?,
        None => {
            let answers = item.answers.as_ref().and_then(|_| find_choice(ANSWER, asked));
            let given = if item.answers.is_some() { ANSWER } else { "" };
            answers.ok_or_else(|| not_a_choice(Some(asked), given))?
        }
    };
    let mut answer = answer(asked, choice);
    answer.new_content = match &item.new_content {
        NewContent::Unchanged => None,
        NewContent::Text(content) => Some(content.clone()),
        NewContent::NotText => {
            return Err(Fault::invalid("newContent", "must be text: what the file should hold"));
        }
    };
    answer.answers.clone_from(&item.answers);
    Ok(MatchedAnswer { call: asked.id.clone(), answer, is_named: item.call.is_some() })
}

/// A person names a call as it was shown.
fn is_called(asked: &CallProgress, name: &str) -> bool {
    is_id(asked.question_id(), name) || (asked.asks.is_some() && is_id(&asked.id, name))
}

fn takes_any_text(asked: &CallProgress) -> bool {
    asked.choices.iter().any(|choice| choice == ANSWER)
}

/// The question that takes any text and is named, and the words for it.
fn named_question<'c, 'a>(
    answers: &'a TextAnswers,
    open: &[&'c CallProgress],
) -> Option<(&'c CallProgress, &'a Range<usize>)> {
    let named = answers.named.as_ref()?;
    let asked = *open.iter().find(|asked| takes_any_text(asked) && is_called(asked, &named.name))?;
    Some((asked, &named.words))
}

fn is_id(id: &CallId, name: &str) -> bool {
    id.0 == name || visible_line(&id.0) == name
}

fn runs_nothing(given: &GivenChoice, calls: &[&CallProgress]) -> bool {
    calls.iter().all(|asked| matches!(offered(given, asked), Some(CANCEL | SKIP)))
}

/// The offered choice that is meant.
fn offered<'a>(given: &GivenChoice, asked: &'a CallProgress) -> Option<&'a str> {
    given.choices.iter().find_map(|choice| find_choice(choice, asked))
}

fn find_choice<'a>(choice: &str, asked: &'a CallProgress) -> Option<&'a str> {
    asked.choices.iter().find(|offered| *offered == choice).map(String::as_str)
}

fn answer(asked: &CallProgress, choice: &str) -> CallAnswer {
    CallAnswer {
        choice: choice.to_owned(),
        question: asked.question.clone(),
        verdict: verdict_of(choice),
        new_content: None,
        answers: None,
        message: None,
        by: None,
    }
}

fn not_a_choice(asked: Option<&CallProgress>, given: &str) -> Fault {
    let (call, choices) =
        asked.map(|asked| (asked.question_id().0.clone(), asked.choices.clone())).unwrap_or_default();
    Fault::NotAChoice { call, given: given.chars().take(80).collect(), choices }
}
