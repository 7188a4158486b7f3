//! What a project's own files may do in one folder.

use std::collections::BTreeSet;
use std::path::Path;

use attache_config::{ConfigError, Environment, Settings};

use crate::trust::{ChosenBy, FolderTrust, look_up_trust};
use crate::{AgentFlags, Allowance, HomeFolders, accepted_allowances};

/// In a folder that is not trusted, a project can only restrict. In a trusted one it can also configure; its
/// permissions apply only if a person has accepted them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTrust {
    pub trust: FolderTrust,
    accepted: AcceptedAllowances,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AcceptedAllowances {
    These(BTreeSet<String>),
    #[cfg(test)]
    All,
}

impl ProjectTrust {
    /// Looks up whether the folder is trusted and which permissions were accepted.
    pub fn look_up(
        folder: &Path,
        chosen_by: ChosenBy,
        flags: &AgentFlags,
        environment: Environment<'_>,
        operator: &Settings,
    ) -> Result<Self, ConfigError> {
        let trust = look_up_trust(folder, chosen_by, flags, environment, operator)?;
        let mut accepted = accepted_allowances::load(&HomeFolders::of(environment), folder)?;
        // Permissions accepted for this run apply only to the operator's folder.
        if chosen_by == ChosenBy::Operator {
            accepted.extend(flags.accepted.iter().cloned());
        }
        Ok(Self { trust, accepted: AcceptedAllowances::These(accepted) })
    }

    /// A folder that is not trusted, with the reason.
    pub fn distrusted(why: impl Into<String>) -> Self {
        let trust = FolderTrust::Untrusted { why: why.into(), decided: false };
        Self { trust, accepted: AcceptedAllowances::These(BTreeSet::new()) }
    }

    pub fn is_trusted(&self) -> bool {
        self.trust.is_trusted()
    }

    /// Whether the permission was accepted.
    pub fn admits(&self, allowance: &Allowance) -> bool {
        let accepted = match &self.accepted {
            AcceptedAllowances::These(digests) => digests.contains(&allowance.digest),
            #[cfg(test)]
            AcceptedAllowances::All => true,
        };
        self.is_trusted() && accepted
    }

    #[cfg(test)]
    pub(crate) fn for_tests(trusted: bool, all: bool) -> Self {
        let why = "a test says so".to_owned();
        let trust = if trusted {
            FolderTrust::Trusted { why }
        } else {
            FolderTrust::Untrusted { why, decided: false }
        };
        Self {
            trust,
            accepted: if all { AcceptedAllowances::All } else { AcceptedAllowances::These(BTreeSet::new()) },
        }
    }
}
