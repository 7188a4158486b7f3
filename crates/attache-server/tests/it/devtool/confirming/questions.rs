//! Everything else that is asked: pages to fetch, and questions of the model's own.

use attache_testkit::editor::{chosen, options, output};
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::devtool::world::World;
use attache_testkit::pairs::Pair;

fn fetches(page: &ModelServer) -> PlannedResponse {
    calls("web_fetch", json!({"prompt": format!("Read {}/page", page.url())}))
}

#[tokio::test]
async fn a_page_is_asked_about_in_words_and_can_be_allowed_for_the_conversation() {
    let page = ModelServer::with_handler(|_| PlannedResponse::text(200, "text/plain", "The page."));
    let answers = [fetches(&page), fetches(&page), fetches(&page), says("Read.")];
    let world = World::playing(answers).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Read!").await;
    let call = asked.only_asked();
    assert_eq!(options(&call), ["proceed_once", "proceed_always", "cancel"]);
    let details = &call["confirmation_request"]["generic_details"];
    assert!(details["description"].as_str().unwrap().contains(&page.url()), "{details:#}");
    assert!(page.received().is_empty());
    let again = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_once")]).await;
    assert!(!output(again.call("SUCCEEDED")).is_empty());
    let call = again.only_asked();
    let done = editor.answer(asked.task(), "m3", &[chosen(&call, "proceed_always")]).await;
    assert_eq!((done.asked().len(), done.last().state()), (0, "completed"), "{:#?}", done.lines());
    assert_eq!(page.received().len(), 3);
}

#[tokio::test]
async fn a_page_that_is_refused_is_not_fetched() {
    let page = ModelServer::with_handler(|_| PlannedResponse::text(200, "text/plain", "The page."));
    let world = World::playing([fetches(&page)]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Read!").await;
    let refused = editor.answer(asked.task(), "m2", &[chosen(&asked.only_asked(), "cancel")]).await;
    refused.check(&["TOOL_CALL_UPDATE working web_fetch CANCELLED", "STATE_CHANGE input-required …"]);
    assert!(page.received().is_empty());
}

fn colours() -> Value {
    let option = |label: &str| json!({"label": label, "description": format!("As {label} as can be.")});
    json!({"questions": [
        {"question": "Which colour?", "header": "Colour", "type": "choice", "options": [option("red"), option("blue")]},
        {"question": "Whose?", "header": "Owner", "type": "text", "placeholder": "a name"},
    ]})
}

#[tokio::test]
async fn questions_are_put_one_by_one_and_answered_by_number_or_in_order() {
    for (pair, answers) in
        [(Pair::Rpc03, json!({"0": "blue", "1": "Ann"})), (Pair::Rest10, json!(["blue", "Ann"]))]
    {
        let world = World::playing([calls("ask_user", colours()), says("Blue it is.")]).await;
        let editor = world.editor_on(pair);
        let asked = editor.ask("m1", "Paint!").await;
        let call = asked.only_asked();
        assert_eq!(options(&call), ["answer", "cancel"]);
        let details = &call["confirmation_request"]["generic_details"];
        let description = details["description"].as_str().unwrap();
        assert!(description.contains("Which colour?") && description.contains("Whose?"), "{description}");
        let questions = details["questions"].as_array().unwrap();
        assert_eq!((&questions[0]["type"], &questions[1]["type"]), (&json!("choice"), &json!("text")));
        assert_eq!(questions[0]["options"][1]["label"], "blue");
        assert_eq!(questions[1]["placeholder"], "a name");
        let mut answer = chosen(&call, "answer");
        answer["answers"] = answers.clone();
        let done = editor.answer(asked.task(), "m2", &[answer]).await;
        assert_eq!(done.last().state(), "completed", "{answers}: {:#?}", done.lines());
        let given = done.call("SUCCEEDED")["output"]["structured_data"].to_string();
        assert!(given.contains("blue") && given.contains("Ann"), "{given}");
        assert!(world.told().contains("Ann"), "{}", world.told());
    }
}

#[tokio::test]
async fn one_question_takes_the_answer_itself_or_any_text() {
    let question = json!({"questions": [{"question": "Whose?", "header": "Owner", "type": "text"}]});
    for as_data in [true, false] {
        let world = World::playing([calls("ask_user", question.clone()), says("Fine.")]).await;
        let editor = world.editor();
        let asked = editor.ask("m1", "Paint!").await;
        let done = if as_data {
            let mut answer = chosen(&asked.only_asked(), "answer");
            answer["answers"] = json!("Ann's");
            editor.answer(asked.task(), "m2", &[answer]).await
        } else {
            editor.ask_more(asked.task(), "m2", "Ann's").await
        };
        assert_eq!(done.last().state(), "completed", "{:#?}", done.lines());
        assert!(world.told().contains("Ann's"), "{}", world.told());
    }
}

#[tokio::test]
async fn who_does_not_want_to_answer_ends_the_turn() {
    let world = World::playing([calls("ask_user", colours())]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Paint!").await;
    let dismissed = editor.answer(asked.task(), "m2", &[chosen(&asked.only_asked(), "cancel")]).await;
    dismissed.check(&["TOOL_CALL_UPDATE working ask_user CANCELLED", "STATE_CHANGE input-required …"]);
    assert_eq!(world.model.received().len(), 1);
}
