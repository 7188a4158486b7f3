//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use std::path::Path;

use attache_domain::Content;
use serde_json::{Map, Value};

use crate::tool_list::{MAX_TOOLS, ToolList};
use crate::tool_result::{self, ResultSource};
use crate::{McpServerOptions, Transport, connection, input, server};

const SOURCE: ResultSource<'_> = ResultSource { server: "server", tool: "tool" };

/// A server's list of tools, as one entry or as several, and an input for each decoded tool.
pub fn tools(text: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return };
    let transport = Transport::Sse { url: "http://127.0.0.1:1/".into(), headers: Vec::new() };
    let options = McpServerOptions::new("server", transport);
    let mut offer = ToolList::default();
    let entries = value.as_array().cloned().unwrap_or_else(|| vec![value]);
    let count = entries.len();
    for entry in entries {
        offer.add(&options, entry);
    }
    offer.finish(false);
    assert!(offer.tools.len() <= count.min(MAX_TOOLS));
    for tool in &offer.tools {
        let drawn = |text: &str| !text.chars().any(|letter| letter.is_control() && letter != '\n');
        assert!(!tool.name.is_empty() && tool.name.len() <= 64, "{:?}", tool.name);
        assert!(drawn(&tool.description), "{:?}", tool.description);
        for input in [Map::new(), tool.parameters.as_object().cloned().unwrap_or_default()] {
            let _ = input::check(&tool.parameters, &input);
        }
    }
}

/// A server's response to a call, and to a read of a resource.
pub fn answer(text: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return };
    // Small results are never stored in the scratch folder.
    let scratch = Path::new("/nonexistent/scratch");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let called = runtime.block_on(tool_result::of_call(value.clone(), SOURCE, scratch));
    let read = runtime.block_on(tool_result::of_resource(value, SOURCE, scratch));
    for output in called.into_iter().chain([read]) {
        assert!(!output.content.is_empty(), "a model is always told something");
        let length: usize = output
            .content
            .iter()
            .map(|content| match content {
                Content::Text(text) => text.len(),
                _ => 0,
            })
            .sum();
        assert!(length <= 8 * text.len() + 10_000, "{length} bytes of {}", text.len());
    }
}

/// A server's stream of events.
pub fn events(stream: &[u8]) {
    connection::fuzz::events(stream);
}

/// The output of a server that was started as a program, line by line.
pub fn lines(written: &[u8]) {
    connection::fuzz::lines(written);
}

/// All messages of such a server: turns with empty lines between them.
pub fn conversation(script: &[u8]) {
    server::fuzz::said(script);
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] = &[
        r#""name":"#,
        r#""description":"#,
        r#""inputSchema":"#,
        r#""properties":"#,
        r#""required":"#,
        r#""type":"#,
        r#""text":"#,
        r#""text""#,
        r#""content":"#,
        r#""image""#,
        r#""data":"#,
        r#""mimeType":"#,
        r#""isError":"#,
        r#""structuredContent":"#,
        r#""contents":"#,
        r#""uri":"#,
        r#""blob":"#,
        "event: endpoint\n",
        "data: /x",
        "data:https://evil.test",
        "\n",
        "\r",
        "\r\n\r\n",
    ];

    fn all(bytes: &[u8]) {
        tools(bytes);
        answer(bytes);
        events(bytes);
        lines(bytes);
        conversation(bytes);
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
