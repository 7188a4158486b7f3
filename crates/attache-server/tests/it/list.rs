//! ListTasks: filters, order, pages and what each page says, over both bindings and on both stores.

use std::collections::BTreeSet;

use attache_testkit::TestClient;
use serde_json::{Value, json};

use crate::world::{Launch, TestServer, launch, message};
use attache_testkit::pairs::INVALID_PARAMS;
use attache_testkit::pairs::{Pair, Refusal, bytes};

type StoreOf = fn(Launch) -> Launch;
const STORES: [(&str, StoreOf); 2] = [("memory", |launch| launch), ("sqlite", Launch::durable)];

async fn start(store: StoreOf) -> TestServer {
    store(launch()).start().await
}

/// The page that `params` ask for, which must be the same over both bindings.
async fn list(client: &TestClient, params: Value) -> Value {
    let over_rpc = client.rpc("ListTasks", params.clone()).await;
    assert!(over_rpc.get("error").is_none(), "{params}: {over_rpc:#}");
    let over_rest = client.with("A2A-Version", "1.0").get(&rest_path(&params)).await;
    assert_eq!(over_rest.status, 200, "{params}: {}", over_rest.text());
    assert_eq!(over_rest.json(), over_rpc["result"], "{params}: both bindings say the same");
    over_rpc["result"].clone()
}

/// Both bindings refuse `params` and name `field`.
async fn refused(client: &TestClient, params: Value, field: &str) {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": params});
    let over_rpc = client.post("/", &request).await;
    let over_rest = client.with("A2A-Version", "1.0").get(&rest_path(&params)).await;
    for (pair, answer) in [(Pair::Rpc10, over_rpc), (Pair::Rest10, over_rest)] {
        let refusal = Refusal::read(pair, &answer);
        INVALID_PARAMS.check(pair, &refusal);
        assert_eq!(refusal.fields, [field], "{pair:?} {params}");
    }
}

fn rest_path(params: &Value) -> String {
    let mut path = String::from("/tasks");
    for (index, (name, value)) in params.as_object().expect("an object").iter().enumerate() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        path.push(if index == 0 { '?' } else { '&' });
        path.push_str(&format!("{name}={}", encoded(&text)));
    }
    path
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Sends `text` in `context` and returns the task.
async fn make(client: &TestClient, id: &str, context: &str, text: &str) -> Value {
    let mut params = message(id, text);
    params["message"]["contextId"] = context.into();
    let response = client.rpc("SendMessage", params).await;
    assert!(response["result"]["task"].is_object(), "{response:#}");
    response["result"]["task"].clone()
}

async fn make_many(client: &TestClient, count: usize) -> BTreeSet<String> {
    make_batch(client, "many", count).await
}

/// Makes `count` tasks at once.
async fn make_batch(client: &TestClient, batch: &str, count: usize) -> BTreeSet<String> {
    let mut set = tokio::task::JoinSet::new();
    for number in 0..count {
        let (client, id) = (client.clone(), format!("{batch}-{number}"));
        set.spawn(async move { make(&client, &id, "many", "echo x").await });
    }
    let tasks = set.join_all().await;
    tasks.iter().map(id_of).collect()
}

fn id_of(task: &Value) -> String {
    task["id"].as_str().expect("an id").to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    page["tasks"].as_array().expect("tasks").iter().map(id_of).collect()
}

/// Every task from the first page to the last, by pages of `size`.
async fn walk(client: &TestClient, size: usize) -> Vec<Value> {
    let mut tasks = Vec::new();
    let mut token = String::new();
    loop {
        let page = list(client, json!({"pageSize": size, "pageToken": token})).await;
        let found = page["tasks"].as_array().expect("tasks").clone();
        assert_eq!(page["pageSize"], size, "the page size in force");
        token = page["nextPageToken"].as_str().expect("always there").to_owned();
        assert!(found.len() == size || token.is_empty(), "only the last page may be short");
        tasks.extend(found);
        if token.is_empty() {
            return tasks;
        }
    }
}

