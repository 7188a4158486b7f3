//! The text of an agent for the model and for people.

use std::path::Path;

use attache_domain::Content;
use attache_tool::{MAX_OUTPUT_CHARACTERS, ToolOutput, shorten, untrusted};

/// What people are shown at the end.
const SUMMARY_LINES: usize = 10;
const SUMMARY_BYTES: usize = 1_000;

/// An agent's text for the model: marked as data, and bounded. The whole of a long one is saved.
pub(crate) async fn for_model(text: String, scratch: &Path, call: &str) -> String {
    untrusted(&shorten(text, MAX_OUTPUT_CHARACTERS, scratch, format!("agent_{call}")).await)
}

pub(crate) fn output(content: String, summary: &str) -> ToolOutput {
    ToolOutput {
        content: vec![Content::Text(content)],
        summary: summary_of(summary),
        diff: None,
        files: Vec::new(),
    }
}

fn summary_of(text: &str) -> String {
    let mut lines = text.lines();
    let shown: Vec<&str> = lines.by_ref().take(SUMMARY_LINES).collect();
    let shown = shown.join("\n");
    let end = shown.floor_char_boundary(SUMMARY_BYTES);
    let more = if lines.next().is_some() || end < shown.len() { "…" } else { "" };
    format!("{}{more}", &shown[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_long_text_is_marked_and_saved_under_the_name_of_its_call() {
        let scratch = tempfile::tempdir().unwrap();
        let text = "0123456789ä".repeat(10_000);
        let short = for_model(text.clone(), scratch.path(), "c-1").await;
        assert!(short.contains("[... 70000 characters are left out here; "), "{}", short.len());
        assert!(short.ends_with("789ä\n</untrusted_context>"));
        let saved = scratch.path().join("tool-outputs/agent_c-1.txt");
        assert_eq!(std::fs::read_to_string(saved).unwrap(), text);
        let short = for_model("short".into(), scratch.path(), "c").await;
        assert_eq!(short, "<untrusted_context>\nshort\n</untrusted_context>");
    }

    #[test]
    fn people_see_the_beginning() {
        assert_eq!(summary_of("a\nb"), "a\nb");
        assert!(summary_of(&"line\n".repeat(20)).ends_with("line…"));
        assert_eq!(summary_of(&"ä".repeat(2_000)).chars().count(), SUMMARY_BYTES / 2 + 1);
    }
}
