//! Calls of tools, and what becomes of their results.

use std::collections::BTreeSet;
use std::time::Duration;

use attache_domain::ToolResult;
use attache_model::{BuiltInModel, ModelStreamItem, TurnFinish};
use futures_util::StreamExt;

use crate::world::{check_resumption, conversation, failure, result, rounds, script, shown, steps};

/// Plays `yaml` to a caller who wrote "hello big world" and whose calls come to `results`.
#[track_caller]
fn check(yaml: &str, results: &[Vec<ToolResult>], expected: &[&str]) {
    let request = conversation(&["hello big world"]);
    let played = rounds(&steps(yaml), &request, results);
    let played: Vec<String> = played.iter().map(|(_, _, item)| shown(item)).collect();
    assert_eq!(played, expected);
    check_resumption(&steps(yaml), &request, results);
}

#[test]
fn a_call_stands_anywhere_in_a_turn() {
    let call = "- call: { tool: look, input: { at: '{{1}}', deep: [1, '{{rest}}'] } }\n";
    let made = r#"calls: look {"at":"hello","deep":[1,"big world"]}"#;
    let one = [vec![result("seen")]];
    check(call, &one, &[made, "completed"]);
    check(call, &[], &[made]);
    check(&format!("- say: a\n{call}"), &one, &["text a", made, "completed"]);
    check(&format!("{call}- say: b"), &one, &[made, "text b", "completed"]);
    check(
        &format!("- say: [a, b]\n{call}- think: '{{{{result}}}}'\n- ask: more?"),
        &one,
        &["text a", "text b", made, "thought seen", "input required: more?"],
    );
    check(&format!("{call}{call}"), &[one[0].clone(), one[0].clone()], &[made, made, "completed"]);
    check("- call: { tool: look }", &one, &["calls: look {}", "completed"]);
    check(&format!("{call}- fail: '{{{{result}}}}'"), &one, &[made, "failed: seen"]);
    check(&format!("{call}- status: '{{{{result}}}}'"), &one, &[made, "completed: seen"]);
    check(&format!("{call}- end: input-required"), &one, &[made, "input required"]);
}

#[test]
fn several_calls_are_made_together_and_have_their_results_by_place() {
    check(
        "- calls: [{ tool: a }, { tool: b, input: { x: 1 } }]\n- call: { tool: c, input: { of: '{{results.0}}' } }\n\
         - say: '{{results.0}}/{{results.1}}/{{results.2}}/{{result}}/{{failed}}'",
        &[vec![result("A"), failure("B")], vec![result("C")]],
        &[r#"calls: a {} + b {"x":1}"#, r#"calls: c {"of":"A"}"#, "text A/B/C/C/false", "completed"],
    );
}

#[test]
fn steps_depend_on_what_came_of_a_call() {
    let yaml = "- call: { tool: a }\n- say: fine\n  when: { failed: false }\n- say: 'broken: {{result}}'\n  when: { failed: \
                true }\n- artifact: { id: x, text: seven }\n  when: { result: '^7$' }\n- fail: all is lost\n  when: { \
                failed: true, result: lost }\n- say: end";
    let played = |result| [vec![result]];
    check(yaml, &played(result("ok")), &["calls: a {}", "text fine", "text end", "completed"]);
    check(
        yaml,
        &played(result("7")),
        &["calls: a {}", "text fine", "artifact x last: text seven", "text end", "completed"],
    );
    check(
        yaml,
        &played(failure("[Operation Cancelled] no")),
        &["calls: a {}", "text broken: [Operation Cancelled] no", "text end", "completed"],
    );
    check(yaml, &played(failure("lost")), &["calls: a {}", "text broken: lost", "failed: all is lost"]);
    check(yaml, &played(result("lost")), &["calls: a {}", "text fine", "text end", "completed"]);
}

#[test]
fn a_call_that_is_passed_over_leaves_the_others_where_they_are() {
    let yaml = "- call: { tool: a }\n- calls: [{ tool: repair }, { tool: again }]\n  when: { failed: true }\n- refuse: no\n  \
                when: { failed: true }\n- call: { tool: c }\n- say: '{{results.0}},{{results.1}},{{results.3}}'";
    check(
        yaml,
        &[vec![result("A")], vec![result("C")]],
        &["calls: a {}", "calls: c {}", "text A,,C", "completed"],
    );
    check(
        yaml,
        &[vec![failure("A")], vec![result("R"), result("S")], vec![result("C")]],
        &["calls: a {}", "calls: repair {} + again {}", "calls: c {}", "text A,R,C", "completed"],
    );
    check(
        yaml,
        &[vec![failure("A")], vec![result("R"), failure("S")]],
        &["calls: a {}", "calls: repair {} + again {}", "rejected: no"],
    );
}

#[test]
fn every_turn_has_results_of_its_own() {
    let model = script(
        "rules:\n  - text: go\n    steps:\n      - call: { tool: a }\n      - ask: '{{result}}?'\n      - call: { tool: b }\n      \
         - say: '{{results.0}}'\n",
    );
    let last = |texts: &[&str], results: &[Vec<ToolResult>]| {
        let played = rounds(&model, &conversation(texts), results);
        played.iter().map(|(_, _, item)| shown(item)).collect::<Vec<_>>()
    };
    assert_eq!(last(&["go"], &[vec![result("A")]]), ["calls: a {}", "input required: A?"]);
    assert_eq!(last(&["go", "on"], &[vec![result("B")]]), ["calls: b {}", "text B", "completed"]);
}

#[test]
fn calls_are_told_apart_within_a_task() {
    let model = script(
        "rules:\n  - text: go\n    steps:\n      - calls: [{ tool: a }, { tool: a }]\n      - call: { tool: a }\n      - ask: more?\n      \
         - call: { tool: a }\n",
    );
    let results = [vec![result(""), result("")], vec![result("")]];
    let mut ids = Vec::new();
    for texts in [&["go"][..], &["go", "on"]] {
        for (_, _, item) in rounds(&model, &conversation(texts), &results) {
            if let ModelStreamItem::Finish(TurnFinish::Calls(calls)) = item {
                ids.extend(calls.into_iter().map(|call| call.id));
            }
        }
    }
    assert_eq!(ids.len(), 4);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 4, "{ids:?}");
}

