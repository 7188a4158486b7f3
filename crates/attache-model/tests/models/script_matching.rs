//! Which rule answers, turn by turn.

use std::sync::Arc;

use attache_domain::{Message, Part, Role, TaskId};
use attache_model::ModelRequest;

use crate::world::{answer, conversation, message, play, script, shown, user};

#[test]
fn the_first_rule_that_fits_answers() {
    let model = script(
        "rules:\n  - { text: '^a', steps: [{ say: first }] }\n  - { text: a, steps: [{ say: second }] }\n  - { steps: \
         [{ say: default }] }\n",
    );
    assert_eq!(play(&model, &["abc"])[0], "text first");
    assert_eq!(play(&model, &["bac"])[0], "text second");
    assert_eq!(play(&model, &["xyz"])[0], "text default");
}

#[test]
fn a_rule_can_look_at_the_message_id_or_at_both() {
    let model = script(
        "rules:\n  - { message_id: a-, text: x, steps: [{ say: both }] }\n  - { message_id: a-, steps: [{ say: id }] }\n",
    );
    let said = |id: &str, text: &str| {
        let history = vec![message(id, Role::User, vec![Part::text(text)])];
        shown(&answer(&model, ModelRequest { history, turn: 1, emitted: 0, results: Vec::new() })[0])
    };
    assert_eq!(said("a-1", "x"), "text both");
    assert_eq!(said("a-1", "y"), "text id");
    assert!(said("b-a-1", "x").starts_with("text No rule of the script matches"));
}

#[test]
fn what_happens_otherwise_is_built_in_or_chosen() {
    let rules = "rules:\n  - { name: greet, text: ^hello, steps: [] }\n  - { text: ^bye, steps: [] }\n";
    let built_in = play(&script(rules), &["what"]);
    assert!(built_in[0].contains("The rules are: rule 1 (greet), rule 2."), "{built_in:?}");
    assert_eq!(built_in[1], "completed");
    assert_eq!(
        play(&script(&format!("{rules}otherwise: '<{{{{text}}}}>'")), &["what"]),
        ["text <what>", "completed"]
    );
    assert_eq!(play(&script(&format!("{rules}otherwise: [{{ refuse: no }}]")), &["what"]), ["rejected: no"]);
}

#[test]
fn steps_after_a_question_are_played_in_the_next_turn() {
    let model = script(
        "rules:\n  - text: ^order (.+)$\n    steps:\n      - ask: How many {{1}}?\n      - require_auth: sign in\n      - \
         say: '{{text}}/{{answer}}/{{turn}}'\n  - { text: ^2$, steps: [{ say: wrong }] }\n  - { text: ^more$, steps: \
         [{ ask: What? }, { say: 'more {{answer}}' }] }\n",
    );
    assert_eq!(play(&model, &["order tea"]), ["input required: How many tea?"]);
    assert_eq!(play(&model, &["order tea", "2"]), ["auth required: sign in"]);
    assert_eq!(play(&model, &["order tea", "2", "done"]), ["text order tea/done/3", "completed"]);
    // The segments have run out, so the latest message chooses again, and its rule goes on from there.
    assert_eq!(play(&model, &["order tea", "2", "done", "more"]), ["input required: What?"]);
    assert_eq!(play(&model, &["order tea", "2", "done", "more", "milk"]), ["text more milk", "completed"]);
}

#[test]
fn a_question_at_the_end_lets_the_answer_choose() {
    let model = script(
        "rules:\n  - { text: ^start$, steps: [{ ask: yes or no? }] }\n  - { text: ^yes$, turn: 2, steps: [{ say: good \
         }] }\n  - { text: ^yes$, turn: any, steps: [{ say: early }] }\n",
    );
    assert_eq!(play(&model, &["start"]), ["input required: yes or no?"]);
    assert_eq!(play(&model, &["start", "yes"]), ["text good", "completed"]);
    assert_eq!(play(&model, &["yes"]), ["text early", "completed"]);
}

#[test]
fn an_ending_right_after_a_question_takes_any_answer() {
    let model = script("rules:\n  - { text: go, steps: [{ ask: ok? }, { end: completed }] }\n");
    assert_eq!(play(&model, &["go", "whatever"]), ["completed"]);
}

#[test]
fn a_rule_with_a_bare_answer_fits_only_the_opening_message() {
    let model = script(
        "rules:\n  - { text: ping, steps: [{ answer: pong }] }\n  - { text: stay, steps: [{ end: input-required }] }\n  \
         - { steps: [{ say: task }] }\n",
    );
    assert_eq!(play(&model, &["ping"]), ["replied: text pong"]);
    assert_eq!(play(&model, &["stay", "ping"]), ["text task", "completed"]);
}

#[test]
fn messages_of_earlier_tasks_of_the_conversation_do_not_count() {
    let model = script(
        "rules:\n  - { text: ^one$, steps: [{ ask: '?' }, { say: second }] }\n  - { text: ^two$, steps: [{ say: fresh }] \
         }\n",
    );
    let earlier = Message { task: Some(TaskId::from("earlier")), ..(*user("one")).clone() };
    let mut request = conversation(&["two"]);
    request.history.insert(0, Arc::new(earlier));
    assert_eq!(shown(&answer(&model, request)[0]), "text fresh");
}

#[test]
fn a_request_without_messages_is_answered_too() {
    let model = script("rules:\n  - { steps: [{ say: '<{{text}}{{answer}}>' }] }\n");
    let request = ModelRequest { history: Vec::new(), turn: 0, emitted: 0, results: Vec::new() };
    assert_eq!(shown(&answer(&model, request)[0]), "text <>");
}
