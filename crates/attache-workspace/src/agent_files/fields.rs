//! Reads the fields of a table one by one, and collects what is wrong with them.

use attache_document::{Node, NodeKind};

/// What is wrong, and in which line of the front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: u32,
    pub(super) text: String,
}

/// The fields of one table. What is taken is known; [`Fields::finish`] reports the others.
pub(super) struct Fields<'a> {
    /// What the table is, for example `Remote Agent`.
    label: &'static str,
    /// Where the table is, with a dot at the end unless it is empty.
    path: String,
    line: u32,
    entries: &'a [(String, Node)],
    known: Vec<&'static str>,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        label: &'static str,
        path: String,
        line: u32,
        entries: &'a [(String, Node)],
        problems: &'a mut Vec<Problem>,
    ) -> Self {
        Self { label, path, line, entries, known: Vec::new(), problems }
    }

    pub(super) fn refuse(&mut self, line: u32, name: &str, what: impl AsRef<str>) {
        let text = format!("({}) {}{name}: {}", self.label, self.path, what.as_ref());
        self.problems.push(Problem { line, text });
    }

    pub(super) fn require(&mut self, name: &str, what: &str) {
        self.refuse(self.line, name, what);
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(known, _)| known == name)
    }

    pub(super) fn node(&mut self, name: &'static str) -> Option<&'a Node> {
        self.known.push(name);
        self.entries.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    pub(super) fn text(&mut self, name: &'static str) -> Option<(&'a str, u32)> {
        let node = self.node(name)?;
        match &node.kind {
            NodeKind::Text(text) if !text.trim().is_empty() => Some((text, node.line)),
            NodeKind::Text(_) => {
                self.refuse(node.line, name, "must not be empty");
                None
            }
            _ => {
                let hint = match &node.kind {
                    NodeKind::Number(_) | NodeKind::Bool(_) => "; put it in quotes",
                    _ => "",
                };
                self.refuse(node.line, name, format!("must be a text, not {}{hint}", node.describe()));
                None
            }
        }
    }

    /// None after a complaint, too.
    pub(super) fn required_text(&mut self, name: &'static str) -> Option<(&'a str, u32)> {
        if !self.has(name) {
            self.known.push(name);
            self.require(name, "is required");
            return None;
        }
        self.text(name)
    }

    pub(super) fn owned_text(&mut self, name: &'static str) -> Option<String> {
        self.text(name).map(|(text, _)| text.to_owned())
    }

    pub(super) fn texts(&mut self, name: &'static str) -> Option<(Vec<String>, u32)> {
        let node = self.node(name)?;
        let texts = match &node.kind {
            NodeKind::List(nodes) => nodes.iter().map(|node| match &node.kind {
                NodeKind::Text(text) if !text.trim().is_empty() => Some(text.clone()),
                _ => None,
            }),
            _ => {
                self.refuse(node.line, name, format!("must be a list of texts, not {}", node.describe()));
                return None;
            }
        };
        let texts: Option<Vec<String>> = texts.collect();
        if texts.is_none() {
            self.refuse(node.line, name, "must be a list of texts, and something else is in it");
        }
        Some((texts?, node.line))
    }

    /// A whole number above zero.
    pub(super) fn check_count(&mut self, name: &'static str) {
        let Some(node) = self.node(name) else { return };
        if !matches!(&node.kind, NodeKind::Number(number) if number.as_u64().is_some_and(|count| count > 0)) {
            self.refuse(node.line, name, "must be a whole number above zero");
        }
    }

    pub(super) fn check_number(&mut self, name: &'static str) {
        let Some(node) = self.node(name) else { return };
        if !matches!(node.kind, NodeKind::Number(_)) {
            self.refuse(node.line, name, format!("must be a number, not {}", node.describe()));
        }
    }

    /// The fields of a table within.
    pub(super) fn table<'b>(&'b mut self, name: &'static str) -> Option<Fields<'b>>
    where
        'a: 'b,
    {
        let node = self.node(name)?;
        let NodeKind::Table(entries) = &node.kind else {
            self.refuse(node.line, name, format!("must be a table, not {}", node.describe()));
            return None;
        };
        let path = format!("{}{name}.", self.path);
        Some(Fields::new(self.label, path, node.line, entries, self.problems))
    }

    /// Each field must be a table with some of the `known` fields.
    pub(super) fn check_tables(mut self, known: &[&str]) {
        for (name, node) in self.entries {
            let name = crate::visible(name);
            let NodeKind::Table(entries) = &node.kind else {
                self.refuse(node.line, &name, format!("must be a table, not {}", node.describe()));
                continue;
            };
            for (field, node) in entries.iter().filter(|(field, _)| !known.contains(&field.as_str())) {
                let field = format!("{name}.{}", crate::visible(field));
                self.refuse(node.line, &field, format!("is not known here; known are {}", known.join(", ")));
            }
        }
    }

    /// Refuses the fields that were not read.
    pub(super) fn finish(mut self) {
        for (name, node) in self.entries {
            if !self.known.contains(&name.as_str()) {
                let known = self.known.join(", ");
                let shown = crate::visible(name);
                self.refuse(node.line, &shown, format!("is not known here; known are {known}"));
            }
        }
    }
}
