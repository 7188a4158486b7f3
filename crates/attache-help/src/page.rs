//! The pages that are part of the program.

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

/// One page of documentation, in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// As people open it, such as `docs/settings.md`.
    pub name: Cow<'static, str>,
    pub text: Cow<'static, str>,
}

/// Name and length of the README and of every page below `docs`, as the build script lists them.
const PAGES: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Their texts, one after the other.
static TEXTS: LazyLock<String> = LazyLock::new(|| {
    let compressed = include_bytes!(concat!(env!("OUT_DIR"), "/pages.deflate"));
    let mut texts = String::new();
    DeflateDecoder::new(&compressed[..])
        .read_to_string(&mut texts)
        .expect("the build script compressed them");
    texts
});

/// Pages that report measurements. They share many words with the others, and are seldom what a question is about.
const REPORTS: &[&str] =
    &["docs/benchmarks.md", "docs/conformance.md", "docs/extension/comparison.md", "docs/interop.md"];

/// Pages for people who write clients: most questions use their words in another meaning.
const SPECIAL: &[&str] = &["docs/script-model.md"];

/// Pages that mention everything; other pages say more about it.
const OVERVIEWS: &[&str] = &["README.md", "docs/security.md"];

impl Page {
    pub(crate) fn embedded() -> impl Iterator<Item = Self> {
        let mut rest = TEXTS.as_str();
        PAGES.iter().map(move |(name, length)| {
            let (text, following) = rest.split_at(*length);
            rest = following;
            Self { name: (*name).into(), text: text.into() }
        })
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
