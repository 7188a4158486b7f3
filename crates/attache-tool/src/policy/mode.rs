//! How much a person wants to be asked.

use serde::{Deserialize, Serialize};

/// From the most careful to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    /// Nothing is changed.
    Plan,
    /// What changes something is asked about.
    #[default]
    Default,
    /// Files of the workspace may be changed.
    AutoEdit,
    /// Files of the workspace may be changed, and commands run confined; what needs more is asked about.
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

    /// Files of rules spell one of them in two ways.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "autoEdit" => Some(Self::AutoEdit),
            _ => Self::ALL.into_iter().find(|mode| mode.name() == name),
        }
    }

    /// This one and all that ask less.
    pub fn and_freer(self) -> Vec<Self> {
        Self::ALL.into_iter().filter(|mode| *mode >= self).collect()
    }
}
