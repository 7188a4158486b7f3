//! A check: a rule with a name and a strength, and the code that tests it on one pair.

use std::future::Future;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::behaviour::Behaviour;
use crate::pair::Pair;
use crate::protocol::{Binding, Version};

/// The strength of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The text says MUST, or the data model allows nothing else.
    Must,
    /// The text says SHOULD.
    Should,
    /// The texts are silent or contradict each other; the suite chooses one interpretation.
    Choice,
    /// Not in the texts: good practice.
    Quality,
}

impl Strength {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Choice => "choice",
            Self::Quality => "quality",
        }
    }
}

/// Why a check did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The rule is broken, with a description of the response.
    Fail(String),
    /// The rule cannot be tested here, with the reason.
    NotApplicable(String),
}

pub type CheckResult<T = ()> = Result<T, Stop>;

pub(crate) fn fail<T>(why: impl Into<String>) -> CheckResult<T> {
    Err(Stop::Fail(why.into()))
}

pub(crate) fn not_applicable<T>(why: impl Into<String>) -> CheckResult<T> {
    Err(Stop::NotApplicable(why.into()))
}

/// Ends the check as failed, with the message, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::check::Stop::Fail(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

/// What the card must declare for a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    Streaming,
    Push,
    /// The server can reach a receiver on this machine.
    Receiver,
    ExtendedCard,
    /// The server requires credentials, and we have some.
    Credentials,
    /// We also have credentials of a second caller.
    OtherCaller,
}

pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) sentence: &'static str,
    strength_0_3: Option<Strength>,
    strength_1_0: Option<Strength>,
    pub(crate) bindings: &'static [Binding],
    pub(crate) needs: Vec<Requirement>,
    pub(crate) words: Vec<Behaviour>,
    /// Runs once for the whole server.
    pub(crate) once: bool,
    /// Runs after all others and judges their responses.
    pub(crate) last: bool,
    run: Box<dyn Fn(Pair) -> BoxFuture<'static, CheckResult> + Send + Sync>,
}

impl Check {
    pub(crate) fn new<F, R>(strength: Strength, id: &'static str, sentence: &'static str, run: F) -> Self
    where
        F: Fn(Pair) -> R + Send + Sync + 'static,
        R: Future<Output = CheckResult> + Send + 'static,
    {
        Self {
            id,
            sentence,
            strength_0_3: Some(strength),
            strength_1_0: Some(strength),
            bindings: &Binding::ALL,
            needs: Vec::new(),
            words: Vec::new(),
            once: false,
            last: false,
            run: Box::new(move |pair| run(pair).boxed()),
        }
    }

    /// The same rule with another strength in 0.3, whose text is less explicit.
    pub(crate) fn in_0_3(mut self, strength: Strength) -> Self {
        self.strength_0_3 = Some(strength);
        self
    }

    pub(crate) fn only_0_3(mut self) -> Self {
        self.strength_1_0 = None;
        self
    }

    pub(crate) fn only_1_0(mut self) -> Self {
        self.strength_0_3 = None;
        self
    }

    pub(crate) fn on(mut self, bindings: &'static [Binding]) -> Self {
        self.bindings = bindings;
        self
    }

    pub(crate) fn needs(mut self, need: Requirement) -> Self {
        self.needs.push(need);
        self
    }

    pub(crate) fn needs_behaviour(mut self, word: Behaviour) -> Self {
        self.words.push(word);
        self
    }

    pub(crate) fn once(mut self) -> Self {
        self.once = true;
        self
    }

    pub(crate) fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// `None` when `version` has no such rule.
    pub(crate) fn strength(&self, version: Version) -> Option<Strength> {
        match version {
            Version::V0_3 => self.strength_0_3,
            Version::V1_0 => self.strength_1_0,
        }
    }

    pub(crate) fn run(&self, pair: Pair) -> BoxFuture<'static, CheckResult> {
        (self.run)(pair)
    }
}

pub(crate) fn must<F, R>(id: &'static str, sentence: &'static str, run: F) -> Check
where
    F: Fn(Pair) -> R + Send + Sync + 'static,
    R: Future<Output = CheckResult> + Send + 'static,
{
    Check::new(Strength::Must, id, sentence, run)
}

pub(crate) fn should<F, R>(id: &'static str, sentence: &'static str, run: F) -> Check
where
    F: Fn(Pair) -> R + Send + Sync + 'static,
    R: Future<Output = CheckResult> + Send + 'static,
{
    Check::new(Strength::Should, id, sentence, run)
}

pub(crate) fn choice<F, R>(id: &'static str, sentence: &'static str, run: F) -> Check
where
    F: Fn(Pair) -> R + Send + Sync + 'static,
    R: Future<Output = CheckResult> + Send + 'static,
{
    Check::new(Strength::Choice, id, sentence, run)
}

pub(crate) fn quality<F, R>(id: &'static str, sentence: &'static str, run: F) -> Check
where
    F: Fn(Pair) -> R + Send + Sync + 'static,
    R: Future<Output = CheckResult> + Send + 'static,
{
    Check::new(Strength::Quality, id, sentence, run)
}
