//! Whatever is written in a file, loading it gives a script or an error, and playing it ends.

use std::sync::LazyLock;

use attache_model::script::ScriptModel;
use proptest::prelude::*;

use crate::world::{conversation, play};

/// Pieces of which scripts are made, so that random texts get deep into the parser.
fn fragments() -> impl Strategy<Value = String> {
    let words = [
        "rules:",
        "otherwise:",
        "- ",
        "  ",
        "    ",
        "      ",
        "\n",
        "text:",
        "message_id:",
        "turn:",
        "steps:",
        "say:",
        "think:",
        "ask:",
        "wait:",
        "artifact:",
        "answer:",
        "call:",
        "calls:",
        "tool:",
        "input:",
        "when:",
        "failed:",
        "end:",
        "chunks:",
        "repeat:",
        "every:",
        "parts:",
        "data:",
        "bytes:",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "'",
        "\"",
        "{{1}}",
        "{{text}}",
        "{{result}}",
        "{{results.0}}",
        "{{",
        "&a ",
        "*a",
        "<<: *a",
        "!!int ",
        "0",
        "1",
        "99999999999",
        "-1",
        "1e9",
        "true",
        "null",
        "~",
        "1ms",
        "completed",
        "(",
        "(?<x>",
        "|",
        ">",
        "#",
        "\t",
        "ä",
        "\\",
        "%",
        "---",
        "?",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..60)
        .prop_map(|words| words.concat())
}

static INSTANT: LazyLock<ScriptModel> =
    LazyLock::new(|| crate::world::script(include_str!("../../../../examples/scripts/instant.yaml")));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn loading_never_panics(text in prop_oneof![fragments(), any::<String>()]) {
        let _ = ScriptModel::from_yaml(&text);
    }

    #[test]
    fn loading_a_damaged_script_never_panics(place in any::<prop::sample::Index>(), insert in fragments()) {
        let mut text = include_str!("../../../../examples/scripts/tour.yaml").to_owned();
        let place = text.floor_char_boundary(place.index(text.len()));
        text.insert_str(place, &insert);
        let _ = ScriptModel::from_yaml(&text);
    }

    #[test]
    fn playing_never_panics(text in any::<String>(), turn in 1_u32..5) {
        let mut request = conversation(&[&text]);
        request.turn = turn;
        let _ = crate::world::answer(&*INSTANT, request);
        prop_assert!(!play(&*INSTANT, &["x", &text]).is_empty());
    }
}