#[tokio::test]
async fn l4_a_page_always_has_all_four_members() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let empty = list(&client, json!({})).await;
        assert_eq!(
            empty,
            json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}),
            "{name}"
        );
        make(&client, "m1", "c", "echo x").await;
        let page = list(&client, json!({"pageSize": 7})).await;
        let members: Vec<_> = page.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(members.iter().collect::<BTreeSet<_>>().len(), 4, "{page:#}");
        assert_eq!(page["nextPageToken"], "", "{name}: there is no next page");
        assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(7), &json!(1)), "{name}");
    }
}

#[tokio::test]
async fn l3_a_page_has_fifty_tasks_unless_told_otherwise_and_a_hundred_at_most() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let made = make_many(&client, 120).await;
        let page = list(&client, json!({})).await;
        assert_eq!(ids(&page).len(), 50, "{name}");
        assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(50), &json!(120)), "{name}");
        assert_ne!(page["nextPageToken"], "", "{name}");
        for size in [1, 100] {
            let page = list(&client, json!({"pageSize": size})).await;
            assert_eq!(ids(&page).len(), size, "{name}");
            assert_eq!(page["totalSize"], 120, "the total does not depend on the page");
        }
        for size in [json!(0), json!(-1), json!(101), json!(1_000_000_000_000_i64), json!("many"), json!(1.5)]
        {
            refused(&client, json!({"pageSize": size}), "pageSize").await;
        }
        let walked: BTreeSet<String> = walk(&client, 50).await.iter().map(id_of).collect();
        assert_eq!(walked, made, "{name}");
    }
}

#[tokio::test]
async fn l2_tasks_come_newest_status_first_and_ties_do_not_confuse_the_pages() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let mut made = BTreeSet::new();
        // Tasks made at once soon share a millisecond.
        let all = loop {
            let batch = format!("batch-{}", made.len());
            made.extend(make_batch(&client, &batch, 20).await);
            let all = walk(&client, 100).await;
            if times(&all).windows(2).any(|two| two[0] == two[1]) {
                break all;
            }
            assert!(made.len() < 2000, "{name}: no two of two thousand tasks have the same time");
        };
        assert_eq!(all.iter().map(id_of).collect::<BTreeSet<_>>(), made, "{name}");
        assert!(times(&all).windows(2).all(|two| two[0] >= two[1]), "{name}: {:?}", times(&all));
        for size in [1, 3, 7, made.len() - 1, made.len()] {
            let walked: Vec<_> = walk(&client, size.min(100)).await.iter().map(id_of).collect();
            assert_eq!(walked, all.iter().map(id_of).collect::<Vec<_>>(), "{name}, pages of {size}");
        }
    }
}

fn times(tasks: &[Value]) -> Vec<&str> {
    tasks.iter().map(|task| task["status"]["timestamp"].as_str().expect("a time")).collect()
}

#[tokio::test]
async fn l2_a_task_that_goes_on_moves_to_the_front() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let asked = make(&client, "m1", "c", "ask").await;
        let later = make(&client, "m2", "d", "echo x").await;
        let third = make(&client, "m3", "e", "echo y").await;
        assert_eq!(ids(&list(&client, json!({})).await).len(), 3);
        client.rpc("SendMessage", crate::world::message_to(&id_of(&asked), "m4", "Ada")).await;
        let order = ids(&list(&client, json!({})).await);
        let moved = order.iter().position(|id| *id == id_of(&asked));
        let stayed = order.iter().position(|id| *id == id_of(&later));
        assert!(moved < stayed, "{name}: {order:?}");
        assert!(order.contains(&id_of(&third)));
    }
}

#[tokio::test]
async fn l3_a_cursor_holds_its_place_while_tasks_are_added() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        make_many(&client, 20).await;
        let before: Vec<_> = walk(&client, 100).await.iter().map(id_of).collect();
        let mut page = list(&client, json!({"pageSize": 6})).await;
        let mut seen = ids(&page);
        let mut added = 0;
        while page["nextPageToken"] != "" {
            for _ in 0..3 {
                make(&client, &format!("added-{added}"), "added", "echo x").await;
                added += 1;
            }
            page = list(&client, json!({"pageSize": 6, "pageToken": page["nextPageToken"]})).await;
            assert_eq!(page["totalSize"], 20 + added, "{name}: the total is that of now");
            seen.extend(ids(&page));
        }
        assert_eq!(seen, before, "{name}: what was there when the walk began, once each");
    }
}

