use super::*;

fn environment(name: &str) -> Option<String> {
    (name == "KEY").then(|| "s3cret".into())
}

#[test]
fn variables_stand_for_their_values() {
    for (text, expected) in [
        ("plain", "plain"),
        ("$KEY", "s3cret"),
        ("a-${KEY}-b", "a-s3cret-b"),
        ("$KEYS ${NONE} $ $1", "$KEYS ${NONE} $ $1"),
        ("${KEY", "${KEY"),
        ("$KEY$KEY", "s3crets3cret"),
        ("ä$KEY.ö", "äs3cret.ö"),
    ] {
        assert_eq!(expand(text, &environment), expected);
    }
}

#[track_caller]
fn transport(entry: Value, expected: Result<Transport, &str>) {
    match (to_options("a", &entry, &environment), expected) {
        (Ok(options), Ok(expected)) => assert_eq!(options.transport, expected),
        (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
        (found, expected) => panic!("{entry}: {found:?}, expected {expected:?}"),
    }
}

#[test]
fn the_newest_way_of_naming_a_server_wins() {
    let url = || String::from("https://a");
    let headers = || vec![("X".into(), Secret::new("s3cret"))];
    transport(
        json!({ "httpUrl": "https://a", "url": "https://b", "command": "c" }),
        Ok(Transport::Http { url: url(), headers: vec![] }),
    );
    transport(
        json!({ "url": "https://a", "command": "c", "headers": { "X": "$KEY" } }),
        Ok(Transport::Detect { url: url(), headers: headers() }),
    );
    transport(
        json!({ "url": "https://a", "type": "http" }),
        Ok(Transport::Http { url: url(), headers: vec![] }),
    );
    transport(
        json!({ "url": "https://a", "type": "sse" }),
        Ok(Transport::Sse { url: url(), headers: vec![] }),
    );
    transport(
        json!({ "command": "c", "args": ["$KEY"], "env": { "N": 1 }, "cwd": "d" }),
        Ok(Transport::Stdio {
            command: "c".into(),
            args: vec!["s3cret".into()],
            env: vec![("N".into(), Secret::new("1"))],
            directory: Some("d".into()),
        }),
    );
}

#[test]
fn what_is_wrong_with_an_entry_is_told() {
    transport(json!({}), Err("neither `command` nor `url`"));
    transport(json!(1), Err("not an object"));
    transport(json!({ "url": "https://a", "type": "tcp" }), Err("can be \"http\" or \"sse\""));
    transport(json!({ "command": 1 }), Err("`command` is not a text"));
    transport(json!({ "command": "c", "args": [1] }), Err("`args` is not a list of texts"));
    transport(json!({ "command": "c", "env": { "N": [] } }), Err("`env.N` is not a text"));
    transport(json!({ "command": "c", "timeout": -1 }), Err("milliseconds"));
}

#[test]
fn names_are_plain() {
    for name in ["a", "git-hub.2", "x_y"] {
        check_name(name).unwrap();
    }
    for name in ["", "a b", "ä", "a/b", "-a", "a\"b", &"x".repeat(65)] {
        check_name(name).unwrap_err();
    }
}
