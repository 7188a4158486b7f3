//! Approvals that outlive their conversation.

use attache_testkit::editor::{chosen, options};
use attache_testkit::model_server::PlannedResponse;
use serde_json::json;

use crate::agent_world::{calls, says, write};
use crate::devtool::world::World;

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}

#[tokio::test]
async fn for_good_is_for_other_conversations_too_where_the_operator_allows_it() {
    let world = World::with([runs("touch one"), says("1"), runs("touch two"), says("2")], |launch| {
        write(&launch, ".gemini/settings.json", "{\"security\": {\"enablePermanentToolApproval\": true}}");
        launch
    })
    .await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let call = asked.only_asked();
    assert_eq!(options(&call), ["proceed_once", "proceed_always", "proceed_always_and_save", "cancel"]);
    editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_always_and_save")]).await;
    let world = world.crash().await;
    let other = world.editor().ask("m3", "Again!").await;
    assert_eq!((other.asked().len(), other.last().state()), (0, "completed"));
    assert!(world.file("two").is_some());
}
