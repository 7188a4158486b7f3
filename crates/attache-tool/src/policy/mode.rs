//! The approval modes.

use serde::{Deserialize, Serialize};

/// From the most careful to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    /// Nothing is changed.
    Plan,
    /// Changes need approval.
    #[default]
    Default,
    /// Files of the workspace may be changed.
    AutoEdit,
    /// Files of the workspace may be changed, and commands run confined; more needs approval.
    Confined,
    /// Nothing is asked.
    Yolo,
}

impl PolicyMode {
    pub const ALL: [Self; 5] = [Self::Plan, Self::Default, Self::AutoEdit, Self::Confined, Self::Yolo];

    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AutoEdit => "auto_edit",
            Self::Confined => "confined",
            Self::Yolo => "yolo",
        }
    }

    /// Rule files have two names for one of them.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "autoEdit" => Some(Self::AutoEdit),
            _ => Self::ALL.into_iter().find(|mode| mode.name() == name),
        }
    }

    /// This mode and all that ask less.
    pub(crate) fn and_freer(self) -> Vec<Self> {
        Self::ALL.into_iter().filter(|mode| *mode >= self).collect()
    }
}
