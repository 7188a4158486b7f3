//! Artifacts and parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::error::Problem;
use super::super::keys::{ARTIFACT, Fields, PART, listed};
use super::super::rule::{ArtifactStep, ContentTemplate, PartTemplate, Split};
use super::super::template::{DataTemplate, Template};
use super::super::yaml::{Kind, Node};
use super::step::StepParser;

/// A part has exactly one of these keys.
const CONTENTS: [&str; 5] = ["text", "bytes", "bytes_text", "url", "data"];

impl StepParser<'_> {
    pub(super) fn artifact(&mut self, node: Node) -> Result<ArtifactStep, Problem> {
        let mut fields = Fields::of(node, &ARTIFACT)?;
        let line = fields.line;
        let (split, pace) = (self.split(&mut fields)?, self.pace(&mut fields)?);
        let parts = match fields.take("parts") {
            Some(parts) => {
                let beside: Vec<&str> = CONTENTS.into_iter().filter(|key| fields.has(key)).collect();
                if !beside.is_empty() {
                    let what =
                        format!("`parts` and {} are two ways to say one thing: drop one", listed(&beside));
                    return Err(Problem::new(parts.line, what));
                }
                self.parts(parts)?
            }
            None => {
                let content = self.content(&mut fields)?;
                vec![self.part_with(content, &mut fields)?]
            }
        };
        let cuttable = match parts.as_slice() {
            [part] => !matches!(part.content, ContentTemplate::Url(_) | ContentTemplate::Data(_)),
            _ => false,
        };
        if !matches!(split, Split::Whole) && !cuttable {
            let what = "only one `text`, `bytes` or `bytes_text` can be cut into chunks";
            return Err(Problem::new(line, what));
        }
        let id = fields.take("id").map(|node| self.artifact_id(node)).transpose()?;
        Ok(ArtifactStep {
            id,
            name: self.optional_text(&mut fields, "name")?,
            description: self.optional_text(&mut fields, "description")?,
            metadata: self.metadata(&mut fields)?,
            extensions: extensions(&mut fields)?,
            parts,
            split,
            pace,
            append: fields.take("append").map(Node::into_bool).transpose()?.unwrap_or(false),
            last: fields.take("last").map(Node::into_bool).transpose()?.unwrap_or(true),
        })
    }

    /// A text, or a list of parts.
    pub(super) fn answer(&mut self, node: Node) -> Result<Vec<PartTemplate>, Problem> {
        if matches!(node.kind, Kind::List(_)) {
            return self.parts(node);
        }
        if matches!(node.kind, Kind::Map(_) | Kind::Null) {
            return Err(node.unexpected("a text, or a list of parts"));
        }
        let content = ContentTemplate::Text(self.text(node)?);
        Ok(vec![PartTemplate { content, media_type: None, filename: None, metadata: None }])
    }

    fn parts(&mut self, node: Node) -> Result<Vec<PartTemplate>, Problem> {
        let line = node.line;
        let nodes = node.into_list("a list of parts")?;
        if nodes.is_empty() {
            return Err(Problem::new(line, "the list of parts is empty: give it at least one"));
        }
        nodes.into_iter().map(|node| self.part(node)).collect()
    }

    fn part(&mut self, node: Node) -> Result<PartTemplate, Problem> {
        let mut fields = Fields::of(node, &PART)?;
        let content = self.content(&mut fields)?;
        let metadata = self.metadata(&mut fields)?;
        Ok(PartTemplate { metadata, ..self.part_with(content, &mut fields)? })
    }

    fn part_with(&mut self, content: ContentTemplate, fields: &mut Fields) -> Result<PartTemplate, Problem> {
        Ok(PartTemplate {
            content,
            media_type: self.optional_text(fields, "media_type")?,
            filename: self.optional_text(fields, "filename")?,
            metadata: None,
        })
    }

    fn content(&mut self, fields: &mut Fields) -> Result<ContentTemplate, Problem> {
        let present: Vec<&'static str> = CONTENTS.into_iter().filter(|key| fields.has(key)).collect();
        let [key] = present[..] else {
            let found = if present.is_empty() { "none".into() } else { listed(&present) };
            let what = format!("exactly one of {} is needed, found {found}", listed(&CONTENTS));
            return Err(Problem::new(fields.line, what));
        };
        let node = fields.require(key)?;
        Ok(match key {
            "text" => ContentTemplate::Text(self.text(node)?),
            "bytes_text" => ContentTemplate::BytesText(self.text(node)?),
            "url" => ContentTemplate::Url(self.text(node)?),
            "data" => ContentTemplate::Data(self.data(node)?),
            _ => ContentTemplate::Bytes(bytes(node)?),
        })
    }

    fn artifact_id(&mut self, node: Node) -> Result<Template, Problem> {
        let line = node.line;
        match self.text(node)? {
            Template::Literal(id) if id.is_empty() => Err(Problem::new(line, "`id` must not be empty")),
            Template::Literal(id) if id.starts_with("answer-") => Err(Problem::new(
                line,
                "ids that begin with `answer-` belong to what is said: choose another",
            )),
            id => Ok(id),
        }
    }

    fn optional_text(&mut self, fields: &mut Fields, key: &'static str) -> Result<Option<Template>, Problem> {
        fields.take(key).map(|node| self.text(node)).transpose()
    }

    fn metadata(&mut self, fields: &mut Fields) -> Result<Option<Vec<(String, DataTemplate)>>, Problem> {
        let Some(node) = fields.take("metadata") else { return Ok(None) };
        let Kind::Map(entries) = node.kind else { return Err(node.unexpected("a map")) };
        let entries = entries.into_iter().map(|(key, node)| Ok((key, self.data(node)?)));
        entries.collect::<Result<_, Problem>>().map(Some)
    }
}

fn extensions(fields: &mut Fields) -> Result<Vec<String>, Problem> {
    match fields.take("extensions") {
        Some(node) => node.into_list("a list of URIs")?.into_iter().map(Node::into_text).collect(),
        None => Ok(Vec::new()),
    }
}

fn bytes(node: Node) -> Result<Vec<u8>, Problem> {
    let line = node.line;
    // Base64 in a YAML block has line breaks.
    let encoded: String = node.into_text()?.split_whitespace().collect();
    STANDARD.decode(encoded).map_err(|error| {
        let what = format!("`bytes` is not base64: {error}. Use `bytes_text` for bytes that are plain text");
        Problem::new(line, what)
    })
}
