//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use std::collections::BTreeSet;
use std::path::Path;

use attache_document::Node;
use attache_domain::Right;

use crate::client_tokens::{self, ClientToken};
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

/// The file with the tokens of clients. Decoded clients can be encoded and decoded again, every name and token is
/// unique, and errors show no token.
pub fn client_tokens(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let path = Path::new("/tokens");
    match client_tokens::parse(path, &text, Some("the token of the server")) {
        Ok(clients) => {
            assert!(!clients.is_empty());
            let names: BTreeSet<_> = clients.iter().map(|client| client.name.as_str()).collect();
            let tokens: BTreeSet<_> = clients.iter().map(|client| client.token.expose()).collect();
            assert_eq!((names.len(), tokens.len()), (clients.len(), clients.len()));
            let written: String = clients.iter().map(line_of).collect();
            assert_eq!(client_tokens::parse(path, &written, None).ok(), Some(clients));
        }
        Err(error) => {
            let shown = format!("{error} {error:?}");
            for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
                let mut fields = line.splitn(3, ':').map(str::trim);
                let (name, token) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
                // A name may be shown, also if it is a token as well.
                assert!(token.len() < 16 || name.contains(token) || !shown.contains(token), "{shown}");
            }
        }
    }
}

fn line_of(client: &ClientToken) -> String {
    let mut rights = vec!["view"];
    rights.extend(client.rights.prompt.then_some("prompt"));
    rights.extend(client.rights.approve.then_some("approve"));
    assert!(rights.iter().all(|right| Right::from_name(right).is_some()));
    format!("{}: {}: {}\n", client.name, rights.join(", "), client.token.expose())
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Parts of likely texts, so that the reader gets beyond the first character.
    const WORDS: &[&str] = &[
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
        "wall: view: ",
        ": prompt, approve: ",
        "0123456789abcdef",
        "0123456789abcdeg",
        "#",
    ];

    fn all(bytes: &[u8]) {
        operator(bytes);
        client_tokens(bytes);
    }

    #[test]
    fn the_seed_is_read() {
        client_tokens(
            b"wall: view: 0123456789abcdef\n# a comment\neditor-1: prompt, view: 0123456789abcdeg\n",
        );
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(&[JSON_WORDS, WORDS].concat(), 40, all);
    }
}
