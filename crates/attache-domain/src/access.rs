//! What a command may reach. The ruling decides it, people see and approve it, and the sandbox enforces it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The levels of confinement, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessLevel {
    /// Reads the workspace, toolchains and system files; writes a private temporary folder; no network.
    Look,
    /// Also writes the workspace, except its protected paths, and reaches the hosts that are named.
    Work,
    /// No confinement: everything that the user of the server may do.
    Open,
}

impl AccessLevel {
    pub const ALL: [Self; 3] = [Self::Look, Self::Work, Self::Open];

    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Work => "work",
            Self::Open => "open",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What a command may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub level: AccessLevel,
    /// Hosts that may be reached, through a proxy; `*.example.com` means every host below, `*` any host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Protected paths that may be written all the same; absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
    /// What the system cannot enforce of this, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

impl Access {
    pub fn new(level: AccessLevel) -> Self {
        Self { level, network: Vec::new(), writes: Vec::new(), gap: None }
    }

    /// No confinement. Logs from before confinement existed name no access and mean this.
    pub fn open() -> Self {
        Self::new(AccessLevel::Open)
    }

    pub(crate) fn is_plainly_open(&self) -> bool {
        *self == Self::open()
    }

    /// Whether everything that `other` may reach is within this.
    pub fn covers(&self, other: &Self) -> bool {
        let hosts = || other.network.iter().all(|host| self.network.iter().any(|own| host_covers(own, host)));
        let paths = || other.writes.iter().all(|path| self.writes.iter().any(|own| path.starts_with(own)));
        self.level == AccessLevel::Open || (self.level >= other.level && hosts() && paths())
    }

    /// What either of the two may reach.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.level = self.level.max(other.level);
        self.network.extend(
            other.network.iter().filter(|host| !self.network.contains(host)).cloned().collect::<Vec<_>>(),
        );
        self.writes.extend(
            other.writes.iter().filter(|path| !self.writes.contains(path)).cloned().collect::<Vec<_>>(),
        );
        self.gap = self.gap.or_else(|| other.gap.clone());
        self
    }

    /// For people, in a sentence.
    pub fn describe(&self) -> String {
        let mut text = String::from(match self.level {
            AccessLevel::Look => {
                "Confined (look): it can read the workspace and write only a temporary folder"
            }
            AccessLevel::Work => {
                "Confined (work): it can read and write the workspace, except protected files"
            }
            AccessLevel::Open => "NOT confined: it can do everything that the user who runs attache can do",
        });
        if !self.writes.is_empty() {
            let paths: Vec<String> = self.writes.iter().map(|path| path.display().to_string()).collect();
            text.push_str(&format!("; it can also write the protected {}", paths.join(", ")));
        }
        if self.level != AccessLevel::Open {
            match self.network.as_slice() {
                [] => text.push_str("; no network"),
                hosts => text.push_str(&format!("; network: {}", hosts.join(", "))),
            }
        }
        text.push('.');
        if let Some(gap) = &self.gap {
            text.push_str(&format!(" Not enforced here: {gap}."));
        }
        text
    }
}

/// Whether the pattern `own` allows everything that the pattern or host `wanted` means.
fn host_covers(own: &str, wanted: &str) -> bool {
    let (own, wanted) = (own.to_ascii_lowercase(), wanted.to_ascii_lowercase());
    own == "*"
        || own == wanted
        || own.strip_prefix('*').is_some_and(|end| end.starts_with('.') && wanted.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaching(hosts: &[&str]) -> Access {
        Access {
            network: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..Access::new(AccessLevel::Work)
        }
    }

    #[test]
    fn a_grant_covers_what_is_within_it() {
        for (own, wanted, expected) in [
            (Access::open(), reaching(&["a.example"]), true),
            (reaching(&[]), reaching(&["a.example"]), false),
            (reaching(&["a.example"]), reaching(&["A.example"]), true),
            (reaching(&["*.example"]), reaching(&["a.example"]), true),
            (reaching(&["*.example"]), reaching(&["*.a.example"]), true),
            (reaching(&["*.a.example"]), reaching(&["*.example"]), false),
            (reaching(&["*.example"]), reaching(&["example"]), false),
            (reaching(&["*ample"]), reaching(&["example"]), false),
            (reaching(&["*"]), reaching(&["*.x"]), true),
            (Access::new(AccessLevel::Look), Access::new(AccessLevel::Work), false),
            (Access::new(AccessLevel::Work), Access::new(AccessLevel::Look), true),
            (Access::new(AccessLevel::Work), Access::open(), false),
        ] {
            assert_eq!(own.covers(&wanted), expected, "{own:?} {wanted:?}");
        }
    }

    #[test]
    fn a_path_that_was_named_covers_what_is_below() {
        let named = |path: &str| Access { writes: vec![path.into()], ..Access::new(AccessLevel::Work) };
        assert!(named("/w/.git").covers(&named("/w/.git/config")));
        assert!(!named("/w/.git/config").covers(&named("/w/.git")));
    }

    #[test]
    fn people_read_what_it_may_do() {
        let access = Access { writes: vec!["/w/.env".into()], ..reaching(&["crates.io"]) };
        assert_eq!(
            access.describe(),
            "Confined (work): it can read and write the workspace, except protected files; it can also write the \
             protected /w/.env; network: crates.io."
        );
        assert!(Access::open().describe().starts_with("NOT confined"));
    }
}
