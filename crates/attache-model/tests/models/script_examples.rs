//! The scripts that come with attache do what they promise.

use std::time::Duration;

use attache_domain::{Part, ReplyShape, Role, ToolResult};
use attache_model::{BuiltInModel, ModelRequest};
use futures_util::StreamExt;

use crate::world::{answer, conversation, failure, message, play, result, rounds, script, shown, user};

const INTEROP: &str = include_str!("../../../../examples/scripts/interop.yaml");
const INSTANT: &str = include_str!("../../../../examples/scripts/instant.yaml");
const TOUR: &str = include_str!("../../../../examples/scripts/tour.yaml");

#[test]
fn every_behaviour_for_interop_is_reached_by_text_and_by_id() {
    let model = script(INTEROP);
    for (behaviour, turns) in [
        ("ask", &["ask", "Ada"][..]),
        ("input", &["input", "left"]),
        ("artifacts", &["artifacts"]),
        ("reject", &["reject"]),
        ("fail", &["fail"]),
        ("auth", &["auth", "done"]),
        ("bare", &["bare"]),
        ("status", &["status"]),
    ] {
        let by_text = play(&model, turns);
        let mut history = vec![message(&format!("{behaviour}-1"), Role::User, vec![Part::text("anything")])];
        history.extend(turns[1..].iter().map(|text| user(text)));
        let request = ModelRequest { history, turn: turns.len() as u32, emitted: 0, results: Vec::new() };
        let by_id: Vec<String> = answer(&model, request).iter().map(shown).collect();
        assert_eq!(by_text, by_id, "{behaviour}");
        assert_ne!(by_text, play(&model, &["anything"]), "{behaviour}");
    }
}

#[test]
fn interop_echoes_at_once() {
    assert_eq!(play(&script(INTEROP), &["echo a\nb"]), ["text a\nb", "completed"]);
    assert_eq!(play(&script(INTEROP), &["hm"]), ["text You said: hm", "completed"]);
    assert_eq!(script(INTEROP).reply_shape(&user("message")), ReplyShape::Message);
}

#[tokio::test(start_paused = true)]
async fn interop_streams_in_five_chunks_and_can_be_slow() {
    let model = script(INTEROP);
    let items: Vec<_> = model.stream(conversation(&["stream"])).collect().await;
    assert_eq!(items.len(), 6);
    let start = tokio::time::Instant::now();
    let slow: Vec<_> = model.stream(conversation(&["slow"])).collect().await;
    assert_eq!((slow.len(), start.elapsed()), (3, Duration::from_secs(30)));
}

#[test]
fn instant_gives_as_many_chunks_as_asked_for() {
    let model = script(INSTANT);
    assert_eq!(answer(&model, conversation(&["stream 10000"])).len(), 10_001);
    assert_eq!(answer(&model, conversation(&["artifact 10000"])).len(), 10_001);
    assert_eq!(play(&model, &["anything"]), ["text ok", "completed"]);
    assert_eq!(play(&model, &["message"]), ["replied: text ok"]);
}

#[tokio::test(start_paused = true)]
async fn the_tour_answers_everything_it_offers() {
    let model = script(TOUR);
    let hint = "text This is the tour.";
    for text in [
        "hello",
        "tell me a story about a whale",
        "pizza",
        "report on whales",
        "forbidden",
        "break",
        "log in",
        "log in elsewhere",
        "ping",
        "ping parts",
        "stay",
        "look around",
        "note buy milk",
    ] {
        let items: Vec<_> = model.stream(conversation(&[text])).collect().await;
        assert!(!shown(items[0].as_ref().unwrap()).starts_with(hint), "{text}");
        assert!(play(&model, &["what"])[0].contains(text), "the tour does not offer {text:?}");
    }
}

#[test]
fn the_tour_uses_tools_and_says_what_came_of_them() {
    let played = |text: &str, results: &[Vec<ToolResult>]| {
        let items = rounds(&script(TOUR), &conversation(&[text]), results);
        items.iter().map(|(_, _, item)| shown(item)).collect::<Vec<_>>()
    };
    let call = r#"calls: write_file {"content":"buy milk\n","file_path":"note.txt"}"#;
    assert_eq!(
        played("note buy milk", &[vec![result("Created note.txt")]]),
        [call, "text The note is written.", "completed"]
    );
    assert_eq!(
        played("note buy milk", &[vec![failure("[Operation Cancelled] no")]]),
        [call, "text There is no note: [Operation Cancelled] no", "completed"]
    );
    let looked = played("look around", &[vec![result("a\nb"), result("No file matches")]]);
    assert_eq!(looked[1], r#"calls: list_directory {"dir_path":"."} + glob {"pattern":"**/*.md"}"#);
    assert_eq!(
        looked[2..],
        ["text a\nb\n\nNo file matches", "text No file of Markdown is here.", "completed"]
    );
}
