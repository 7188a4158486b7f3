//! The pages that are part of the program.

use std::borrow::Cow;

/// One page of documentation, in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// As people open it, such as `docs/settings.md`.
    pub name: Cow<'static, str>,
    pub text: Cow<'static, str>,
}

/// Name and text of the README and of every page below `docs`; the build script lists them.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Pages that report measurements. They share many words with the others, and are seldom what a question is about.
const REPORTS: &[&str] =
    &["docs/benchmarks.md", "docs/conformance.md", "docs/extension/comparison.md", "docs/interop.md"];

/// Pages for people who write clients: most questions use their words in another meaning.
const SPECIAL: &[&str] = &["docs/script-model.md"];

/// Pages that mention everything; other pages say more about it.
const OVERVIEWS: &[&str] = &["README.md", "docs/security.md"];

impl Page {
    pub(crate) fn embedded() -> impl Iterator<Item = Self> {
        PAGES.iter().map(|(name, text)| Self { name: (*name).into(), text: (*text).into() })
    }

    /// A factor for the score of its sections.
    pub(crate) fn weight(&self) -> f64 {
        match self.name.as_ref() {
            name if REPORTS.contains(&name) => 0.4,
            name if SPECIAL.contains(&name) => 0.9,
            name if OVERVIEWS.contains(&name) => 0.6,
            // The help of a command names its flags; the page about it says what they are for.
            name if name.ends_with(" --help") => 0.7,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_that_have_a_weight_exist() {
        let names: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        for name in REPORTS.iter().chain(SPECIAL).chain(OVERVIEWS).chain(&[
            "README.md",
            "docs/settings.md",
            "docs/extension/README.md",
        ]) {
            assert!(names.contains(name), "{name} in {names:?}");
        }
    }
}
