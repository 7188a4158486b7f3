//! Walks through the tree of one file and takes out what is known.

use std::path::Path;
use std::sync::Arc;

use super::check::check;
use super::keys::{FLAT, Key, Takes, Whose, find, is_section, is_unused, names};
use super::mcp::{self, McpServerSettings};
use super::nearest::{nearest, shown};
use crate::ConfigError;
use crate::origin::{Layer, Origin};
use crate::tree::{Kind, Node};

/// All that was said, by all layers.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) said: Vec<Said>,
    pub(crate) servers: Vec<(Layer, String, McpServerSettings)>,
    pub(crate) warnings: Vec<String>,
}

/// One value of one layer.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) key: &'static Key,
    pub(crate) node: Node,
    pub(crate) layer: Layer,
    pub(crate) origin: Origin,
}

impl Gathered {
    /// Takes in the tree of a file.
    pub(crate) fn file(&mut self, path: &Path, layer: Layer, tree: &Node) -> Result<(), ConfigError> {
        let file = File { path: path.into(), layer };
        let Kind::Table(entries) = &tree.kind else {
            return Err(file.error(
                tree.line,
                None,
                format!("must hold a table of settings, not {}", tree.describe()),
            ));
        };
        // The old spellings first, so that what is said the new way counts.
        for (name, node) in entries {
            if let Some(renamed) = renamed(name, node) {
                self.entry(&file, renamed, node)?;
            }
        }
        for (name, node) in entries.iter().filter(|(name, node)| renamed(name, node).is_none()) {
            self.entry(&file, name, node)?;
        }
        Ok(())
    }

    /// Takes in one value that was checked where it came from.
    pub(crate) fn value(
        &mut self,
        layer: Layer,
        origin: Origin,
        name: &str,
        kind: Kind,
    ) -> Result<(), ConfigError> {
        let Some(key) = find(name) else { return Ok(()) };
        let node = Node::new(0, kind);
        check(key.takes, &node).map_err(|message| ConfigError::BadSetting {
            place: origin.to_string(),
            key: Some(name.to_owned()),
            message,
        })?;
        self.push(Said { key, node, layer, origin });
        Ok(())
    }

    fn entry(&mut self, file: &File, name: &str, node: &Node) -> Result<(), ConfigError> {
        if let Some(key) = find(name) {
            return self.known(file, key, node);
        }
        if is_unused(name) || (is_section(name) && node.kind == Kind::Null) {
            return Ok(());
        }
        if !is_section(name) {
            let nearest =
                nearest(name, names()).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            self.warnings.push(format!("{}: unknown key {}{nearest}", file.place(node.line), shown(name)));
            return Ok(());
        }
        let Kind::Table(entries) = &node.kind else {
            let message = format!("must be a table, not {}", node.describe());
            return Err(file.error(node.line, Some(name), message));
        };
        for (inner, node) in entries {
            self.entry(file, &format!("{name}.{inner}"), node)?;
        }
        Ok(())
    }

    fn known(&mut self, file: &File, key: &'static Key, node: &Node) -> Result<(), ConfigError> {
        if node.kind == Kind::Null {
            return Ok(());
        }
        check(key.takes, node).map_err(|message| file.error(node.line, Some(key.name), message))?;
        if let (Takes::Servers, Kind::Table(entries)) = (key.takes, &node.kind) {
            for (name, node) in entries {
                let origin = file.origin(node.line);
                let server = mcp::read(name, node, origin, &mut self.warnings)
                    .map_err(|(line, key, message)| file.error(line, Some(&key), message))?;
                self.servers.push((file.layer, name.clone(), server));
            }
            return Ok(());
        }
        self.push(Said { key, node: node.clone(), layer: file.layer, origin: file.origin(node.line) });
        Ok(())
    }

    fn push(&mut self, said: Said) {
        let why = match (said.key.whose, &said.node.kind) {
            _ if !said.layer.is_project() => None,
            (Whose::NotProjects, _) => Some("is not for a project to say"),
            (_, Kind::Text(mode)) if said.key.name == "general.defaultApprovalMode" && mode == "yolo" => {
                Some("cannot be yolo by a project's word")
            }
            _ => None,
        };
        if let Some(why) = why {
            self.warnings.push(format!(
                "{}: {} {why}; put it into your own settings or say it on the command line",
                said.origin, said.key.name
            ));
            return;
        }
        // What the same layer said before about the same is forgotten.
        self.said.retain(|known| !(known.layer == said.layer && known.key == said.key));
        self.said.push(said);
    }
}

struct File {
    path: Arc<Path>,
    layer: Layer,
}

impl File {
    fn origin(&self, line: u32) -> Origin {
        Origin::File { path: self.path.clone(), line }
    }

    fn place(&self, line: u32) -> String {
        self.origin(line).to_string()
    }

    fn error(&self, line: u32, key: Option<&str>, message: String) -> ConfigError {
        ConfigError::BadSetting { place: self.place(line), key: key.map(shown), message }
    }
}

/// The new name of an old spelling. Some old names are sections now: those are old only when they hold no table.
fn renamed(name: &str, node: &Node) -> Option<&'static str> {
    let (_, new) = FLAT.iter().find(|(old, _)| *old == name)?;
    (!(is_section(name) && matches!(node.kind, Kind::Table(_)))).then_some(new)
}
