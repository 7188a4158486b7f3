//! What each step does.

use attache_domain::ReplyShape;
use attache_model::{BuiltInModel, ModelChunk, ModelStreamItem};

use crate::world::{answer, conversation, play, script, steps, user};

/// Plays `yaml` to a caller who wrote "hello big world".
#[track_caller]
fn check(yaml: &str, expected: &[&str]) {
    assert_eq!(play(&steps(yaml), &["hello big world"]), expected);
}

#[test]
fn say_is_one_chunk_or_many() {
    check("- say: hi", &["text hi", "completed"]);
    check("- say: abcdef\n  chunks: 3", &["text ab", "text cd", "text ef", "completed"]);
    check("- say: abcde\n  chunk_size: 2", &["text ab", "text cd", "text e", "completed"]);
    check("- say: [a, b]", &["text a", "text b", "completed"]);
    check("- say: [a, b]\n  repeat: 2", &["text a", "text b", "text a", "text b", "completed"]);
    check(
        "- say: abcd\n  chunks: 2\n  repeat: 2",
        &["text ab", "text cd", "text ab", "text cd", "completed"],
    );
    check("- say: a\n  repeat: 0", &["completed"]);
    check("- say: a\n- say: b", &["text a", "text b", "completed"]);
}

#[test]
fn texts_have_placeholders() {
    check(
        "- say: '{{text}}|{{answer}}|{{turn}}|{{1}}|{{rest}}'",
        &["text hello big world|hello big world|1|hello|big world", "completed"],
    );
    check("- think: '{{1}}'\n- status: '{{rest}}'", &["thought hello", "completed: big world"]);
    check("- fail: '{{1}}'", &["failed: hello"]);
}

#[test]
fn turns_end_in_every_way() {
    check("- ask: Which?", &["input required: Which?"]);
    check("- refuse: no", &["rejected: no"]);
    check("- fail: broken", &["failed: broken"]);
    check("- require_auth: sign in", &["auth required: sign in"]);
    check("- require_auth: { explanation: sign in }", &["auth required: sign in"]);
    check("- status: fine", &["completed: fine"]);
    check("- end: completed", &["completed"]);
    check("- status: fine\n- end: completed", &["completed: fine"]);
    check("- end: input-required", &["input required"]);
    check("- status: your turn\n- end: input-required", &["input required: your turn"]);
    check("[]", &["completed"]);
}