#[tokio::test]
async fn l3_a_token_of_another_walk_is_refused() {
    let server = launch().tenants(&["acme"]).start().await;
    let client = server.client();
    make_many(&client, 3).await;
    let token = list(&client, json!({"pageSize": 1})).await["nextPageToken"].clone();
    let text = token.as_str().expect("a token");
    refused(&client, json!({"pageToken": text, "contextId": "other"}), "pageToken").await;
    refused(&client, json!({"pageToken": text, "status": "TASK_STATE_WORKING"}), "pageToken").await;
    refused(&client, json!({"pageToken": text, "statusTimestampAfter": "2025-01-01T00:00:00Z"}), "pageToken")
        .await;
    for bad in [
        "rubbish",
        "..",
        "a.b.c",
        "€",
        "7fffffffffffffff.0.x",
        &text[1..],
        &format!("{text}x")[..text.len() - 1],
    ] {
        refused(&client, json!({"pageToken": bad}), "pageToken").await;
    }
    let foreign = client.get(&format!("/acme/tasks?pageToken={}", encoded(text))).await;
    assert_eq!(foreign.status, 400, "a token of another tenant: {}", foreign.text());
    let wrong = client.rpc("ListTasks", json!({"pageToken": 5})).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong:#}");
    // Size may change on the way; an empty token is the beginning.
    let page = list(&client, json!({"pageSize": 2, "pageToken": text})).await;
    assert_eq!(ids(&page).len(), 2);
    assert_eq!(ids(&list(&client, json!({"pageToken": ""})).await).len(), 3);
}

#[tokio::test]
async fn l1_filters_hold_alone_and_together() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let done = make(&client, "m1", "one", "echo x").await;
        let failed = make(&client, "m2", "one", "fail").await;
        // The one that asks comes last: what is said in its context afterwards is an answer to it.
        let rejected = make(&client, "m3", "two", "reject").await;
        let waiting = make(&client, "m4", "two", "auth").await;
        let asked = make(&client, "m5", "two", "ask").await;
        for (params, expected) in [
            (json!({"contextId": "one"}), vec![&done, &failed]),
            (json!({"contextId": "two"}), vec![&asked, &rejected, &waiting]),
            (json!({"contextId": "three"}), vec![]),
            (json!({"contextId": "One"}), vec![]),
            (json!({"contextId": "on"}), vec![]),
            (json!({"status": "TASK_STATE_COMPLETED"}), vec![&done]),
            (json!({"status": "TASK_STATE_FAILED"}), vec![&failed]),
            (json!({"status": "TASK_STATE_INPUT_REQUIRED"}), vec![&asked]),
            (json!({"status": "TASK_STATE_REJECTED"}), vec![&rejected]),
            (json!({"status": "TASK_STATE_AUTH_REQUIRED"}), vec![&waiting]),
            (json!({"status": "TASK_STATE_WORKING"}), vec![]),
            (json!({"status": "TASK_STATE_UNSPECIFIED"}), vec![&done, &failed, &asked, &rejected, &waiting]),
            (json!({"status": "TASK_STATE_FAILED", "contextId": "one"}), vec![&failed]),
            (json!({"status": "TASK_STATE_FAILED", "contextId": "two"}), vec![]),
            (
                json!({"status": "TASK_STATE_REJECTED", "contextId": "two", "statusTimestampAfter": "2020-01-01T00:00:00Z"}),
                vec![&rejected],
            ),
            (
                json!({"status": "TASK_STATE_REJECTED", "contextId": "two", "statusTimestampAfter": "2120-01-01T00:00:00Z"}),
                vec![],
            ),
        ] {
            let page = list(&client, params.clone()).await;
            let expected: BTreeSet<String> = expected.into_iter().map(id_of).collect();
            assert_eq!(ids(&page).into_iter().collect::<BTreeSet<_>>(), expected, "{name} {params}");
            assert_eq!(page["totalSize"], expected.len(), "{name} {params}: the total is of what matches");
        }
    }
}

