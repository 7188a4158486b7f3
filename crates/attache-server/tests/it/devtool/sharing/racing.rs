//! Many clients answer at once: exactly one answer is taken, and the others are refused with its author.

use std::sync::Arc;

use attache_testkit::editor::chosen;
use attache_testkit::model_server::gemini::says;
use serde_json::Value;
use tokio::task::JoinSet;

use super::runs;
use crate::devtool::world::World;
use attache_testkit::pairs::{Ask, Pair};

const CLIENTS: usize = 16;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_answer_is_taken_and_everybody_else_hears_of_it() {
    let world = World::playing([runs("sh add.sh"), says("Done.")]).await;
    world.write("add.sh", "echo ran >> runs\n");
    let asked = Arc::new(world.editor().ask("m1", "Run!").await);
    let mut racing = JoinSet::new();
    for number in 0..CLIENTS {
        let pair = Pair::ALL[number % Pair::ALL.len()];
        let editor = world.editor_on(pair).with("User-Agent", &format!("client-{number}-"));
        let option = ["proceed_once", "proceed_always"][number % 2];
        let answer = chosen(&asked.only_asked(), option);
        let params = editor.answers(asked.task(), &format!("answer-{number}"), &[answer]);
        racing.spawn(async move {
            let reply = pair.call(&editor.client, &Ask::Send(params)).await;
            let is_taken = reply.answer.status == 200 && reply.answer.json().get("error").is_none();
            (number, option, is_taken, (!is_taken).then(|| reply.refusal()))
        });
    }
    let all = racing.join_all().await;
    let taken: Vec<_> = all.iter().filter(|(_, _, is_taken, _)| *is_taken).collect();
    assert_eq!(taken.len(), 1, "{all:#?}");
    let (winner, option, ..) = taken[0];
    for (number, _, _, refusal) in all.iter().filter(|(_, _, is_taken, _)| !is_taken) {
        let refusal = refusal.as_ref().unwrap();
        let pair = Pair::ALL[number % Pair::ALL.len()];
        assert_eq!(refusal.code, (pair != Pair::Rest10).then_some(-32602), "{refusal:#?}");
        let by = format!("client-{winner}-");
        assert!(refusal.message.contains(&by) && refusal.message.contains(option), "{by}: {refusal:#?}");
    }
    assert_eq!(world.file("runs").as_deref(), Some("ran\n"), "it ran once");
    let task: Value = world.editor().task(asked.task()).await;
    assert_eq!(task["status"]["state"], "completed");
}