#[test]
fn artifacts_hold_every_kind_of_content() {
    check(
        "- artifact: { id: a, name: '{{1}}', text: '{{rest}}', media_type: text/plain, filename: '{{1}}.txt' }",
        &["artifact a (hello) last: text big world [text/plain] [hello.txt]", "completed"],
    );
    check(
        "- artifact: { text: x }\n- say: y\n- artifact: { text: z }",
        &["artifact artifact-1-1 last: text x", "text y", "artifact artifact-1-3 last: text z", "completed"],
    );
    check("- artifact: { id: a, bytes: 'AAEC' }", &["artifact a last: raw AAEC", "completed"]);
    check("- artifact: { id: a, bytes_text: hello }", &["artifact a last: raw aGVsbG8=", "completed"]);
    check(
        "- artifact: { id: a, url: 'http://h/{{1}}' }",
        &["artifact a last: url http://h/hello", "completed"],
    );
    check(
        "- artifact: { id: a, data: { k: [1, 1.5, null, true, '{{1}}'] } }",
        &[r#"artifact a last: data {"k":[1,1.5,null,true,"hello"]}"#, "completed"],
    );
    check("- artifact: { id: a, data: null }", &["artifact a last: data null", "completed"]);
    check(
        "- artifact: { id: a, parts: [{ text: x, metadata: { m: '{{1}}' } }, { data: 1, filename: f }] }",
        &[r#"artifact a last: text x {"m":"hello"} + data 1 [f]"#, "completed"],
    );
}

#[test]
fn artifacts_come_in_pieces() {
    check(
        "- artifact: { id: a, name: n, text: abcdef, chunks: 3 }",
        &[
            "artifact a (n): text ab",
            "artifact a append: text cd",
            "artifact a append last: text ef",
            "completed",
        ],
    );
    check(
        "- artifact: { id: a, bytes: AAECAw==, chunk_size: 3, filename: f }",
        &["artifact a: raw AAEC [f]", "artifact a append last: raw Aw== [f]", "completed"],
    );
    check(
        "- artifact: { id: a, bytes_text: abcd, chunks: 2 }",
        &["artifact a: raw YWI=", "artifact a append last: raw Y2Q=", "completed"],
    );
    check(
        "- artifact: { id: a, data: 1, repeat: 3 }",
        &["artifact a: data 1", "artifact a append: data 1", "artifact a append last: data 1", "completed"],
    );
    check(
        "- artifact: { id: a, text: x, last: false }\n- artifact: { id: a, text: y, append: true }",
        &["artifact a: text x", "artifact a append last: text y", "completed"],
    );
}

#[test]
fn only_the_first_piece_of_an_artifact_describes_it() {
    let yaml = "- artifact: { text: ab, chunks: 2, description: d, metadata: { k: '{{1}}' }, extensions: ['urn:x'] }";
    let mut pieces =
        answer(&steps(yaml), conversation(&["hello"])).into_iter().filter_map(|item| match item {
            ModelStreamItem::Chunk(ModelChunk::Artifact { artifact, .. }) => Some(artifact),
            _ => None,
        });
    let (first, second) = (pieces.next().unwrap(), pieces.next().unwrap());
    assert_eq!(first.description.as_deref(), Some("d"));
    assert_eq!(serde_json::to_string(&first.metadata).unwrap(), r#"{"k":"hello"}"#);
    assert_eq!(first.extensions, ["urn:x"]);
    assert_eq!((second.description, second.metadata, second.extensions), (None, None, Vec::new()));
}

#[test]
fn a_credential_that_arrives_elsewhere_does_not_end_the_turn() {
    check(
        "- require_auth: { explanation: sign in, resume_after: 0ms }\n- say: thanks",
        &["credential sign in", "resumed", "text thanks", "completed"],
    );
}

#[test]
fn a_bare_answer_is_announced_and_given() {
    let model = script(
        "rules:\n  - { text: ^ping, steps: [{ answer: pong }] }\n  - { text: ^parts, steps: [{ answer: [{ text: a }, \
         { url: u, media_type: m }] }] }\n  - steps: [{ say: task }]\n",
    );
    let shape = |text| model.reply_shape(&user(text));
    assert_eq!(
        [shape("ping"), shape("parts"), shape("x")],
        [ReplyShape::Message, ReplyShape::Message, ReplyShape::Task]
    );
    assert_eq!(play(&model, &["ping"]), ["replied: pong".replace("pong", "text pong")]);
    assert_eq!(play(&model, &["parts"]), ["replied: text a + url u [m]"]);
}

#[test]
fn a_number_can_come_from_the_caller() {
    let model =
        script("rules:\n  - text: '^(\\w+) (\\d+)$'\n    steps: [{ say: '{{1}}', repeat: '{{2}}' }]\n");
    assert_eq!(play(&model, &["ab 2"]), ["text ab", "text ab", "completed"]);
    assert_eq!(play(&model, &["ab 0"]), ["completed"]);
    assert_eq!(
        play(&model, &["ab 100001"]),
        [
            "failed: The script cannot play this turn: `repeat` is \"100001\", which is not a whole number from 0 to 100000."
        ]
    );
}

#[test]
fn a_turn_that_grows_too_large_fails() {
    let model = steps("- say: '{{text}}'\n  repeat: 100000");
    let items = answer(&model, conversation(&["x".repeat(2_000_000).as_str()]));
    assert_eq!(items.len(), 65, "64 chunks of a mebibyte, then the end");
    assert!(
        crate::world::shown(&items[64])
            .starts_with("failed: The script cannot play this turn: it has more than")
    );

    let model = steps(&"- say: x\n  repeat: 100000\n".repeat(11));
    assert_eq!(answer(&model, conversation(&["go"])).len(), 1_000_001);
}

#[test]
fn several_text_parts_are_one_text() {
    let mut request = conversation(&["one"]);
    let parts = vec![attache_domain::Part::text("one"), attache_domain::Part::text("two")];
    request.history = vec![crate::world::message("m", attache_domain::Role::User, parts)];
    let model = steps("- say: '<{{text}}>'");
    let shown: Vec<String> = answer(&model, request).iter().map(crate::world::shown).collect();
    assert_eq!(shown, ["text <one\ntwo>", "completed"]);
}
