//! What can happen to calls of every kind, and around them.

use std::sync::Arc;

use attache_domain::{
    Base64, CallOutcome, Content, Fact, Message, MessageId, Preview, TurnOutcome, Usage, Verdict,
};
use serde_json::json;

use super::world::{
    answered, answered_with, failed, finished, finished_with, lost, proposed, proposed_with, showed, started,
    wants,
};
use crate::fixture::{artifact, object};

pub(crate) const ONCE: &[&str] = &["proceed_once", "cancel"];
pub(crate) const DIFF: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n";

pub(crate) fn exec() -> Preview {
    let programs = vec!["git".into(), "ls".into()];
    Preview::Exec { command: "git status && ls".into(), directory: "/w".into(), programs }
}

pub(crate) fn edit() -> Preview {
    Preview::Edit {
        path: "/w/src/a.txt".into(),
        diff: DIFF.into(),
        original: Some("old\n".into()),
        original_digest: Some("00".into()),
        new_content: "new\n".into(),
    }
}

pub(crate) fn new_file() -> Preview {
    Preview::Edit {
        path: "/w/b.txt".into(),
        diff: String::new(),
        original: None,
        original_digest: None,
        new_content: String::new(),
    }
}

pub(crate) fn mcp() -> Preview {
    Preview::Mcp { server: "files".into(), tool: "list".into(), title: "List".into(), address: None }
}

pub(crate) fn info(urls: &[&str]) -> Preview {
    let urls = urls.iter().map(|url| (*url).to_owned()).collect();
    Preview::Info { prompt: "Fetch the page".into(), urls }
}

pub(crate) fn questions() -> Preview {
    let option = |label: &str, description: &str| json!({ "label": label, "description": description });
    Preview::Questions {
        questions: json!([
            {
                "question": "Which colour?", "header": "Colour", "type": "choice", "multiSelect": true,
                "options": [option("red", "Like fire"), option("blue", "")], "made_up": 1,
            },
            { "question": "Name?", "header": "Name", "type": "text", "placeholder": "Ann" },
        ]),
    }
}

pub(crate) fn plain(summary: &str) -> Preview {
    Preview::Plain { summary: summary.into() }
}

/// Each of these as the facts of one turn.
pub(crate) fn all() -> Vec<Vec<Fact>> {
    let kinds = [
        exec(),
        edit(),
        new_file(),
        mcp(),
        info(&[]),
        info(&["https://example.com/a"]),
        questions(),
        plain("src"),
        plain(""),
    ];
    let mut stories: Vec<Vec<Fact>> = kinds.into_iter().flat_map(lives).collect();
    stories.extend([unproposed(), modified(), todos(), picture(), structured(), conversation(), failure()]);
    stories
}

/// All that can become of a call that would do this.
fn lives(shown: Preview) -> Vec<Vec<Fact>> {
    let ask = proposed(shown.clone(), ONCE);
    let agree = answered("proceed_once", Verdict::Proceed);
    let succeed = || finished(CallOutcome::Succeeded, "all of it", "done");
    let unknown = || finished(CallOutcome::Unknown, "nobody knows", "");
    let after = |rest: Vec<Fact>| [wants("some_tool", json!({ "a": 1 })), rest].concat();
    vec![
        after(vec![proposed(shown.clone(), &[]), started(), succeed()]),
        after(vec![ask.clone(), agree.clone(), started(), showed("a\n"), showed("b\n"), succeed()]),
        after(vec![ask.clone(), agree.clone(), started(), finished(failed("execution_failed"), "no", "no")]),
        after(vec![
            ask.clone(),
            answered("cancel", Verdict::Refuse),
            finished(CallOutcome::Canceled, "no", "no"),
        ]),
        after(vec![ask.clone(), finished(CallOutcome::Canceled, "", "")]),
        after(vec![
            ask.clone(),
            agree.clone(),
            started(),
            showed("a"),
            lost(),
            answered("skip", Verdict::Skip),
            unknown(),
        ]),
        after(vec![ask, agree.clone(), started(), lost(), agree, started(), succeed()]),
    ]
}

