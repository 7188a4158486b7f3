//! Real questions, and the page that answers each.

use super::*;

/// What is wrong with the answer: it has to come from the page first, and to quote these words.
fn mistake(manual: &Manual, question: &str, page: &str, quoted: &str) -> Option<String> {
    let found = manual.search(question, 4);
    if found.first().map(|first| first.page) != Some(page) {
        let line = |found: &FoundSection<'_>| {
            format!("\n  {:.1} {} › {}", found.score, found.page, found.headings.join(" › "))
        };
        return Some(format!("{question} ({page}){}", found.iter().map(line).collect::<String>()));
    }
    let answer = manual.answer(question);
    (!answer.contains(quoted)).then(|| format!("{question}: {quoted:?} is not in\n{answer}"))
}

#[test]
fn questions_of_users_are_answered_from_the_right_page() {
    let manual = Manual::new(Vec::new());
    let questions = [
        ("How do I add an MCP server?", "docs/mcp.md", "attache mcp add"),
        ("how can I configure a remote subagent", "docs/agent-files.md", "agent_card_url"),
        ("Which fields does an agent file have?", "docs/agent-files.md", "display_name"),
        ("what does agent_card_json do?", "docs/agent-files.md", "agent_card_json"),
        ("How can I call any other A2A agent and answer what it asks?", "docs/call.md", "attache call"),
        ("How do I trust a folder?", "docs/settings.md", "attache trust"),
        ("Where are rules for tools written, and how do I allow a command?", "docs/settings.md", "rule"),
        ("Which exit codes does attache -p have?", "docs/command-line.md", "130"),
        ("Can I use Claude?", "docs/models.md", "ANTHROPIC_API_KEY"),
        ("How do I use a local model with Ollama?", "docs/models.md", "OPENAI_BASE_URL"),
        ("What happens when the model is overloaded?", "docs/models.md", "When something goes wrong"),
        ("How do I get webhooks when a task changes?", "docs/push.md", "Registering"),
        ("how is the signature of a push notification verified", "docs/push.md", "Verifying"),
        ("How do I sign my agent card?", "docs/card.md", "attache card sign"),
        ("How do I write my own slash command?", "docs/commands.md", "commands/git/commit.toml"),
        ("How can I resume a session at the terminal?", "docs/terminal.md", "--resume"),
        ("How do I back up the database?", "docs/store.md", "attache store backup"),
        ("What may a sandboxed command do on the network?", "docs/confinement.md", "Network"),
        ("How can a client resume a stream on another binding?", "docs/extensions/replay.md", "cursor"),
        ("what can the offline model do?", "docs/offline-model.md", "model"),
        ("How do I script answers for client tests?", "docs/script-model.md", "script"),
        ("Is there an OpenAPI document?", "docs/rest.md", "openapi.json"),
        ("How do I connect over WebSocket?", "docs/live.md", "WebSocket"),
        ("Which files are read as context, GEMINI.md?", "docs/context.md", "GEMINI.md"),
        ("What rights can tokens of clients have: view, prompt, approve?", "docs/live.md", "approve"),
        ("Which metadata can gRPC calls have?", "docs/grpc.md", "Metadata"),
    ];
    let mistakes: Vec<String> = questions
        .iter()
        .filter_map(|(question, page, quoted)| mistake(&manual, question, page, quoted))
        .collect();
    assert!(mistakes.is_empty(), "{} of {}:\n{}", mistakes.len(), questions.len(), mistakes.join("\n"));
}

#[test]
fn pages_of_the_program_are_searched_too() {
    let page = Page {
        name: "attache zebra --help".into(),
        text: "Usage: attache zebra\n\nStripes the zebra.".into(),
    };
    let manual = Manual::new(vec![page]);
    let found = mistake(&manual, "how do I stripe a zebra?", "attache zebra --help", "Stripes the zebra.");
    assert_eq!(found, None);
}

#[test]
fn a_question_that_fits_nothing_is_told_so() {
    let manual = Manual::new(Vec::new());
    for question in ["", "what is the?", "xyzzy plugh", "\u{0}\u{202e}", &"é".repeat(10_000)] {
        let answer = manual.answer(question);
        assert!(
            answer.starts_with("Nothing in the documentation") && answer.contains("docs/settings.md"),
            "{answer}"
        );
    }
}

#[test]
fn an_answer_is_never_long() {
    let manual = Manual::new(Vec::new());
    for question in ["settings", "server client task message model tool", "conformance checks", "approval"] {
        let answer = manual.answer(question);
        assert!(answer.len() < 6_000, "{question}: {}", answer.len());
    }
}
