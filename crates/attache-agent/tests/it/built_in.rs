//! Models of ours that use tools.

use std::sync::Arc;

use attache_domain::{CallId, Message, ReplyShape, TaskState, ToolCall};
use attache_model::{BuiltInModel, ModelChunk, ModelRequest, ModelStream, ModelStreamItem, TurnFinish};
use futures_util::{StreamExt, stream};
use serde_json::{Map, json};

use crate::world::{Setup, World};

/// Reads, writes, and reports the results.
struct Worker;

impl BuiltInModel for Worker {
    fn name(&self) -> &str {
        "worker"
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let call = |id: &str, name: &str| ToolCall {
            id: CallId(id.into()),
            name: name.into(),
            input: Map::from_iter([("what".to_owned(), json!(id))]),
        };
        let text = |text: String| ModelStreamItem::Chunk(ModelChunk::Text(text));
        let all = match request.results.as_slice() {
            [] => vec![
                text("I look. ".into()),
                ModelStreamItem::Finish(TurnFinish::Calls(vec![call("a", "look")])),
            ],
            [_] => vec![
                text("I look. ".into()),
                text("I write. ".into()),
                ModelStreamItem::Finish(TurnFinish::Calls(vec![call("b", "write")])),
            ],
            [_, second, ..] => vec![
                text("I look. ".into()),
                text("I write. ".into()),
                text(if second[0].failed { "Not written.".into() } else { "Written.".into() }),
                ModelStreamItem::Finish(TurnFinish::Completed { status: None }),
            ],
        };
        stream::iter(all.into_iter().skip(request.emitted as usize).map(Ok)).boxed()
    }

    fn reply_shape(&self, _: &Message) -> ReplyShape {
        ReplyShape::Task
    }
}

async fn world() -> World {
    World::with(Setup { built_in: Some(Arc::new(Worker)), ..Setup::default() }, []).await
}

#[tokio::test]
async fn a_built_in_model_uses_tools_and_asks_first() {
    let world = world().await;
    let view = world.send("Work!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert_eq!(world.tools.done(), ["look a"]);
    let view = world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(view.history.last().unwrap().text(), "I look. I write. Written.");
    assert!(view.artifacts.iter().any(|artifact| artifact.id.as_str() == "changes-1"));
}

#[tokio::test]
async fn a_built_in_model_says_itself_what_a_refusal_means() {
    let world = world().await;
    let view = world.send("Work!").await;
    let view = world.reply(&view.task, "no").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(view.history.last().unwrap().text(), "I look. I write. Not written.");
}

#[tokio::test]
async fn a_restart_repeats_nothing_that_was_said() {
    let world = world().await;
    let view = world.send("Work!").await;
    let world = world.restart().await;
    let view = world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(view.history.last().unwrap().text(), "I look. I write. Written.");
}
