//! All tools of a task, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{ErrorKind, Tool, ToolError};

/// Names that models learnt and that are spelled otherwise today.
const ALIASES: &[(&str, &str)] = &[("search_file_content", "grep_search")];

#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// Adds a tool, or replaces the one of its name.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        self.tools.insert(tool.spec().name.clone(), tool);
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// The tool of this name; an error names the nearest ones.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let today = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, today)| today);
        self.tools.get(today).ok_or_else(|| {
            let near = self.nearest(name);
            let hint =
                if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            ToolError::new(ErrorKind::ToolNotRegistered, format!("there is no tool {name:?}{hint}"))
        })
    }

    fn nearest(&self, name: &str) -> Vec<&str> {
        const MOST: usize = 3;
        let mut names: Vec<_> =
            self.tools.keys().map(|known| (distance(known, name), known.as_str())).collect();
        names.sort_unstable();
        let close = |(distance, known): &(usize, &str)| *distance <= known.len().max(name.len()) / 2;
        names.into_iter().filter(close).take(MOST).map(|(_, known)| known).collect()
    }
}

/// How many characters have to be put in, taken out or exchanged.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, character) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, known) in other.iter().enumerate() {
            let exchanged = diagonal + usize::from(character != *known);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("read_file", "readfile", 1),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}
