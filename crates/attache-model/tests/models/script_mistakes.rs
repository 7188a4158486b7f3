//! The errors for wrong scripts.

use attache_model::script::{ScriptError, ScriptModel};

#[track_caller]
fn check(yaml: &str, expected: &str) {
    let error = ScriptModel::from_yaml(yaml).expect_err(yaml).to_string();
    assert!(error.contains(expected), "expected\n  {expected}\nin\n  {error}");
}

/// The steps of rule 1, which is called "greet" and begins on line 2.
#[track_caller]
fn check_step(steps: &str, expected: &str) {
    let steps: String = steps.lines().map(|line| format!("      {line}\n")).collect();
    check(&format!("rules:\n  - name: greet\n    text: '^(a)'\n    steps:\n{steps}"), expected);
}

#[test]
fn a_script_is_a_map_of_rules() {
    check("", "line 1: expected a script, a map with the keys `rules`, `otherwise`, found nothing");
    check("[1]", "expected a script, a map with the keys `rules`, `otherwise`, found a list");
    check("{}", "a script needs the key `rules`");
    check("rules: []", "`rules` is empty: a script needs at least one rule");
    check("rules: x", "expected a list of rules, found the text \"x\"");
    check(
        "rulez: []",
        "line 1: unknown key `rulez`: did you mean `rules`? A script has `rules`, `otherwise`",
    );
    check("rules: [{ steps: [] }]\notherwise: 5", "line 2: otherwise: expected a text or a list of steps");
    check("rules: [{ steps: [] }]\notherwise: '{{1}}'", "asks for group 1, but the rule's `text` has 0");
    check("rules: [{ steps: [] }]\notherwise: [{ sya: a }]", "line 2: otherwise, step 1: unknown key `sya`");
}

#[test]
fn yaml_that_cannot_be_read_is_pointed_at() {
    check("rules:\n  - [", "line 2: this is not YAML: unclosed bracket '['");
    check("rules:\n  - steps:\n      - say: {{text}}", "line 3: this is not YAML");
    check(
        "rules:\n  - steps:\n      - say: {{text}}",
        "a value that begins with `{{` needs quotes around it",
    );
    check("rules: []\nrules: []", "line 2: this is not YAML: duplicate mapping key: rules");
    check(&"[".repeat(1000), "line 1: this is not YAML");
}

#[test]
fn rules_are_checked() {
    check(
        "rules:\n  - step: []",
        "line 2: rule 1: unknown key `step`: did you mean `steps`? A rule has `name`, `text`",
    );
    check("rules:\n  - text: a", "line 2: rule 1: a rule needs the key `steps`");
    check(
        "rules:\n  - text: '('\n    steps: []",
        "line 2: rule 1: `text` is not a regular expression: unclosed group",
    );
    check("rules:\n  - { turn: 0, steps: [] }", "rule 1: expected `any` or a whole number from 1 to");
    check("rules:\n  - { turn: first, steps: [] }", "found the text \"first\"");
    check(
        "rules:\n  - { message_id: 5, steps: [] }",
        "expected a text, found the number 5: put it in quotes",
    );
    check(
        "rules:\n  - { steps: [] }\n  - { name: b, text: x, steps: [] }",
        "line 3: rule 2 (b): it is never reached, because rule 1 matches everything: put that one last",
    );
    check(
        "rules:\n  - { turn: 2, steps: [{ answer: a }] }",
        "line 2: rule 1: a rule with `answer` can only begin in turn 1",
    );
}