#[tokio::test]
async fn l1_filters_hold_across_pages() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let mut expected = BTreeSet::new();
        for number in 0..6 {
            expected.insert(id_of(&make(&client, &format!("a{number}"), "a", "echo x").await));
            make(&client, &format!("b{number}"), "b", "echo x").await;
            make(&client, &format!("f{number}"), "a", "fail").await;
        }
        let filter = json!({"contextId": "a", "status": "TASK_STATE_COMPLETED", "pageSize": 4});
        let first = list(&client, filter.clone()).await;
        assert_eq!((ids(&first).len(), &first["totalSize"]), (4, &json!(6)), "{name}");
        let mut next = filter;
        next["pageToken"] = first["nextPageToken"].clone();
        let second = list(&client, next).await;
        assert_eq!((ids(&second).len(), &second["totalSize"]), (2, &json!(6)), "{name}");
        assert_eq!(second["nextPageToken"], "");
        let found: BTreeSet<_> = ids(&first).into_iter().chain(ids(&second)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test]
async fn l1_status_timestamp_after_includes_the_moment_itself() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let first = make(&client, "m1", "c", "echo x").await;
        let at = first["status"]["timestamp"].as_str().expect("a time").to_owned();
        // A second task in a later millisecond.
        let mut number = 0;
        let second = loop {
            let task = make(&client, &format!("later-{number}"), "d", "echo x").await;
            if task["status"]["timestamp"].as_str() > Some(at.as_str()) {
                break task;
            }
            number += 1;
        };
        let later = second["status"]["timestamp"].as_str().expect("a time").to_owned();
        let page = list(&client, json!({"statusTimestampAfter": at})).await;
        assert!(ids(&page).contains(&id_of(&first)), "{name}: the moment itself counts");
        let page = list(&client, json!({"statusTimestampAfter": later})).await;
        assert!(ids(&page).contains(&id_of(&second)), "{name}");
        assert!(!ids(&page).contains(&id_of(&first)), "{name}: earlier ones do not");
        let with_offset = at.replace('Z', "+00:00");
        let page = list(&client, json!({"statusTimestampAfter": with_offset})).await;
        assert!(ids(&page).contains(&id_of(&first)), "{name}: the same moment with an offset");
        let finer = at.replace('Z', "001Z");
        let page = list(&client, json!({"statusTimestampAfter": finer})).await;
        assert!(!ids(&page).contains(&id_of(&first)), "{name}: a microsecond after it is after it");
    }
}

#[tokio::test]
async fn l1_wrong_filters_are_refused_by_name() {
    let server = start(|launch| launch).await;
    let client = server.client();
    for (params, field) in [
        (json!({"status": "completed"}), "status"),
        (json!({"status": "TASK_STATE_CANCELLED"}), "status"),
        (json!({"status": "TASK_STATE_NONSENSE"}), "status"),
        (json!({"statusTimestampAfter": "yesterday"}), "statusTimestampAfter"),
        (json!({"statusTimestampAfter": "2025-13-01T00:00:00Z"}), "statusTimestampAfter"),
        (json!({"historyLength": -1}), "historyLength"),
        (json!({"historyLength": "many"}), "historyLength"),
        (json!({"includeArtifacts": "yes"}), "includeArtifacts"),
    ] {
        refused(&client, params, field).await;
    }
    let wrong = client.rpc("ListTasks", json!({"contextId": 5})).await;
    assert_eq!(wrong["error"]["code"], -32602);
}

