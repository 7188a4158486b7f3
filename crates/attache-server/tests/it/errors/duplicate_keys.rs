//! A duplicate key in an object is ambiguous: a proxy in front may have read the other value.

use serde_json::json;

use super::start;
use attache_testkit::pairs::{Ask, INVALID_REQUEST, Pair, Refusal, bytes};

#[tokio::test]
async fn a_key_that_stands_twice_is_refused_wherever_it_stands() {
    let server = start().await;
    for pair in Pair::ALL {
        let mut params = pair.text(&format!("{pair:?}"), "echo x");
        params["configuration"] = json!({"historyLength": 1});
        params["message"]["metadata"] = json!({"deep": [{"deeper": {"value": 1}}]});
        let (verb, path, body) = pair.request(&Ask::Send(params));
        let body = String::from_utf8(bytes(&body.expect("a body"))).expect("text");
        let client = pair.dress(&server.client()).with("content-type", "application/json");
        let mut keys =
            vec!["message", "messageId", "role", "text", "metadata", "historyLength", "deeper", "value"];
        if !pair.is_rest() {
            keys.extend(["jsonrpc", "id", "method", "params"]);
        }
        for key in keys {
            let place = body.find(&format!("\"{key}\":")).expect("the key is there");
            // Before and after, plainly and escaped: to a reader of JSON it is the same key.
            let escaped = format!("\\u{:04x}{}", u32::from(key.as_bytes()[0]), &key[1..]);
            for twin in [key, &escaped] {
                let doubled = format!("{}\"{twin}\":null,{}", &body[..place], &body[place..]);
                let refusal = Refusal::read(pair, &client.call(verb, &path, doubled.as_bytes()).await);
                INVALID_REQUEST.check(pair, &refusal);
                assert!(refusal.message.contains(&format!("{key:?}")), "{}", refusal.message);
                assert!(refusal.message.contains("twice"), "{}", refusal.message);
            }
        }
        let long = format!("\"{0}\":1,\"{0}\":1,", "k".repeat(10_000));
        let refusal = Refusal::read(
            pair,
            &client.call(verb, &path, body.replacen('{', &format!("{{{long}"), 1).as_bytes()).await,
        );
        assert!(refusal.message.len() < 300, "{}", refusal.message);
        // The same key in different objects is nothing special.
        assert_eq!(client.call(verb, &path, body.as_bytes()).await.status, 200);
    }
    let listed = server.client().rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 4, "the wrong ones opened no task");
}