#[test]
fn steps_are_checked() {
    let known = "A step is one of `say`, `think`, `ask`, `wait`, `artifact`, `call`, `calls`, `refuse`, \
                 `require_auth`, `fail`, `answer`, `status`, `end`";
    check_step(
        "- say: a\n- sya: b",
        "line 6: rule 1 (greet), step 2: unknown key `sya`: did you mean `say`?",
    );
    check_step("- sya: b", known);
    check_step("- {}", "this step is empty");
    check_step("- hello", "step 1: expected a step, a map with one of `say`");
    check_step("- say: a\n  think: b", "line 6: rule 1 (greet), step 1: `say` and `think` are two steps");
    check_step(
        "- say: a\n  chunk: 3",
        "unknown key `chunk`: did you mean `chunks`? A `say` step has `say`, `chunks`",
    );
    check_step("- think: a\n  chunks: 3", "unknown key `chunks`. A `think` step has `think`, `when`");
    check_step("- say: 5", "expected a text, found the number 5: put it in quotes");
    check_step("- say: true", "found `true`: put it in quotes");
    check_step("- say:", "expected a text, or a list of texts, found nothing");
    check_step("- say: []", "`say` has an empty list");
    check_step("- say: [a]\n  chunks: 2", "the texts of the list are the chunks already");
    check_step(
        "- say: a\n  chunks: 0",
        "line 6: rule 1 (greet), step 1: expected a whole number from 1 to 10000, found",
    );
    check_step("- say: a\n  chunks: 2\n  chunk_size: 3", "`chunks` and `chunk_size` contradict each other");
    check_step("- say: a\n  repeat: 100001", "a whole number from 0 to 100000, found the number 100001");
    check_step(
        "- say: a\n  every: 5",
        "expected a time of at most 24 hours such as `200ms`, `1.5s` or `2m`, found",
    );
    check_step("- wait: soon", "found the text \"soon\"");
    check_step("- end: canceled", "expected `completed` or `input-required`, found the text \"canceled\"");
    check_step("- say: 'a {{2}}'", "`{{2}}` asks for group 2, but the rule's `text` has 1");
    check_step(
        "- say: 'a {{name}}'",
        "unknown placeholder `{{name}}`: there are `text`, `answer`, `turn` and",
    );
    check_step(
        "- require_auth: { why: x }",
        "unknown key `why`. `require_auth` has `explanation`, `resume_after`",
    );
    check_step("- require_auth: { resume_after: 1s }", "`require_auth` needs the key `explanation`");
}

#[test]
fn the_order_of_steps_is_checked() {
    check_step(
        "- fail: a\n- say: b",
        "step 2: it is never played, because the task ends with `fail` before it",
    );
    check_step("- end: completed\n- say: b", "because the task ends with `end` before it");
    check_step("- status: a\n- status: b", "step 2: `status` is set already");
    check_step("- status: a\n- ask: b", "`status` and `ask` both set the final status message");
    check_step(
        "- say: a\n- answer: b",
        "`answer` replies without a task, so only `wait` can stand before it",
    );
    check_step("- ask: a\n- answer: b", "`answer` replies without a task");
    check_step("- answer: { text: a }", "expected a text, or a list of parts, found a map");
}

#[test]
fn artifacts_are_checked() {
    let contents = "exactly one of `text`, `bytes`, `bytes_text`, `url`, `data` is needed";
    check_step("- artifact: { id: a }", &format!("{contents}, found none"));
    check_step("- artifact: { text: a, url: b }", &format!("{contents}, found `text`, `url`"));
    check_step("- artifact: { txt: a }", "unknown key `txt`: did you mean `text`? An artifact has `id`");
    check_step("- artifact: a", "expected an artifact, a map with the keys `id`");
    check_step("- artifact: { bytes: 'a b!' }", "`bytes` is not base64");
    check_step(
        "- artifact: { data: 1, chunks: 2 }",
        "only one `text`, `bytes` or `bytes_text` can be cut into chunks",
    );
    check_step("- artifact: { parts: [{ text: a }, { text: b }], chunks: 2 }", "can be cut into chunks");
    check_step(
        "- artifact: { parts: [{ text: a }], text: b }",
        "`parts` and `text` are two ways to say one thing",
    );
    check_step("- artifact: { parts: [] }", "the list of parts is empty");
    check_step("- artifact: { parts: [{ id: a }] }", "unknown key `id`. A part has `text`");
    check_step(
        "- artifact: { id: answer-1, text: a }",
        "ids that begin with `answer-` belong to what is said",
    );
    check_step("- artifact: { text: a, last: 1 }", "expected `true` or `false`, found the number 1");
    check_step("- artifact: { text: a, metadata: [1] }", "expected a map, found a list");
    check_step("- artifact: { text: a, extensions: x }", "expected a list of URIs, found the text \"x\"");
}

