//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use std::path::Path;

use attache_document::Node;
use serde_json::Value;

use crate::env_file::EnvFile;
use crate::settings::expand::expand;
use crate::settings::gather::GatheredSettings;
use crate::settings::layer::Layer;
use crate::settings::mcp::{McpServerSettings, McpTransport};
use crate::settings::resolve::resolve;

const PATH: &str = "/settings";

/// An agent's settings in any of their formats.
pub fn settings(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for tree in [Node::from_json(&text), Node::from_yaml(&text), Ok(Node::from_toml(&text))] {
        let Ok(tree) = tree else { continue };
        let json = tree.to_json().to_string();
        let again = Node::from_json(&json).expect("what was read can be written as JSON and read");
        assert_eq!(again.to_json(), tree.to_json());
        let mut gathered = GatheredSettings::default();
        if gathered.file(Path::new(PATH), Layer::UserJson, &tree).is_ok() {
            resolve(&gathered);
        }
    }
}

/// Servers that a client adds, by name. None starts a program here or is trusted, and secrets are not shown.
pub fn brought_servers(text: &[u8]) {
    let Ok(Value::Object(servers)) = serde_json::from_slice(text) else { return };
    for (name, settings) in &servers {
        match McpServerSettings::requested(name, settings) {
            Ok(server) => {
                assert!(!server.trust, "{server:?}");
                let McpTransport::Http { headers, .. } = &server.transport else { panic!("a program") };
                let shown = server.to_json().to_string();
                for value in headers.values().map(|value| value.expose()).filter(|value| value.len() > 16) {
                    assert!(
                        !shown.contains(value) || settings.to_string().matches(value).count() > 1,
                        "{shown}"
                    );
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// A file of environment variables, and texts that refer to variables.
pub fn variables(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let file = EnvFile::parse(Path::new(PATH), &text);
    let mut lookup = |name: &str| file.get(name).map(|(value, _)| value.to_owned());
    for line in text.lines() {
        if let Some(expanded) = expand(line, &mut lookup) {
            assert!(expanded.len() <= 64 << 10);
        }
    }
    assert_eq!(expand(&text, &mut |_| None).is_some(), text.contains('$') && text.len() <= 64 << 10);
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Parts of likely texts, so that readers get beyond the first character.
    const WORDS: &[&str] = &[
        r#""model":"#,
        r#""mcpServers":"#,
        r#""command":"#,
        r#""httpUrl":"http://127.0.0.1:1/mcp""#,
        r#""trust":"#,
        r#""headers":"#,
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
        "export A=b\n",
        "$A",
        "${A}",
        "${A:-b}",
        "#c\n",
        "//c\n",
        "/*",
        "*/",
        "\n",
        "&a *a\n",
        "é",
    ];

    fn all(bytes: &[u8]) {
        settings(bytes);
        variables(bytes);
        brought_servers(bytes);
    }

    #[test]
    fn the_seeds_are_read() {
        brought_servers(br#"{"editor":{"httpUrl":"http://127.0.0.1:9000/mcp","trust":true,"headers":{"a":"a secret of 20 letters"}}}"#);
        brought_servers(br#"{"editor":{"command":"sh","args":["-c","x"],"env":{"A":"b"}}}"#);
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