#[tokio::test]
async fn l5_artifacts_are_missing_unless_asked_for_and_then_always_there() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let with = make(&client, "m1", "c", "artifacts").await;
        let without = make(&client, "m2", "d", "reject").await;
        for params in [json!({}), json!({"includeArtifacts": false})] {
            for task in list(&client, params).await["tasks"].as_array().expect("tasks") {
                assert!(task.get("artifacts").is_none(), "{name}: not even empty: {task:#}");
            }
        }
        let page = list(&client, json!({"includeArtifacts": true})).await;
        for task in page["tasks"].as_array().expect("tasks") {
            if task["id"] == with["id"] {
                assert_eq!(task["artifacts"], with["artifacts"], "{name}");
            } else {
                assert_eq!(task["id"], without["id"]);
                assert_eq!(task["artifacts"], json!([]), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn a_listed_task_is_what_get_returns_with_its_history_trimmed() {
    for (name, store) in STORES {
        let server = start(store).await;
        let client = server.client();
        let task = make(&client, "m1", "c", "echo x").await;
        let read = client.rpc("GetTask", json!({"id": task["id"]})).await["result"].clone();
        let page = list(&client, json!({"includeArtifacts": true})).await;
        assert_eq!(page["tasks"][0], read, "{name}");
        for (length, expected) in [(0, 0), (1, 1), (2, 2), (50, 2)] {
            let page = list(&client, json!({"historyLength": length})).await;
            let history = page["tasks"][0].get("history");
            assert_eq!(
                history.map_or(0, |it| it.as_array().expect("a list").len()),
                expected,
                "{name} {length}"
            );
            assert!(expected > 0 || history.is_none(), "left out rather than empty");
        }
    }
}

#[tokio::test]
async fn l1_tenants_do_not_see_each_other() {
    for (name, store) in STORES {
        let server = store(launch()).tenants(&["acme", "other"]).start().await;
        let client = server.client();
        let acme = client.post("/acme/message:send", &message("m1", "echo x")).await.json()["task"].clone();
        let plain = make(&client, "m1", "c", "echo x").await;
        assert_ne!(acme["id"], plain["id"], "{name}: the same message to two tenants is two tasks");
        let page = list(&client, json!({})).await;
        assert_eq!((ids(&page), &page["totalSize"]), (vec![id_of(&plain)], &json!(1)), "{name}");
        let page = client.rpc("ListTasks", json!({"tenant": "acme"})).await["result"].clone();
        assert_eq!((ids(&page), &page["totalSize"]), (vec![id_of(&acme)], &json!(1)), "{name}");
        assert_eq!(client.get("/acme/tasks").await.json(), page, "{name}");
        assert_eq!(client.get("/acme/tasks?tenant=other").await.json(), page, "{name}: the path wins");
        let page = client.get("/other/tasks").await.json();
        assert_eq!(page["totalSize"], 0, "{name}");
        for path in [format!("/other/tasks/{}", id_of(&acme)), format!("/tasks/{}", id_of(&acme))] {
            let foreign = client.get(&path).await;
            assert_eq!(foreign.status, 404, "{name} {path}: as if it did not exist");
        }
        for (tenant, id) in [("other", &acme["id"]), ("acme", &plain["id"])] {
            let canceled = client.rpc("CancelTask", json!({"tenant": tenant, "id": id})).await;
            assert_eq!(canceled["error"]["code"], -32001, "{name}");
        }
    }
}

#[tokio::test]
async fn a_tenant_that_is_not_configured_is_not_found() {
    let server = launch().tenants(&["acme"]).start().await;
    let client = server.client();
    let over_rest = client.get("/nobody/tasks").await;
    assert_eq!(over_rest.status, 404, "{}", over_rest.text());
    let over_rpc = client.rpc("ListTasks", json!({"tenant": "nobody"})).await;
    assert_eq!(over_rpc["error"]["code"], -32602, "{over_rpc:#}");
}

#[tokio::test]
async fn l6_rest_queries_are_read_as_written() {
    let server = start(|launch| launch).await;
    let client = server.client();
    let odd = "a b&c=d/é+%";
    let task = make(&client, "m1", odd, "echo x").await;
    let found = client.get(&format!("/tasks?contextId={}", encoded(odd))).await.json();
    assert_eq!(ids(&found), [id_of(&task)]);
    // A plus in a query is a blank, and an empty value is no value.
    let found = client.get(&format!("/tasks?contextId={}", encoded(odd).replace("%20", "+"))).await.json();
    assert_eq!(ids(&found), [id_of(&task)]);
    let found = client.get("/tasks?contextId=&status=&pageToken=&pageSize=&includeArtifacts=").await;
    assert_eq!((found.status, found.json()["totalSize"].clone()), (200, json!(1)), "{}", found.text());
    let found = client.with("A2A-Version", "1.0").get("/tasks?surprise=1").await;
    assert_eq!(found.status, 200, "what nobody knows is passed over");
    assert_eq!(found.header("content-type"), Some("application/a2a+json"));
}

#[tokio::test]
async fn l3_params_may_be_left_out() {
    let server = start(|launch| launch).await;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks"});
    let client = server.client().with("content-type", "application/json");
    let answer = client.call("POST", "/", &bytes(&request)).await.json();
    assert_eq!(answer["result"]["totalSize"], 0, "{answer:#}");
}
