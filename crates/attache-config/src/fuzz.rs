//! Ways in for arbitrary bytes: nothing here may panic on them, and what is understood must hold.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use attache_document::Node;

use crate::file::ConfigFile;

/// The operator's file.
pub fn operator(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if toml::from_str::<ConfigFile>(&text).is_ok() {
        let tree = Node::from_toml(&text);
        let table: toml::Table = toml::from_str(&text).expect("what has a shape is TOML");
        for key in table.keys().filter(|key| !key.contains('.')) {
            assert!(tree.at(key).is_some(), "{key:?} has a place");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parts of likely texts, so that the reader gets beyond the first character.
    const WORDS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "1",
        "-0.0",
        "1e999",
        "null",
        "true",
        r#""""#,
        r#""a""#,
        r#""\u0000""#,
        r#""model":"#,
        r#""mcpServers":"#,
        r#""command":"#,
        r#""env":"#,
        "model: x\n",
        "- a\n",
        "  b: c\n",
        "[limits]\n",
        "body_bytes = 1024\n",
        r#"host = "x"
"#,
        "[enforced]\n",
        "a.b = 1\n",
        r#""a.b" = 1
"#,
        "\n",
        "&a *a\n",
        "é",
    ];

    fn all(bytes: &[u8]) {
        operator(bytes);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            all(&bytes);
        }

        #[test]
        fn likely_texts_do_no_harm(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
            all(words.concat().as_bytes());
        }
    }
}
