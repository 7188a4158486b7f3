use proptest::prelude::*;

use serde_json::json;

use super::*;

#[track_caller]
fn add(text: &str, expected: &str) {
    let document = JsonDocument::parse(text).unwrap();
    assert_eq!(document.with("mcpServers", "new", &json!({ "url": "u" })).unwrap(), expected);
}

#[test]
fn a_server_is_put_into_whatever_is_there() {
    let whole = "{\n  \"mcpServers\": {\n    \"new\": {\n      \"url\": \"u\"\n    }\n  }\n}\n";
    add("", whole);
    add(" \n", whole);
    add("{}\n", whole);
    add(
        "{\n    // how it looks\n    \"ui\": { \"theme\": \"dark\", }, // keep\n}\n",
        "{\n    // how it looks\n    \"ui\": { \"theme\": \"dark\", }, // keep\n    \"mcpServers\": {\n        \"new\": {\n            \
         \"url\": \"u\"\n        }\n    },\n}\n",
    );
    add(
        "{\n  \"mcpServers\": {\n    \"old\": { \"command\": \"x\" } // mine\n  },\n  \"z\": 1\n}\n",
        "{\n  \"mcpServers\": {\n    \"old\": { \"command\": \"x\" }, // mine\n    \"new\": {\n      \"url\": \"u\"\n    }\n  },\n  \
         \"z\": 1\n}\n",
    );
    add("{\"mcpServers\": {}}", "{\"mcpServers\": {\n    \"new\": {\n      \"url\": \"u\"\n    }\n  }}");
    add(
        "{\r\n\t\"mcpServers\": { // none yet\r\n\t}\r\n}",
        "{\r\n\t\"mcpServers\": { // none yet\r\n\t\t\"new\": {\r\n\t\t\t\"url\": \"u\"\r\n\t\t}\r\n\t}\r\n}",
    );
}

#[test]
fn a_known_server_is_exchanged_in_its_place() {
    add(
        "{\n  \"mcpServers\": {\n    \"a\": {}, // first\n    \"new\": { \"command\": \"old\" }, // second\n    \"b\": {}\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": {}, // first\n    \"new\": {\n      \"url\": \"u\"\n    }, // second\n    \"b\": {}\n  }\n}\n",
    );
}

#[test]
fn a_value_far_inside_is_set_and_comments_stay() {
    let path = ["agents", "overrides", "helper", "enabled"];
    let set = |text: &str, value: bool| {
        let text = JsonDocument::parse(text).unwrap().with_at(&path, &json!(value)).unwrap();
        assert_eq!(JsonDocument::parse(&text).unwrap().at(&path), Some(&json!(value)), "{text}");
        text
    };
    let known = "{\n  // mine\n  \"agents\": {\"overrides\": {\"helper\": {\"enabled\": true /* why */}}}, // end\n}\n";
    assert_eq!(set(known, false), known.replace("true", "false"));
    let other = "{\n  \"agents\": {\n    // first\n    \"overrides\": {\n      \"x\": {}\n    }\n  }\n}\n";
    let after = set(other, false);
    assert!(after.contains("// first") && after.contains("\"x\": {},\n      \"helper\""), "{after}");
    set("", true);
    for wrong in ["{\"agents\": []}", "{\"agents\": {\"overrides\": 1}}"] {
        let document = JsonDocument::parse(wrong).unwrap();
        let error = document.with_at(&path, &json!(true)).unwrap_err();
        assert!(matches!(error, EditError::MemberNoObject(_)), "{error}");
        assert_eq!(document.at(&path), None);
    }
}

#[track_caller]
fn remove(text: &str, name: &str, expected: Option<&str>) {
    let document = JsonDocument::parse(text).unwrap();
    assert_eq!(document.without("mcpServers", name).unwrap().as_deref(), expected);
}

#[test]
fn a_server_is_taken_out_with_its_comma() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\"x\": 1},\n    // about b\n    \"b\": {},\n    \"c\": {}\n  }\n}\n";
    let after = |lines: &str| format!("{{\n  \"mcpServers\": {{\n{lines}  }}\n}}\n");
    remove(text, "a", Some(&after("    // about b\n    \"b\": {},\n    \"c\": {}\n")));
    remove(text, "b", Some(&after("    \"a\": {\"x\": 1},\n    // about b\n    \"c\": {}\n")));
    remove(text, "c", Some(&after("    \"a\": {\"x\": 1},\n    // about b\n    \"b\": {}\n")));
    remove(text, "d", None);
    remove("{}", "a", None);
    remove("{\"mcpServers\": {\"a\": 1, }}", "a", Some("{\"mcpServers\": {}}"));
    remove("{\"mcpServers\": {\"a\": 1 /* one */, \"b\": 2}}", "a", Some("{\"mcpServers\": { \"b\": 2}}"));
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let refusal = match JsonDocument::parse(text) {
        Ok(document) => document.with("mcpServers", "new", &json!({})).unwrap_err(),
        Err(error) => error,
    };
    assert!(refusal.to_string().contains(expected), "{refusal}");
}

#[test]
fn what_is_not_understood_is_not_touched() {
    refused("{\"a\": }", "not valid JSON: unexpected close brace at line 1");
    refused("{} /* open", "not valid JSON");
    refused("[]", "no JSON object");
    refused("{\"mcpServers\": []}", "not an object");
    refused("{\"mcpServers\": {}, \"mcpServers\": {}}", "\"mcpServers\" twice");
    refused("{\"mcpServers\": {\"new\": 1, \"new\": 2}}", "\"new\" twice");
}

fn comment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n", " // x\n", "/* , } */", "\r\n  "])
}

proptest! {
    #[test]
    fn adding_and_removing_leaves_the_rest_as_it_was(
        gaps in prop::collection::vec(comment(), 8),
        trailing in any::<bool>(),
        before in any::<bool>(),
    ) {
        let [a, b, c, d, e, f, g, h] = gaps[..] else { unreachable!("eight gaps") };
        let comma = if trailing { "," } else { "" };
        let other = if before { format!("\"old\": 1{e}") } else { String::new() };
        let last = if before { comma } else { "" };
        let text = format!("{a}{{{b}\"x\": [1]{c},{d}\"mcpServers\": {{{other}{last}{f}}}{comma}{g}}}{h}");
        let document = JsonDocument::parse(&text).unwrap();
        let added = document.with("mcpServers", "new", &json!({ "args": ["a,b"] })).unwrap();
        let comments = |text: &str| (text.matches("// x").count(), text.matches("/* , } */").count());
        prop_assert_eq!(comments(&added), comments(&text));
        let removed = JsonDocument::parse(&added).unwrap().without("mcpServers", "new").unwrap().unwrap();
        prop_assert_eq!(JsonDocument::parse(&removed).unwrap().value, document.value);
    }
}
