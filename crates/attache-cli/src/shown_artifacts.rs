//! What was printed of each artifact, in little memory however long they are.

use attache_domain::BoundedCache;

/// An artifact that is forgotten is printed again from its beginning.
const MAX_ARTIFACTS: usize = 4096;
/// Bytes of the ids of artifacts.
const MAX_ID_BYTES: usize = 1 << 20;

/// Knows the length and a hash of what was printed of each artifact.
pub(crate) struct ShownArtifacts(BoundedCache<String, ShownText>);

#[derive(Debug, Clone, Copy)]
struct ShownText {
    length: usize,
    hash: u64,
}

impl Default for ShownArtifacts {
    fn default() -> Self {
        Self(BoundedCache::new(MAX_ARTIFACTS, MAX_ID_BYTES))
    }
}

impl ShownArtifacts {
    /// A further piece of an artifact is printed.
    pub(crate) fn append(&mut self, id: &str, piece: &str) {
        let before = self.0.remove(id).unwrap_or(ShownText::NOTHING);
        self.0.insert(id.to_owned(), before.then(piece), id.len());
    }

    /// The part of a complete artifact that is not printed yet; `None` if it does not begin with what was printed.
    pub(crate) fn replace<'a>(&mut self, id: &str, text: &'a str) -> Option<&'a str> {
        let before = self.0.remove(id).unwrap_or(ShownText::NOTHING);
        self.0.insert(id.to_owned(), ShownText::NOTHING.then(text), id.len());
        let (printed, more) = text.split_at_checked(before.length)?;
        (ShownText::NOTHING.then(printed).hash == before.hash).then_some(more)
    }
}

impl ShownText {
    /// The hash is FNV-1a, which can be continued with every further byte.
    const NOTHING: Self = Self { length: 0, hash: 0xcbf2_9ce4_8422_2325 };

    fn then(self, text: &str) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self { length: self.length + text.len(), hash: text.bytes().fold(self.hash, step) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_printed_is_given() {
        let mut shown = ShownArtifacts::default();
        shown.append("a", "one ");
        shown.append("a", "zwölf");
        assert_eq!(shown.replace("a", "one zwölf three"), Some(" three"));
        assert_eq!(shown.replace("a", "one zwölf three"), Some(""));
        assert_eq!(shown.replace("a", "two"), None);
        assert_eq!(shown.replace("a", "two more"), Some(" more"));
        assert_eq!(shown.replace("b", "new"), Some("new"));
        shown.append("c", "ab");
        assert_eq!(shown.replace("c", "aö"), None, "the cut is within a character");
    }

    #[test]
    fn endless_artifacts_take_little_memory() {
        let mut shown = ShownArtifacts::default();
        for number in 0..3 * MAX_ARTIFACTS {
            shown.append(&format!("a-{number}"), &"x".repeat(100));
        }
        assert!(shown.0.len() <= MAX_ARTIFACTS);
    }
}
