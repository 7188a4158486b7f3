//! What a message answers about calls: the one typed form of every dialect's answers.
//!
//! `attache-wire` reads it from words and data when a request comes in. Nothing here depends on which questions are open:
//! [`TaskView::match_answers`](crate::TaskView::match_answers) finds the question of each answer.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::{CallId, Message};

/// The answers in a message, part by part. Empty for messages that were not read for answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MessageAnswers {
    /// One for each part of the message, in the same order.
    pub parts: Vec<PartAnswers>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub enum PartAnswers {
    /// A file, which answers nothing.
    #[default]
    None,
    Text(TextAnswers),
    Data(Vec<DataAnswer>),
}

/// A text, read in every way in which it may be an answer. The ranges are bytes of the text, because a prompt may be long.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextAnswers {
    /// The text without the white space around it.
    pub words: Range<usize>,
    /// The text as `NAME: WORDS`.
    pub named: Option<NamedWords>,
    /// The lines that may be answers. After a line that is none, only lines that are answers follow.
    pub lines: Vec<AnswerLine>,
}

/// Words for a question that takes any text.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedWords {
    /// The id of a question, perhaps.
    pub name: String,
    pub words: Range<usize>,
}

/// A line of text, read in both ways in which it may be an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerLine {
    /// The whole line as the answer.
    pub whole: GivenChoice,
    /// The line as `NAME: ANSWER`.
    pub named: Option<NamedAnswer>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NamedAnswer {
    /// The id of a question, perhaps.
    pub name: String,
    /// The name stands for every open question.
    pub is_all: bool,
    pub choice: GivenChoice,
}

/// An answer given as data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataAnswer {
    /// The id of the question. May be left out when only one is open.
    pub call: Option<CallId>,
    pub choice: Option<GivenChoice>,
    pub new_content: NewContent,
    /// Answers to a tool's own questions; given to the tool unread.
    pub answers: Option<Value>,
}

/// A choice as a client gave it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenChoice {
    /// As it was written; the beginning of a long text.
    pub given: String,
    /// The ids of the choices that may be meant. The first that the question offers counts.
    pub choices: Vec<Cow<'static, str>>,
    /// It is the id of a choice, or a word that means one. Anything else may just as well be a prompt.
    pub is_answer: bool,
}

/// What an edit should write instead.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NewContent {
    #[default]
    Unchanged,
    Text(String),
    /// The client gave something that is no text.
    NotText,
}

impl MessageAnswers {
    /// Some part holds nothing but data that names calls and what to do with them. Such a part is never a prompt.
    pub fn has_data(&self) -> bool {
        self.parts.iter().any(PartAnswers::is_answer_data)
    }

    /// The parts of `message` that are answers as data, and a message of the other parts if there are any. `None` when
    /// there are no such parts.
    pub fn data_apart(&self, message: &Message) -> Option<(Self, Option<Message>)> {
        if !self.has_data() {
            return None;
        }
        let answers = self.parts.iter().map(|part| match part.is_answer_data() {
            true => part.clone(),
            false => PartAnswers::None,
        });
        let others = message.parts.iter().zip(&self.parts).filter(|(_, answers)| !answers.is_answer_data());
        let others: Vec<_> = others.map(|(part, _)| part.clone()).collect();
        let rest = (!others.is_empty()).then(|| Message { parts: others, ..message.clone() });
        Some((Self { parts: answers.collect() }, rest))
    }

    /// The lines of a message that consists of answers in words and nothing else.
    pub(crate) fn only_lines(&self) -> Option<Vec<&AnswerLine>> {
        let mut all = Vec::new();
        for part in &self.parts {
            let PartAnswers::Text(text) = part else { return None };
            all.extend(&text.lines);
        }
        (!all.is_empty() && all.iter().all(|line| line.is_answer())).then_some(all)
    }
}

impl PartAnswers {
    fn is_answer_data(&self) -> bool {
        matches!(self, Self::Data(items) if !items.is_empty() && items.iter().all(DataAnswer::is_complete))
    }
}

impl AnswerLine {
    /// It is an answer, for whichever question.
    pub fn is_answer(&self) -> bool {
        self.whole.is_answer || self.named.as_ref().is_some_and(|named| named.choice.is_answer)
    }

    pub(crate) fn names_all(&self) -> bool {
        self.named.as_ref().is_some_and(|named| named.is_all)
    }
}

impl DataAnswer {
    /// It names a call and says what to do with it.
    fn is_complete(&self) -> bool {
        let answers = self.answers.as_ref().is_some_and(|answers| !answers.is_null());
        self.call.is_some() && (self.choice.is_some() || answers)
    }
}
