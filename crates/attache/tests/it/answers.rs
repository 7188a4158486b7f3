//! The settings for where the answer of a turn stands. `attache-server` tests what clients see of it.

use serde_json::{Value, json};

use crate::support::{SCRIPT, launch, message};

fn request(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(id, "stream")})
}

#[tokio::test]
async fn a_flag_and_a_setting_put_answers_into_messages() {
    let flag = launch().in_memory().script(SCRIPT).argument("--answers").argument("message").start().await;
    let setting = launch().in_memory().script(SCRIPT).settings("answers_interface = true\n").start().await;
    let (flag, setting) = (
        flag.client().post("/", &request("m1")).await,
        setting.client().post("/answers", &request("m1")).await,
    );
    for sent in [flag.json(), setting.json()] {
        let task = &sent["result"]["task"];
        assert_eq!(task["status"]["message"]["parts"][0]["text"], "one two three four five", "{task:#}");
        assert!(task.get("artifacts").is_none_or(|artifacts| artifacts == &json!([])), "{task:#}");
    }
}

#[tokio::test]
async fn the_interface_has_a_card_of_its_own_and_is_there_only_when_it_is_switched_on() {
    let server = launch().in_memory().script(SCRIPT).settings("answers_interface = true\n").start().await;
    let client = server.client();
    let address = format!("{}/answers", server.url());
    for path in ["/answers/.well-known/agent-card.json", "/answers/.well-known/agent.json"] {
        let card = client.get(path).await.json();
        let urls =
            card["supportedInterfaces"].as_array().unwrap().iter().map(|it| it["url"].as_str().unwrap());
        assert_eq!(urls.collect::<Vec<_>>(), [address.as_str(); 2]);
        assert_eq!(card["url"], address.as_str());
    }
    let main = client.get("/.well-known/agent-card.json").await.json();
    assert_eq!(main["supportedInterfaces"].as_array().unwrap().last().unwrap()["url"], address.as_str());
    assert_ne!(main["url"], address.as_str());
    let server = launch().in_memory().script(SCRIPT).start().await;
    assert_eq!(server.client().post("/answers", &request("m1")).await.status, 404);
    assert_eq!(server.client().get("/answers/.well-known/agent-card.json").await.status, 404);
}
