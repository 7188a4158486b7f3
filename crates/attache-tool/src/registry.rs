//! All tools of a task, by name.

#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;

use std::sync::Arc;

use crate::{Tool, ToolError, ToolErrorKind};

/// Older tool names that models still use.
const ALIASES: &[(&str, &str)] = &[("search_file_content", "grep_search")];

/// Copies are cheap: conversations hand one out for every turn.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    /// Sorted by name.
    tools: Arc<Vec<Arc<dyn Tool>>>,
}

impl ToolRegistry {
    /// Adds a tool, or replaces the one of its name.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let place = self.place(&tool.spec().name);
        let tools = Arc::make_mut(&mut self.tools);
        match place {
            Ok(known) => tools[known] = tool,
            Err(new) => tools.insert(new, tool),
        }
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// The tool of this name; an error names the nearest ones.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let today = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, today)| today);
        self.place(today).map(|place| &self.tools[place]).map_err(|_| {
            let near = self.nearest(name);
            let hint =
                if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            ToolError::new(ToolErrorKind::ToolNotRegistered, format!("there is no tool {name:?}{hint}"))
        })
    }

    /// Where the tool of this name is, or would be.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.tools.binary_search_by(|tool| tool.spec().name.as_str().cmp(name))
    }

    fn nearest(&self, name: &str) -> Vec<&str> {
        const MAX_SUGGESTIONS: usize = 3;
        let known = self.tools.iter().map(|tool| tool.spec().name.as_str());
        let mut names: Vec<_> = known.map(|known| (strsim::levenshtein(known, name), known)).collect();
        names.sort_unstable();
        let close = |(distance, known): &(usize, &str)| *distance <= known.len().max(name.len()) / 2;
        names.into_iter().filter(close).take(MAX_SUGGESTIONS).map(|(_, known)| known).collect()
    }
}
