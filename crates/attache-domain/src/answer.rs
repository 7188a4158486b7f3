//! Reads a person's answer about open calls out of a message.
//!
//! In words, for clients that only know text: `yes`, `no`, `always`, or one of the choices by its id; for one of
//! several calls, a line `CALL: answer` each, or `all: answer`. As data, for clients that know more: an object with `call` (may be
//! left out when only one is open), `choice`, and `newContent` or `answers` where that makes sense; or a list of such.
//! A question that a call puts to the person is answered with any text, or with `answers`.

use serde_json::{Map, Value};

use crate::{
    Answer, CallId, CallPhase, CallProgress, Fault, Message, Part, PartContent, Progress, Verdict,
    visible_line,
};

/// The choice that stops a call.
const REFUSAL: &str = "cancel";

/// The choice that says something instead of agreeing to something.
pub(crate) const ANSWERING: &str = "answer";

/// The choice that puts other content into an edit and has it asked about again.
pub(crate) const MODIFYING: &str = "modify_with_editor";

/// The choice that goes on without a call.
const SKIPPING: &str = "skip";

/// Said in the refusal of bare words that could be about several calls.
pub(crate) const SEVERAL_WAIT: &str = "because several wait";

/// Stands for every call that waits.
const ALL: &str = "all";

/// Words people use, and the choices they mean, the first that is offered.
const WORDS: &[(&[&str], &[&str])] = &[
    (&["yes", "y", "ok", "okay", "proceed", "allow", "go"], &["proceed_once"]),
    (&["always"], &["proceed_always", "proceed_always_tool"]),
    (&["no", "n", "stop", "deny", "refuse"], &[REFUSAL]),
];

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
    pub fn answers_in(&self, message: &Message) -> Result<Vec<(CallId, Answer)>, Fault> {
        if message.context.as_ref().is_some_and(|context| *context != self.context) {
            let (task, context) = (self.task.clone(), self.context.clone());
            return Err(Fault::ContextMismatch { task, context });
        }
        let open: Vec<_> = self.work.calls.iter().filter(|call| call.phase == CallPhase::Asked).collect();
        let mut answers = Vec::new();
        for part in &message.parts {
            match &part.content {
                PartContent::Text(text) => read_text(text, &open, &mut answers)?,
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

fn read_text(text: &str, open: &[&CallProgress], answers: &mut Vec<(CallId, Answer)>) -> Result<(), Fault> {
    // A question may be answered with anything, so only the plain choice itself means no.
    if let [only] = open
        && only.choices.iter().any(|choice| choice == ANSWERING)
        && !text.trim().is_empty()
        && text.trim() != REFUSAL
    {
        let said = Answer { answers: Some(Value::from(text.trim())), ..answer(ANSWERING) };
        answers.push((only.id.clone(), said));
        return Ok(());
    }
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let named = line.rsplit_once(':').map(|(call, word)| (call.trim(), word.trim()));
        let named = named.filter(|(call, _)| open.iter().any(|asked| is_called(asked, call)));
        let everyone = line.rsplit_once(':').filter(|(whom, _)| whom.trim().eq_ignore_ascii_case(ALL));
        let (word, calls): (&str, Vec<_>) = match (named, everyone) {
            (Some((call, word)), _) => (word, open.iter().filter(|asked| is_called(asked, call)).collect()),
            (None, Some((_, word))) => (word.trim(), open.iter().collect()),
            (None, None) => (line, open.iter().collect()),
        };
        // To agree to several things with one word may be more than was meant; to leave them all is not.
        if named.is_none() && everyone.is_none() && open.len() > 1 && !runs_nothing(word, &calls) {
            let calls: Vec<_> = open.iter().map(|asked| visible_line(&asked.id.0)).collect();
            let what = format!(
                "must say which call it is about, {SEVERAL_WAIT} ({}): `CALL: {word}` for one, `{ALL}: {word}` for \
                 all of them",
                calls.join(", ")
            );
            return Err(Fault::invalid("message.parts", what));
        }
        for asked in calls {
            let choice = meant(word, asked).ok_or_else(|| not_a_choice(Some(asked), word))?;
            answers.push((asked.id.clone(), answer(choice)));
        }
    }
    Ok(())
}

/// A person names a call as it was shown.
fn is_called(asked: &CallProgress, name: &str) -> bool {
    asked.id.0 == name || visible_line(&asked.id.0) == name
}

fn runs_nothing(word: &str, calls: &[&&CallProgress]) -> bool {
    calls.iter().all(|asked| matches!(meant(word, asked), Some(REFUSAL | SKIPPING)))
}

fn read_data(progress: &Progress, item: &Value, open: &[&CallProgress]) -> Result<(CallId, Answer), Fault> {
    let empty = Map::new();
    let members = item.as_object().unwrap_or(&empty);
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let asked = match (text("call"), open) {
        (Some(call), _) => open
            .iter()
            .find(|asked| asked.id.0 == call)
            .copied()
            .ok_or_else(|| progress.not_open(&CallId(call.to_owned())))?,
        (None, [only]) => only,
        (None, _) => return Err(Fault::invalid("call", "is needed: more than one call waits for an answer")),
    };
    let answering = members.contains_key("answers").then_some(ANSWERING);
    let word = text("choice").or(answering).unwrap_or_default();
    let choice = meant(word, asked).ok_or_else(|| not_a_choice(Some(asked), word))?;
    let mut answer = answer(choice);
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
    let offered = |choice: &str| asked.choices.iter().find(|offered| *offered == choice).map(String::as_str);
    let word = word.trim_end_matches(['.', '!']).to_lowercase();
    let meanings =
        WORDS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, choices)| *choices);
    offered(&word).or_else(|| meanings?.iter().find_map(|choice| offered(choice)))
}

fn answer(choice: &str) -> Answer {
    let verdict = match choice {
        REFUSAL => Verdict::Refuse,
        SKIPPING => Verdict::Skip,
        MODIFYING => Verdict::Modify,
        _ => Verdict::Proceed,
    };
    Answer { choice: choice.to_owned(), verdict, new_content: None, answers: None, message: None, by: None }
}

fn not_a_choice(asked: Option<&CallProgress>, given: &str) -> Fault {
    let (call, choices) = asked.map(|asked| (asked.id.0.clone(), asked.choices.clone())).unwrap_or_default();
    Fault::NotAChoice { call, given: given.chars().take(80).collect(), choices }
}
