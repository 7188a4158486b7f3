//! The layers that a setting can come from.

/// Of two layers that set the same key, the later one here counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Layer {
    BuiltIn,
    OperatorDefaults,
    UserYaml,
    UserJson,
    ProjectYaml,
    ProjectJson,
    HomeEnvFile,
    OperatorEnforced,
    Environment,
    Flags,
}

impl Layer {
    /// Whether it came with the files that are worked on, so that others than the user may have written it.
    pub(crate) fn is_project(self) -> bool {
        matches!(self, Self::ProjectYaml | Self::ProjectJson)
    }
}
