//! Reads a person's answer about open calls out of a message.
//!
//! In words, for clients that only know text: `yes`, `no`, `always`, `run again`, or one of the choices by its id; for one of
//! several calls, a line `CALL: answer` each, or `all: answer`. As data, for clients that know more: an object with `call` (may be
//! left out when only one is open), `choice`, and `newContent` or `answers` where that makes sense; or a list of such.
//! `call` is the id under which the call is asked about; for a call that was lost that is an id of the question's own.
//! `nearest` says that the client knows a fixed list of choices, so that the nearest of those offered is meant.
//! A question that a call puts to the person is answered with any text, or with `answers`.

use serde_json::{Map, Value};

use crate::{
    CANCEL, CallAnswer, CallId, CallProgress, Fault, Message, Part, PartContent, Progress, RUN_AGAIN, SKIP,
    Verdict, visible_line,
};

/// The choice that says something instead of agreeing to something.
pub(crate) const ANSWERING: &str = "answer";

/// The choice that puts other content into an edit and has it asked about again.
pub(crate) const MODIFYING: &str = "modify_with_editor";

/// Said in the refusal of bare words that could be about several calls.
pub(crate) const SEVERAL_WAIT: &str = "because several wait";

/// Stands for every call that waits.
const ALL: &str = "all";

const ONCE: &str = "proceed_once";
const ALWAYS: &str = "proceed_always";
const ALWAYS_TOOL: &str = "proceed_always_tool";
const ALWAYS_SERVER: &str = "proceed_always_server";
const ALWAYS_AND_SAVE: &str = "proceed_always_and_save";

/// Words people use, and the choices they mean, the first that is offered. `yes` agrees that a call may run; whether one
/// that was lost runs a second time is another question, which takes other words.
const WORDS: &[(&[&str], &[&str])] = &[
    (&["yes", "y", "ok", "okay", "proceed", "allow", "go"], &[ONCE]),
    (&["always"], &[ALWAYS, ALWAYS_TOOL]),
    (&["no", "n", "stop", "deny", "refuse"], &[CANCEL]),
    (&["run again", "again", "rerun"], &[RUN_AGAIN]),
];

/// Choices of clients that know a fixed list, and what each means where it is not offered: the first of these that is. None
/// allows more than what was shown to the person for it.
const NEAREST: &[(&str, &[&str])] = &[
    (ONCE, &[RUN_AGAIN]),
    (ALWAYS, &[ALWAYS_TOOL, ONCE, RUN_AGAIN]),
    (ALWAYS_TOOL, &[ALWAYS, ONCE, RUN_AGAIN]),
    (ALWAYS_SERVER, &[ALWAYS_TOOL, ALWAYS, ONCE, RUN_AGAIN]),
    (ALWAYS_AND_SAVE, &[ALWAYS_TOOL, ALWAYS, ONCE, RUN_AGAIN]),
];

/// Every choice that agrees to a call or leaves it, by its id.
const CHOICES: &[&str] =
    &[ONCE, ALWAYS, ALWAYS_TOOL, ALWAYS_SERVER, ALWAYS_AND_SAVE, MODIFYING, CANCEL, SKIP, RUN_AGAIN];

/// Is this nothing but a word that answers a question about a call?
pub(crate) fn is_answer_word(word: &str) -> bool {
    let word = normal(word);
    CHOICES.contains(&word.as_str()) || WORDS.iter().any(|(words, _)| words.contains(&word.as_str()))
}

fn normal(word: &str) -> String {
    word.trim().trim_end_matches(['.', '!']).to_lowercase()
}

/// The question that a line of words names, and the answer to it.
pub(crate) fn named_in(line: &str) -> Option<(&str, &str)> {
    line.rsplit_once(':').map(|(call, word)| (call.trim(), word.trim()))
}

/// Does a line of words stand for every open question?
pub(crate) fn names_all(line: &str) -> bool {
    named_in(line).is_some_and(|(call, _)| call.eq_ignore_ascii_case(ALL))
}

