//! Every event, in every version and binding, is what the published schema says.

use std::path::PathBuf;

use attache_domain::{CallOutcome, Fact, Preview, TaskState};
use attache_testkit::extension::check_event;
use attache_wire::JsonForm;
use attache_wire::devtool::{Dialect, URI};
use attache_wire::encode::{IncludeArtifacts, TaskShape, write_task_item};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stories::{self, ONCE, exec};
use super::world::{agent, asks, failed, finished, lost, proposed, showed, started, tell, wants};
use crate::fixture::full_view;

#[test]
fn every_event_fits_the_schema() {
    let mut checked = 0;
    for story in stories::all() {
        for told in tell(story) {
            for json_form in JsonForm::ALL {
                let Some(event) = told.encoded(json_form) else { continue };
                check_event(&event).unwrap_or_else(|error| panic!("{error}\nin {json_form:?}: {event:#}"));
                checked += 1;
            }
        }
    }
    assert!(checked > 600, "only {checked} events were seen");
}

/// A proposal with unusual texts.
fn odd_shown() -> impl Strategy<Value = Preview> {
    let questions = |text: &str| json!([{ "question": format!("q{text}"), "header": text, "type": "text", "more": text }]);
    prop_oneof![
        (".*", any::<Vec<String>>()).prop_map(|(command, programs)| Preview::Exec {
            command,
            directory: "/w".into(),
            programs
        }),
        ("[^/\0]{1,9}", ".*", any::<Option<String>>(), ".*").prop_map(
            |(name, diff, original, new_content)| {
                let path = PathBuf::from("/w").join(format!("a{name}"));
                Preview::Edit { path, diff, original, original_digest: None, new_content }
            }
        ),
        (".+", ".+").prop_map(|(server, tool)| Preview::Mcp {
            server,
            tool,
            title: String::new(),
            address: None
        }),
        (".*", any::<Vec<String>>()).prop_map(|(prompt, urls)| Preview::Info { prompt, urls }),
        ".*".prop_map(move |text| Preview::Questions { questions: questions(&text) }),
        ".*".prop_map(|prompt| agent(&prompt)),
        ".*".prop_map(|summary| Preview::Plain { summary }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_call_says_fits_the_schema(
        (name, shown, choices) in (".*", odd_shown(), prop::collection::vec(".+", 1..4)),
        (live, kind, output, summary) in (".*", ".*", ".*", ".*"),
        place in 0usize..4,
    ) {
        let outcomes = [CallOutcome::Succeeded, failed(&kind), CallOutcome::Canceled, CallOutcome::Unknown];
        let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
        let rest = [
            proposed(shown, &choices),
            started(),
            showed(&live),
            lost(),
            started(),
            asks(&summary),
            finished(outcomes[place].clone(), &output, &summary),
        ];
        for told in tell([wants(&name, json!({})), rest.to_vec()].concat()) {
            if let Some(event) = told.encoded(JsonForm::V1_0) {
                prop_assert_eq!(check_event(&event), Ok(()), "{:#}", event);
            }
        }
    }
}

#[test]
fn the_kinds_are_those_of_the_rfc_and_all_but_the_clients_own_occur() {
    let mut kinds = std::collections::BTreeSet::new();
    for told in stories::all().into_iter().flat_map(tell) {
        let event = told.encoded(JsonForm::V0_3Rpc);
        kinds.extend(event.and_then(|event| event["metadata"][URI]["kind"].as_str().map(str::to_owned)));
    }
    assert_eq!(Vec::from_iter(kinds), ["STATE_CHANGE", "TEXT_CONTENT", "THOUGHT", "TOOL_CALL_UPDATE"]);
}

#[test]
fn a_task_that_waits_shows_the_calls_it_waits_for() {
    let told = tell([wants("run_shell_command", json!({})), vec![proposed(exec(), ONCE)]].concat());
    let mut view = full_view();
    view.call_records = told.last().unwrap().call_records.clone();
    view.status.state = TaskState::InputRequired;
    let shape =
        TaskShape { history_length: None, artifacts: IncludeArtifacts::Never, dialect: Dialect::Developer };
    for json_form in JsonForm::ALL {
        let mut out = Vec::new();
        write_task_item(json_form, &view, shape, &mut out);
        let event: Value = serde_json::from_slice(&out).unwrap();
        check_event(&event).unwrap_or_else(|error| panic!("{error}\nin {event:#}"));
        assert!(event.to_string().contains("confirmation_request"), "{event:#}");
        let broken = event.to_string().replace("\"PENDING\"", "\"SUCCEEDED\"");
        check_event(&serde_json::from_str(&broken).unwrap()).unwrap_err();
    }
}

#[test]
fn text_that_was_taken_back_is_named() {
    let events = tell(vec![
        Fact::TurnStarted { turn: 1, model: None },
        Fact::TextSaid { text: "Hel".into(), last: false },
        Fact::TextWithdrawn,
        Fact::TextSaid { text: "Hello".into(), last: false },
    ]);
    let events: Vec<_> = events.iter().filter_map(|told| told.encoded(JsonForm::V0_3Rpc)).collect();
    let id = |event: &Value| event["status"]["message"]["messageId"].clone();
    assert_eq!(events[2]["metadata"][URI]["withdrawn_message_id"], id(&events[1]), "{events:#?}");
    assert_ne!(id(&events[3]), id(&events[1]), "{events:#?}");
}
