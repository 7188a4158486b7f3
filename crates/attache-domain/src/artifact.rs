//! What a task produces.

use serde::{Deserialize, Serialize};

use crate::{ArtifactId, Metadata, Part};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    pub id: ArtifactId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

const CHANGES: &str = "changes-";
const RESULT: &str = "result-";

/// Artifacts that the agent makes in every turn are known by their ids.
impl Artifact {
    /// The id of what a turn has changed, as one diff.
    pub fn changes_id(turn: u32) -> ArtifactId {
        ArtifactId::from(format!("{CHANGES}{turn}"))
    }

    pub fn is_changes(&self) -> bool {
        self.id.as_str().starts_with(CHANGES)
    }

    /// The id of what a turn's command gives to programs.
    pub fn result_id(turn: u32) -> ArtifactId {
        ArtifactId::from(format!("{RESULT}{turn}"))
    }

    pub fn is_result(&self) -> bool {
        self.id.as_str().starts_with(RESULT)
    }
}