impl Progress {
    /// The parts of `message` that are data which names a call and what to do with it, and the rest of it if there is
    /// any. `None`: there are no such parts. Whether anybody asked or not, they are no prompt.
    pub fn answers_apart(message: &Message) -> Option<(Message, Option<Message>)> {
        let names = |item: &Value| {
            item["call"].is_string() && (item["choice"].is_string() || !item["answers"].is_null())
        };
        let is_answer = |part: &&Part| match &part.content {
            PartContent::Data(Value::Array(items)) => !items.is_empty() && items.iter().all(names),
            PartContent::Data(item) => names(item),
            _ => false,
        };
        let (answers, rest): (Vec<_>, Vec<_>) = message.parts.iter().partition(is_answer);
        if answers.is_empty() {
            return None;
        }
        let with =
            |parts: Vec<&Part>| Message { parts: parts.into_iter().cloned().collect(), ..message.clone() };
        let rest = (!rest.is_empty()).then(|| with(rest));
        Some((with(answers), rest))
    }

    /// What `message` answers about the calls that are open. Nothing is guessed: what does not fit is refused, with
    /// what would.
    pub fn answers_in(&self, message: &Message) -> Result<Vec<(CallId, CallAnswer)>, Fault> {
        if message.context.as_ref().is_some_and(|context| *context != self.context) {
            let (task, context) = (self.task.clone(), self.context.clone());
            return Err(Fault::ContextMismatch { task, context });
        }
        let open: Vec<_> = self.work.asked().collect();
        let mut answers = Vec::new();
        for part in &message.parts {
            match &part.content {
                PartContent::Text(text) => read_text(self, text, &open, &mut answers)?,
                PartContent::Data(Value::Array(items)) => {
                    for item in items {
                        answers.push(read_data(self, item, &open)?);
                    }
                }
                PartContent::Data(item) => answers.push(read_data(self, item, &open)?),
                PartContent::Raw(_) | PartContent::Url(_) => {}
            }
        }
        if answers.is_empty() {
            return Err(not_a_choice(open.first().copied(), ""));
        }
        Ok(answers)
    }
}

fn read_text(
    progress: &Progress,
    text: &str,
    open: &[&CallProgress],
    answers: &mut Vec<(CallId, CallAnswer)>,
) -> Result<(), Fault> {
    if let Some(other) = text.lines().find_map(|line| progress.other_question(line)) {
        return Err(progress.not_open(&other));
    }
    // A question may be answered with anything, so only the plain choice itself means no.
    if let [only] = open
        && only.choices.iter().any(|choice| choice == ANSWERING)
        && !text.trim().is_empty()
        && text.trim() != CANCEL
    {
        let said = CallAnswer { answers: Some(Value::from(text.trim())), ..answer(only, ANSWERING) };
        answers.push((only.id.clone(), said));
        return Ok(());
    }
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let named = named_in(line).filter(|(call, _)| open.iter().any(|asked| is_called(asked, call)));
        let everyone = named_in(line).filter(|_| names_all(line));
        let (word, calls): (&str, Vec<_>) = match (named, everyone) {
            (Some((call, word)), _) => (word, open.iter().filter(|asked| is_called(asked, call)).collect()),
            (None, Some((_, word))) => (word, open.iter().collect()),
            (None, None) => (line, open.iter().collect()),
        };
        // To agree to several things with one word may be more than was meant; to leave them all is not.
        if named.is_none() && everyone.is_none() && open.len() > 1 && !runs_nothing(word, &calls) {
            let calls: Vec<_> = open.iter().map(|asked| visible_line(&asked.question_id().0)).collect();
            let what = format!(
                "must say which call it is about, {SEVERAL_WAIT} ({}): `CALL: {word}` for one, `{ALL}: {word}` for \
                 all of them",
                calls.join(", ")
            );
            return Err(Fault::invalid("message.parts", what));
        }
        for asked in calls {
            let choice = meant(word, asked).ok_or_else(|| not_a_choice(Some(asked), word))?;
            answers.push((asked.id.clone(), answer(asked, choice)));
        }
    }
    Ok(())
}