#[test]
fn a_tool_can_be_named_by_the_caller_but_not_be_left_out() {
    let model = script("rules:\n  - { text: '^use ?(.*)$', steps: [{ call: { tool: '{{1}}' } }] }\n");
    let play = |text| crate::world::play(&model, &[text]);
    assert_eq!(play("use glob"), ["calls: glob {}"]);
    assert_eq!(
        play("use"),
        ["failed: The script cannot play this turn: the name of the tool to call is empty."]
    );
}

#[test]
fn results_that_are_too_few_or_too_many_do_no_harm() {
    let calls = "calls: a {} + b {}";
    let yaml = "- calls: [{ tool: a }, { tool: b }]\n- say: '{{results.0}}|{{results.1}}'";
    check(yaml, &[vec![result("A")]], &[calls, "text A|", "completed"]);
    check(yaml, &[vec![]], &[calls, "text |", "completed"]);
    let mut request = conversation(&["hello"]);
    request.results = vec![vec![result("A"), result("B"), result("C")], vec![result("D")]];
    let items = crate::world::answer(&steps(yaml), request);
    assert_eq!(items.iter().map(shown).collect::<Vec<_>>(), ["text A|B", "completed"]);
}

#[test]
fn a_call_that_grows_too_large_fails_the_turn() {
    let calls = "{ tool: a, input: { x: '{{text}}' } }, ".repeat(70);
    let model = steps(&format!("- calls: [{calls}]"));
    let items = crate::world::answer(&model, conversation(&["x".repeat(1_000_000).as_str()]));
    assert!(shown(&items[0]).starts_with("failed: The script cannot play this turn: it has more than"));
}

#[tokio::test(start_paused = true)]
async fn waits_before_an_answered_call_are_not_repeated() {
    let model = steps("- wait: 30s\n- say: a\n- wait: 20s\n- call: { tool: a }\n- wait: 2s\n- say: b");
    let mut request = conversation(&["go"]);
    let start = tokio::time::Instant::now();
    assert_eq!(model.stream(request.clone()).collect::<Vec<_>>().await.len(), 2);
    assert_eq!(start.elapsed(), Duration::from_secs(50));
    (request.emitted, request.results) = (1, vec![vec![result("A")]]);
    let items: Vec<_> = model.stream(request).map(|item| shown(&item.unwrap())).collect().await;
    assert_eq!(items, ["text b", "completed"]);
    assert_eq!(start.elapsed(), Duration::from_secs(52));
}
