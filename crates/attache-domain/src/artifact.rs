//! What a task produces.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{ArtifactId, Metadata, Part, PartContent};

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

const ANSWER: &str = "answer-";
const CHANGES: &str = "changes-";
const RESULT: &str = "result-";

/// The ids of the artifacts that the agent makes in every turn.
impl Artifact {
    /// The id of the artifact with the answer of a turn.
    pub fn answer_id(turn: u32) -> ArtifactId {
        ArtifactId::from(format!("{ANSWER}{turn}"))
    }

    pub fn is_answer(&self) -> bool {
        self.id.as_str().starts_with(ANSWER)
    }

    /// The id of the artifact with the diff of a turn.
    pub fn changes_id(turn: u32) -> ArtifactId {
        ArtifactId::from(format!("{CHANGES}{turn}"))
    }

    pub fn is_changes(&self) -> bool {
        self.id.as_str().starts_with(CHANGES)
    }

    /// The id of the artifact with the result of a turn's command, for programs.
    pub fn result_id(turn: u32) -> ArtifactId {
        ArtifactId::from(format!("{RESULT}{turn}"))
    }

    /// The same artifact with adjacent plain texts joined into one part, as tasks are shown.
    pub fn joined(self) -> Self {
        let mut joined = Self { parts: Vec::with_capacity(self.parts.len()), ..self };
        joined.append(self.parts);
        joined
    }

    /// Adds parts at the end. A plain text that follows a plain text continues that part.
    pub fn append(&mut self, parts: impl IntoIterator<Item = Part>) {
        for part in parts {
            match (self.parts.last_mut(), &part.content) {
                (Some(last), PartContent::Text(text)) if last.continues_with(&part) => last.push_text(text),
                _ => self.parts.push(part),
            }
        }
    }
}

impl Part {
    /// Both are texts of the same media type, and neither has a name or metadata of its own.
    fn continues_with(&self, next: &Self) -> bool {
        let is_plain =
            |part: &Self| part.as_text().is_some() && part.filename.is_none() && part.metadata.is_none();
        is_plain(self) && is_plain(next) && self.media_type == next.media_type
    }

    fn push_text(&mut self, more: &str) {
        if let PartContent::Text(text) = &mut self.content {
            text.push_str(more);
        }
    }
}

/// Reads the artifacts of a snapshot. Older snapshots have a part for each piece of an answer.
pub(crate) fn read_joined<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Artifact>, D::Error> {
    let artifacts = Vec::<Artifact>::deserialize(deserializer)?;
    Ok(artifacts.into_iter().map(Artifact::joined).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(parts: serde_json::Value, expected: serde_json::Value) {
        let stored = json!([{"id": "answer-1", "parts": parts}]);
        let read = read_joined(stored).unwrap();
        assert_eq!(serde_json::to_value(&read[0].parts).unwrap(), expected);
    }

    #[test]
    fn adjacent_texts_of_an_older_snapshot_are_one_part() {
        let text = |text: &str| json!({"content": {"text": text}});
        check(json!([text("a"), text(""), text("b")]), json!([text("ab")]));
        check(json!([text("")]), json!([text("")]));
        check(json!([]), json!([]));
    }

    #[test]
    fn parts_that_say_more_about_themselves_stay_apart() {
        let text = json!({"content": {"text": "a"}});
        for other in [
            json!({"content": {"text": "b"}, "metadata": {"k": 1}}),
            json!({"content": {"text": "b"}, "filename": "b.txt"}),
            json!({"content": {"text": "b"}, "media_type": "text/x-diff"}),
            json!({"content": {"data": "b"}}),
        ] {
            check(json!([text, other]), json!([text, other]));
            check(json!([other, text]), json!([other, text]));
        }
    }
}
