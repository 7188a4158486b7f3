//! The layers of settings.

/// Of two layers that set the same key, the later one here wins.
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
    /// Whether the layer is part of the project, so that other people than the user may have written it.
    pub(crate) fn is_project(self) -> bool {
        matches!(self, Self::ProjectYaml | Self::ProjectJson)
    }
}