#[test]
fn calls_are_checked() {
    check_step(
        "- call: look",
        "expected a call, a map with the keys `tool`, `input`, found the text \"look\"",
    );
    check_step(
        "- say: a\n- call: { input: {} }",
        "line 6: rule 1 (greet), step 2: a call needs the key `tool`",
    );
    check_step(
        "- call:\n    tool: a\n    inputs: {}",
        "line 7: rule 1 (greet), step 1: unknown key `inputs`",
    );
    check_step("- call: { tool: 5 }", "expected a text, found the number 5: put it in quotes");
    check_step("- call: { tool: ' ' }", "`tool` must not be empty: write the name of a tool");
    check_step("- call: { tool: a, input: [1] }", "expected a map, found a list");
    check_step("- call: { tool: a, input: { x: '{{2}}' } }", "asks for group 2, but the rule's `text` has 1");
    check_step("- call: [{ tool: a }]", "expected a call, a map with the keys `tool`, `input`, found a list");
    check_step("- calls: { tool: a }", "expected a list of calls, found a map");
    check_step("- calls: []", "`calls` has an empty list: give it at least one call");
    check_step(
        "- calls: [{ tool: a }, { tol: b }]",
        "unknown key `tol`: did you mean `tool`? A call has `tool`, `input`",
    );
    check_step(
        &format!("- calls: [{}]", "{ tool: a }, ".repeat(101)),
        "there are 101 calls, and one step has at most 100",
    );
    check_step(
        "- call: { tool: a }\n- answer: b",
        "`answer` replies without a task, so only `wait` can stand before it",
    );
    check_step("- call: { tool: a }\n  calls: []", "`call` and `calls` are two steps");
}

#[test]
fn results_are_used_only_after_a_call_of_the_same_turn() {
    let call = "- call: { tool: a }\n";
    check_step(
        "- say: '{{result}}'",
        "step 1: `{{result}}` stands for the result of a call, but there is no `call` before it",
    );
    check_step("- call: { tool: a, input: { x: '{{failed}}' } }", "there is no `call` before it in its turn");
    check_step(
        &format!("{call}- ask: b\n- say: '{{{{result}}}}'"),
        "line 7: rule 1 (greet), step 3: `{{result}}` stands for",
    );
    check_step(
        &format!("{call}- say: '{{{{results.1}}}}'"),
        "the calls before it in its turn are numbered 0 to 0",
    );
    check_step(
        &format!("{call}- say: '{{{{reslt}}}}'"),
        "there are `text`, `answer`, `turn`, `result`, `results.0`, `failed` and",
    );
    check_step(
        "- say: a\n  when: { failed: true }",
        "line 6: rule 1 (greet), step 1: `when` looks at the result of a call, but",
    );
    check_step(
        &format!("{call}- ask: b\n  when: {{ failed: true }}"),
        "unknown key `when`. An `ask` step has `ask`",
    );
    check_step(
        &format!("{call}- say: b\n  when: true"),
        "expected `when`, a map with the keys `failed`, `result`, found `true`",
    );
    check_step(
        &format!("{call}- say: b\n  when: {{}}"),
        "line 7: rule 1 (greet), step 2: `when` needs `failed` or `result`",
    );
    check_step(
        &format!("{call}- say: b\n  when: {{ failed: 1 }}"),
        "expected `true` or `false`, found the number 1",
    );
    check_step(
        &format!("{call}- say: b\n  when: {{ result: '(' }}"),
        "`result` is not a regular expression: unclosed group",
    );
    check_step(
        &format!("{call}- say: b\n  when: {{ fails: true }}"),
        "unknown key `fails`: did you mean `failed`? `when` has",
    );
}

#[test]
fn sizes_are_bounded() {
    let long = format!("# {}", "x".repeat(1024 * 1024));
    let error = ScriptModel::from_yaml(&long).unwrap_err();
    assert!(matches!(error, ScriptError::TooLarge { size } if size == long.len()));
    check(
        &format!("rules:\n{}", "  - { text: a, steps: [] }\n".repeat(1001)),
        "there are 1001 rules, and at most 1000",
    );
    check_step(&"- say: a\n".repeat(10_001), "line 10005: rule 1 (greet): a rule has at most 10000 steps");
}

#[test]
fn aliases_cannot_be_used_to_grow_a_script() {
    let doubling: String =
        (1..40).map(|level| format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1)).collect();
    check(&format!("a0: &a0 x\n{doubling}"), "this is not YAML");
    let nesting: String = (1..5000).map(|level| format!("a{level}: &a{level} [*a{}]\n", level - 1)).collect();
    check(
        &format!("a0: &a0 x\n{nesting}"),
        "line 33: this is not YAML: budget breached: Depth { depth: 33 }",
    );
}