fn unproposed() -> Vec<Fact> {
    [wants("nonesuch", json!({})), vec![finished(failed("tool_not_registered"), "there is none", "")]]
        .concat()
}

pub(crate) fn modified() -> Vec<Fact> {
    let agree = answered_with("proceed_once", Verdict::Proceed, Some("mine\n"));
    let written = vec![Content::Text("Edited".into())];
    let done = finished_with(CallOutcome::Succeeded, written, "Edited", Some("-old\n+mine\n"));
    [wants("write_file", json!({})), vec![proposed(edit(), ONCE), agree, started(), done]].concat()
}

pub(crate) fn todos() -> Vec<Fact> {
    let input = object(json!({ "todos": [{ "description": "a", "status": "pending" }] }));
    let done = finished(CallOutcome::Succeeded, "1. [pending] a", "0 of 1 done");
    let proposed = proposed_with(input, plain("list 1 things to do"), &[]);
    [wants("write_todos", json!({})), vec![proposed, started(), done]].concat()
}

pub(crate) fn picture() -> Vec<Fact> {
    let bytes = Base64("AAEC".into());
    let content = Content::Bytes { media_type: "image/png".into(), bytes, name: Some("a.png".into()) };
    let done = finished_with(CallOutcome::Succeeded, vec![content], "", None);
    [wants("read_file", json!({})), vec![proposed(plain("a.png"), &[]), started(), done]].concat()
}

pub(crate) fn structured() -> Vec<Fact> {
    let done = finished(CallOutcome::Succeeded, "<mark>\n{\"a\": 1}\n</mark>", "{\n  \"a\": 1\n}");
    [wants("mcp_files_list", json!({})), vec![proposed(mcp(), &[]), started(), done]].concat()
}

/// Thoughts, text, notices and artifacts, up to the end of a turn.
fn conversation() -> Vec<Fact> {
    let usage = Usage { input: 10, cached: 5, output: 3, thoughts: 1 };
    vec![
        Fact::TurnStarted { turn: 1, model: Some("model-1".into()) },
        Fact::ThoughtShared { text: "**Looking** I look first.".into() },
        Fact::ThoughtShared { text: "no subject".into() },
        Fact::TextSaid { text: "Hel".into(), last: false },
        Fact::TextWithdrawn,
        Fact::TextSaid { text: "Hello".into(), last: false },
        Fact::TextReplaced { text: "He".into() },
        Fact::TextSaid { text: "llo".into(), last: true },
        Fact::Noticed { message: said("I wait.", None) },
        Fact::PersonAsked { message: said("May I?", None), auth: false },
        Fact::WorkResumed,
        Fact::CredentialAsked { message: said("A key, please.", None) },
        Fact::WorkResumed,
        Fact::ArtifactAdded { artifact: Box::new(artifact("file-1", Vec::new())), append: false, last: true },
        Fact::ArtifactAdded {
            artifact: Box::new(artifact("changes-1", Vec::new())),
            append: false,
            last: true,
        },
        Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: Some(Box::new(usage)) },
    ]
}

fn failure() -> Vec<Fact> {
    let ended = |outcome, message| Fact::TurnEnded { outcome, message: Some(message), usage: None };
    vec![
        Fact::TurnStarted { turn: 1, model: None },
        ended(TurnOutcome::Failed, said("The model is away.", None)),
        ended(TurnOutcome::InputRequired, said("It took too long.", Some("time"))),
        ended(TurnOutcome::InputRequired, said("Then not.", Some("declined"))),
        Fact::TaskCanceled,
        Fact::Replied { message: said("Hello", None) },
    ]
}

fn said(text: &str, reason: Option<&str>) -> Arc<Message> {
    let mut message = Message::from_agent(MessageId::from("m-7"), "c-1".into(), Some("t-1".into()), text);
    message.metadata = reason.map(|reason| object(json!({ "reason": reason })));
    Arc::new(message)
}
