//! Models that stand in for others.

use attache_model::{AnswerEvent, AnswerPiece, LanguageError, StopReason};
use attache_model_http::gemini::with_fallback;
use attache_testkit::model_server::gemini::{self, chunk};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use futures_util::StreamExt;
use serde_json::json;

use super::world::{hello, options};

fn server() -> ModelServer {
    ModelServer::with_handler(|received| match received.target.contains("gemini-3") {
        true => gemini::error(404, "NOT_FOUND", "no access to previews", json!([])),
        false => gemini::answer([chunk().text("Fine.").finish("STOP")]),
    })
}

#[tokio::test]
async fn an_alias_goes_along_its_chain_until_a_model_answers() {
    let server = server();
    let model = with_fallback(&options(&server, "pro"), &crate::world::client()).unwrap();
    assert_eq!(model.name(), "gemini-3.1-pro-preview");
    let told: Vec<_> = model.stream(hello()).map(Result::unwrap).collect().await;
    let switched = told.iter().filter_map(|told| match told {
        AnswerEvent::Piece(AnswerPiece::Switched { model, why }) => {
            assert!(why.starts_with("there is no model gemini-3"), "{why}");
            assert!(why.contains("no access to previews"), "{why}");
            Some(model.as_str())
        }
        _ => None,
    });
    assert_eq!(switched.collect::<Vec<_>>(), ["gemini-3-pro-preview", "gemini-3.6-flash", "gemini-2.5-pro"]);
    assert!(matches!(told.last(), Some(AnswerEvent::End { stop: StopReason::Done, .. })), "{told:?}");
    // The next prompt does not have to find out again.
    let told: Vec<_> = model.stream(hello()).map(Result::unwrap).collect().await;
    assert_eq!((told.len(), server.received().len()), (2, 5));
}

#[tokio::test]
async fn a_model_that_was_named_exactly_is_the_only_one() {
    let server = server();
    let model = with_fallback(&options(&server, "gemini-3-pro-preview"), &crate::world::client()).unwrap();
    let told: Vec<_> = model.stream(hello()).collect().await;
    assert!(told.len() == 1 && told[0].is_err(), "{told:?}");
}

#[tokio::test]
async fn without_a_server_no_other_model_is_tried() {
    let page = || PlannedResponse::text(404, "text/html", "<html><title>Not Found</title></html>");
    let server = ModelServer::with_responses([page(), page()]);
    let model = with_fallback(&options(&server, "auto"), &crate::world::client()).unwrap();
    let told: Vec<_> = model.stream(hello()).collect().await;
    assert!(matches!(&told[..], [Err(LanguageError::Request { .. })]), "{told:?}");
    assert_eq!(server.unused_responses(), 1);
}
