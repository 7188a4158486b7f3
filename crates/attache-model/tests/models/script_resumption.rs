//! A turn that was cut off goes on exactly where it was.

use proptest::prelude::*;

use crate::world::{answer, check_resumption, conversation, failure, result, script, steps};

proptest! {
    #[test]
    fn what_is_left_after_any_number_of_chunks_is_the_tail_of_the_whole(
        picks in proptest::collection::vec(0..STEPS.len(), 0..8),
        ending in 0..ENDINGS.len(),
        text in "[a-zä ]{0,12}",
    ) {
        let mut yaml: String = picks.iter().map(|pick| STEPS[*pick]).collect();
        yaml.push_str(ENDINGS[ending]);
        let yaml = if yaml.is_empty() { "[]".to_owned() } else { yaml };
        let model = steps(&yaml);
        let whole = answer(&model, conversation(&[&text]));
        for emitted in 0..whole.len() {
            let mut request = conversation(&[&text]);
            request.emitted = emitted as u32;
            prop_assert_eq!(&answer(&model, request)[..], &whole[emitted..]);
        }
    }

    #[test]
    fn a_turn_with_calls_goes_on_at_any_point_too(
        picks in proptest::collection::vec(0..STEPS.len() + CALLS.len(), 0..10),
        fails in proptest::collection::vec(any::<bool>(), 10),
        ending in 0..ENDINGS.len(),
    ) {
        let mut yaml = "- call: { tool: first }\n".to_owned();
        for pick in picks {
            yaml.push_str(STEPS.get(pick).unwrap_or_else(|| &CALLS[pick - STEPS.len()]));
        }
        yaml.push_str(ENDINGS[ending]);
        let outcome = |fails: &bool| if *fails { failure("no") } else { result("yes") };
        let results: Vec<_> = fails.iter().map(|fails| vec![outcome(fails), result("two")]).collect();
        check_resumption(&steps(&yaml), &conversation(&["some text"]), &results);
    }
}

const CALLS: &[&str] = &[
    "- call: { tool: a, input: { x: '{{result}}' } }\n",
    "- calls: [{ tool: a }, { tool: b }]\n",
    "- call: { tool: repair }\n  when: { failed: true }\n",
    "- say: '{{result}} {{failed}} {{results.0}}'\n  chunks: 3\n",
    "- say: [a, b]\n  when: { failed: false, result: yes }\n",
    "- fail: '{{result}}'\n  when: { failed: true, result: never }\n",
];

const STEPS: &[&str] = &[
    "- say: '{{text}}'\n",
    "- say: some longer text\n  chunks: 4\n",
    "- say: [a, b, '{{1}}']\n  repeat: 2\n",
    "- think: hm\n",
    "- wait: 0ms\n",
    "- artifact: { text: '{{text}}', chunks: 3 }\n",
    "- artifact: { bytes_text: abc, chunk_size: 1, repeat: 2 }\n",
    "- require_auth: { explanation: sign in, resume_after: 0s }\n",
];

const ENDINGS: &[&str] = &["", "- ask: more?\n", "- fail: no\n", "- end: input-required\n"];

#[test]
fn later_turns_go_on_where_they_were_too() {
    let model = script("rules:\n  - { text: go, steps: [{ say: a }, { ask: b }, { say: [c, d, e] }] }\n");
    let mut request = conversation(&["go", "on"]);
    let whole = answer(&model, request.clone());
    assert_eq!(whole.len(), 4);
    request.emitted = 2;
    assert_eq!(answer(&model, request), whole[2..]);
}

#[test]
fn a_script_that_became_shorter_just_ends() {
    let mut request = conversation(&["go"]);
    request.emitted = 7;
    assert_eq!(answer(&steps("- say: a"), request).len(), 1);
}