/// A person names a call as it was shown.
fn is_called(asked: &CallProgress, name: &str) -> bool {
    is_id(asked.question_id(), name)
}

fn is_id(id: &CallId, name: &str) -> bool {
    id.0 == name || visible_line(&id.0) == name
}

impl Progress {
    /// Does `line` have the form `CALL: answer` for a call that is known here?
    pub(crate) fn names_question(&self, line: &str) -> bool {
        let is_open = |name: &str| self.work.asked().any(|asked| is_called(asked, name));
        named_in(line).is_some_and(|(name, _)| is_open(name)) || self.other_question(line).is_some()
    }

    /// The question that `line` answers in the form `CALL: answer`, if that is one that is not open: it was answered
    /// before, or the call is known and nobody is asked about it.
    pub(crate) fn other_question(&self, line: &str) -> Option<CallId> {
        let (name, word) = named_in(line)?;
        if !is_answer_word(word) || self.work.asked().any(|asked| is_called(asked, name)) {
            return None;
        }
        let answered = self.answered.iter().map(|said| said.question_id());
        let known = answered.chain(self.work.calls.iter().map(|call| &call.id));
        known.into_iter().find(|id| is_id(id, name)).cloned()
    }
}

fn runs_nothing(word: &str, calls: &[&&CallProgress]) -> bool {
    calls.iter().all(|asked| matches!(meant(word, asked), Some(CANCEL | SKIP)))
}

fn read_data(
    progress: &Progress,
    item: &Value,
    open: &[&CallProgress],
) -> Result<(CallId, CallAnswer), Fault> {
    let empty = Map::new();
    let members = item.as_object().unwrap_or(&empty);
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let asked = match (text("call"), open) {
        (Some(call), _) => open
            .iter()
            .find(|asked| asked.question_id().0 == call)
            .copied()
            .ok_or_else(|| progress.not_open(&CallId(call.to_owned())))?,
        (None, [only]) => only,
        (None, _) => return Err(Fault::invalid("call", "is needed: more than one call waits for an answer")),
    };
    let answering = members.contains_key("answers").then_some(ANSWERING);
    let word = text("choice").or(answering).unwrap_or_default();
    let nearest = || nearest(word, asked).filter(|_| members.get("nearest") == Some(&Value::Bool(true)));
    let choice = meant(word, asked).or_else(nearest).ok_or_else(|| not_a_choice(Some(asked), word))?;
    let mut answer = answer(asked, choice);
    answer.new_content = match members.get("newContent") {
        None | Some(Value::Null) => None,
        Some(Value::String(content)) => Some(content.clone()),
        Some(_) => return Err(Fault::invalid("newContent", "must be text: what the file should hold")),
    };
    answer.answers = members.get("answers").cloned();
    Ok((asked.id.clone(), answer))
}

/// The offered choice that `word` means.
fn meant<'a>(word: &str, asked: &'a CallProgress) -> Option<&'a str> {
    let word = normal(word);
    let meanings =
        WORDS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, choices)| *choices);
    offered(&word, asked).or_else(|| meanings?.iter().find_map(|choice| offered(choice, asked)))
}

/// The offered choice that comes nearest to one that is not offered.
fn nearest<'a>(choice: &str, asked: &'a CallProgress) -> Option<&'a str> {
    let (_, nearest) = NEAREST.iter().find(|(known, _)| *known == choice)?;
    nearest.iter().find_map(|choice| offered(choice, asked))
}

fn offered<'a>(choice: &str, asked: &'a CallProgress) -> Option<&'a str> {
    asked.choices.iter().find(|offered| *offered == choice).map(String::as_str)
}

fn answer(asked: &CallProgress, choice: &str) -> CallAnswer {
    let verdict = match choice {
        CANCEL => Verdict::Refuse,
        SKIP => Verdict::Skip,
        MODIFYING => Verdict::Modify,
        _ => Verdict::Proceed,
    };
    CallAnswer {
        choice: choice.to_owned(),
        question: asked.question.clone(),
        verdict,
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
