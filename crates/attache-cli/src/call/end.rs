//! The exit code of a call.

use std::process::ExitCode;

use attache_client::{RemoteStatus, TaskState};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallEnd {
    /// The task is completed, or the agent answered with a message.
    Completed,
    /// A request other than a task is done.
    Done,
    Failed,
    Rejected,
    Canceled,
    InputRequired,
    AuthRequired,
    /// The state of the task is none that is known here.
    UnknownState,
    TimedOut,
    /// By Ctrl-C.
    Interrupted,
}

impl CallEnd {
    /// The state of a task; one that works was reported already.
    pub(crate) fn of_task(status: &RemoteStatus) -> Self {
        match status.state {
            Some(TaskState::Completed) => Self::Completed,
            Some(TaskState::Failed) => Self::Failed,
            Some(TaskState::Rejected) => Self::Rejected,
            Some(TaskState::Canceled) => Self::Canceled,
            Some(TaskState::InputRequired) => Self::InputRequired,
            Some(TaskState::AuthRequired) => Self::AuthRequired,
            Some(TaskState::Submitted | TaskState::Working) => Self::Done,
            None => Self::UnknownState,
        }
    }

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    /// 1 is a call that failed, and 2 a command line that cannot be used.
    fn number(self) -> u8 {
        match self {
            Self::Completed | Self::Done => 0,
            Self::Failed => 3,
            Self::Rejected => 4,
            Self::Canceled => 5,
            Self::InputRequired => 6,
            Self::AuthRequired => 7,
            Self::UnknownState => 8,
            Self::TimedOut => 124,
            Self::Interrupted => 130,
        }
    }
}
