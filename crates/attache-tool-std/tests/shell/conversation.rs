//! The tools that speak with a person or remember.

use attache_tool::{Effect, Preview, Tool};
use attache_tool_std::{AskUser, SaveMemory, WriteTodos};
use serde_json::{Value, json};

use super::world::{World, text};

#[tokio::test]
async fn answers_are_those_of_the_person() {
    let (world, tool) = (World::new(), AskUser::default());
    let questions = json!([{ "question": "Which?", "header": "Which", "type": "text" }]);
    let input = json!({ "questions": questions, "answers": { "0": "made up" } });
    let mut proposal = tool.propose(input.as_object().unwrap(), &world.context).await.unwrap();
    assert_eq!(proposal.effects, [Effect::AskPerson]);
    assert_eq!(proposal.shown, Preview::Questions { questions });

    let dismissed = tool.run(proposal.clone(), &world.context).await.unwrap();
    assert!(text(&dismissed).contains("dismissed"), "{dismissed:?}");

    proposal.input.insert("answers".into(), json!({ "0": "that one" }));
    let answered = tool.run(proposal, &world.context).await.unwrap();
    let answered: Value = serde_json::from_str(&text(&answered)).unwrap();
    assert_eq!(answered, json!({ "answers": { "0": "that one" } }));
}

#[tokio::test]
async fn things_to_do_are_listed() {
    let (world, tool) = (World::new(), WriteTodos::default());
    let input = json!({ "todos": [{ "description": "build", "status": "in_progress" }] });
    let proposal = tool.propose(input.as_object().unwrap(), &world.context).await.unwrap();
    assert!(proposal.effects.is_empty());
    let output = tool.run(proposal, &world.context).await.unwrap();
    assert_eq!(text(&output), "1. [in_progress] build");
}

#[tokio::test]
async fn a_fact_is_proposed_as_an_edit_and_then_written() {
    let (world, tool) = (World::new(), SaveMemory::default());
    let file = world.root().join("GEMINI.md");
    std::fs::write(&file, "# Project\r\n").unwrap();
    let input = json!({ "fact": "Tests run with nextest.", "file_path": "other.md" });
    let proposal = tool.propose(input.as_object().unwrap(), &world.context).await.unwrap();
    assert_eq!(proposal.effects, [Effect::Write { path: file.clone() }]);
    let Preview::Edit { diff, .. } = &proposal.shown else { panic!("{:?}", proposal.shown) };
    assert!(diff.contains("+- Tests run with nextest."), "{diff}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# Project\r\n");

    tool.run(proposal, &world.context).await.unwrap();
    let expected = "# Project\r\n\r\n## Gemini Added Memories\r\n\r\n- Tests run with nextest.\r\n";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
}
