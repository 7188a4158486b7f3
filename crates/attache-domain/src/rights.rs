//! What a client may do with the tasks of its owner.

use std::fmt;

use crate::{Fault, RequestedSettings};

/// One right. Every client that may call has [`Right::View`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Right {
    /// See tasks and everything that happens to them.
    View,
    /// Send prompts and commands, cancel, and configure webhooks.
    Prompt,
    /// Answer the questions about calls.
    Approve,
}

impl Right {
    pub const ALL: [Self; 3] = [Self::View, Self::Prompt, Self::Approve];

    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Prompt => "prompt",
            Self::Approve => "approve",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.name() == name)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The rights of a client. The default is the least: a message that no surface has signed changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rights {
    pub prompt: bool,
    pub approve: bool,
}

impl Rights {
    pub const VIEW: Self = Self { prompt: false, approve: false };
    pub const ALL: Self = Self { prompt: true, approve: true };

    pub fn with(self, right: Right) -> Self {
        match right {
            Right::View => self,
            Right::Prompt => Self { prompt: true, ..self },
            Right::Approve => Self { approve: true, ..self },
        }
    }

    pub fn has(self, right: Right) -> bool {
        match right {
            Right::View => true,
            Right::Prompt => self.prompt,
            Right::Approve => self.approve,
        }
    }

    pub fn require(self, right: Right) -> Result<(), Fault> {
        if self.has(right) { Ok(()) } else { Err(Fault::RightMissing { right }) }
    }

    /// Refuses a client that could neither prompt nor answer, by the right that its message would need.
    pub fn require_to_send(self, is_answer: bool) -> Result<(), Fault> {
        let missing = if is_answer { Right::Approve } else { Right::Prompt };
        if self.approve || self.prompt { Ok(()) } else { self.require(missing) }
    }

    /// Settings by which tools would run unasked are an approval given in advance.
    pub fn check_settings(self, requested: Option<&RequestedSettings>) -> Result<(), Fault> {
        match requested {
            Some(requested) if requested.loosens_approvals() => self.require(Right::Approve),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_is_had_when_it_was_given_and_viewing_always() {
        for right in Right::ALL {
            assert!(Rights::ALL.has(right));
            assert!(Rights::VIEW.with(right).has(right));
            assert_eq!(Rights::default().has(right), right == Right::View);
            assert_eq!(Right::from_name(right.name()), Some(right));
        }
        assert!(!Rights::VIEW.with(Right::Prompt).has(Right::Approve));
        assert!(!Rights::VIEW.with(Right::Approve).has(Right::Prompt));
        assert_eq!(Right::from_name("View"), None);
    }

    #[test]
    fn settings_that_let_tools_run_unasked_need_the_right_to_approve() {
        let prompts = Rights::VIEW.with(Right::Prompt);
        let check = |requested: RequestedSettings, refused: bool| {
            assert_eq!(prompts.check_settings(Some(&requested)).is_err(), refused, "{requested:?}");
            assert_eq!(Rights::ALL.check_settings(Some(&requested)), Ok(()));
        };
        let mode = |mode: &str| RequestedSettings { approval_mode: Some(mode.into()), ..Default::default() };
        check(RequestedSettings { model: Some("flash".into()), ..Default::default() }, false);
        check(RequestedSettings { auto_execute: true, ..Default::default() }, true);
        check(RequestedSettings { allowed_tools: vec!["read_file".into()], ..Default::default() }, true);
        for (name, refused) in [("plan", false), ("default", false), ("auto_edit", true), ("yolo", true)] {
            check(mode(name), refused);
        }
        assert_eq!(prompts.check_settings(None), Ok(()));
    }
}
