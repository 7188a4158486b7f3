//! The offline model.

use attache_domain::{Base64, Part, PartContent, Role};
use attache_model::offline::OfflineModel;
use attache_model::{ModelChunk, ModelRequest, ModelStreamItem, TurnFinish};
use proptest::prelude::*;

use crate::world::{answer, conversation, message};

/// The answer's text, and how it ends.
fn said(request: ModelRequest) -> (String, TurnFinish) {
    let mut items = answer(&OfflineModel, request);
    let Some(ModelStreamItem::Finish(finish)) = items.pop() else { panic!("no finish") };
    let texts = items.into_iter().map(|item| match item {
        ModelStreamItem::Chunk(ModelChunk::Text(text)) => text,
        other => panic!("{other:?}"),
    });
    (texts.collect(), finish)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (said, finish) = said(conversation(&[text]));
    assert!(said.contains(expected), "expected {expected:?} in {said:?}");
    assert_eq!(finish, TurnFinish::Completed { status: None });
}

#[test]
fn small_requests_are_answered() {
    check("hello", "Hello! I am the offline model.");
    check("who are you?", "not a language model");
    check("echo Good day", "Good day");
    check("count words in one two  three", "3 words.");
    check("count words in one", "1 word.");
    check("count characters in äöü", "3 characters.");
    check("count lines in:\na\nb", "2 lines.");
    check("reverse abc", "cba");
    check("upper straße", "STRASSE");
    check("lower ABC", "abc");
    check("sort pear, Apple, fig", "Apple, fig, pear");
    check("what is 12 * 7?", "That is 84.");
    check("what is 1 / 0", "divides by zero");
    check("what is 99999999999999999999999999999999999999999 + 1", "too large");
    check("count to 3", "1 2 3");
    check("count to 99999999", "from 1 to 10000");
}

#[test]
fn help_lists_what_is_understood() {
    let (help, _) = said(conversation(&["help"]));
    let (unknown, _) = said(conversation(&["xyzzy"]));
    let (_, without_tools) = help.split_once("With words and numbers:").unwrap();
    let mut offered = 0;
    for line in without_tools.lines().filter_map(|line| line.strip_prefix("- ")) {
        let example = line.split([',', '(']).next().unwrap();
        let example = example.replace("TEXT", "a b").replace("ITEM", "a").replace("NUMBER", "3");
        assert_ne!(said(conversation(&[example.trim()])).0, unknown, "{example}");
        offered += 1;
    }
    assert_eq!(offered, 10);
}

#[test]
fn anything_else_is_answered_with_what_would_help() {
    for expected in ["offline model", "no language model", "GEMINI_API_KEY", "help", "--model script:FILE"] {
        check("write me a compiler", expected);
    }
    let (text, _) = said(conversation(&["write me a compiler"]));
    assert!(
        !text.contains("because") && !text.contains("the server"),
        "it does not know why it was chosen: {text}"
    );
}

#[test]
fn a_question_is_asked_and_its_answer_taken() {
    let (text, finish) = said(conversation(&["ask me something"]));
    assert_eq!(text, "");
    assert!(matches!(finish, TurnFinish::InputRequired { question: Some(_) }));
    let (text, finish) = said(conversation(&["ask me something", "help"]));
    assert!(text.starts_with("You answered: help."), "{text}");
    assert_eq!(finish, TurnFinish::Completed { status: None });
    // An answer that looks like the request is an answer all the same.
    let (text, _) = said(conversation(&["ask me", "ask me", "echo hi"]));
    assert_eq!(text, "hi");
}

#[test]
fn files_and_data_are_acknowledged() {
    let file =
        Part { filename: Some("plan.pdf".into()), ..Part::new(PartContent::Raw(Base64("AAEC".into()))) };
    let data = Part::new(PartContent::Data(serde_json::json!({ "a": 1 })));
    let history = vec![message("m", Role::User, vec![Part::text("echo hi"), file, data])];
    let (text, _) = said(ModelRequest { history, turn: 1, emitted: 0, results: Vec::new() });
    assert_eq!(
        text,
        "Thank you for your file (plan.pdf) and your data; the offline model cannot look inside. hi"
    );
}

#[test]
fn answers_come_in_a_few_chunks_and_counting_in_as_many_as_asked() {
    let chunks = |text: &str| answer(&OfflineModel, conversation(&[text])).len() - 1;
    assert!((2..=50).contains(&chunks("help")));
    assert_eq!(chunks("count to 10000"), 10_000);
    assert_eq!(chunks("echo hi"), 1);
}

proptest! {
    #[test]
    fn any_text_is_answered_and_the_rest_of_an_answer_is_its_tail(text in any::<String>(), lead in 0..LEADS.len()) {
        let text = format!("{}{text}", LEADS[lead]);
        let whole = answer(&OfflineModel, conversation(&[&text]));
        for emitted in 0..whole.len().min(60) {
            let mut request = conversation(&[&text]);
            request.emitted = emitted as u32;
            prop_assert_eq!(&answer(&OfflineModel, request)[..], &whole[emitted..]);
        }
    }
}

const LEADS: &[&str] =
    &["", "echo ", "sort ", "what is ", "count to ", "please ", "add 1 and ", "count words in "];
