//! Existing clients of Gemini CLI's A2A server work unchanged: one client script, played against that server and
//! against ours with the same scripted model.
//!
//! `tests/gemini/recorded` holds what that server says. It is asked again where it is installed, so that the recording
//! stays true; ours is compared with the recording on every machine.

mod client;
mod compare;
mod comparison;
mod connection;
mod expected;
mod model;
mod normal;
mod ours;
mod peer;
mod play;
mod recorded;
mod scenario;
mod script;
mod tools;

use attache_testkit::model_server::gemini;
use compare::differences;
use comparison::Comparison;
use model::Model;
use peer::Peer;
use play::{Stage, Whose};
use serde_json::Value;

use crate::call_command::call;

/// Set to anything, the recording is made anew.
const RECORD: &str = "ATTACHE_RECORD_GEMINI";

/// Set to anything, docs/extension/comparison.md is written anew.
const WRITE: &str = "ATTACHE_WRITE_COMPARISON";

#[expect(clippy::disallowed_methods, reason = "a developer asks for it by hand")]
fn is_wanted(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

#[tokio::test]
async fn the_peer_says_what_was_recorded() {
    let Some(installed) = peer::installed() else { return };
    let model = Model::start();
    let peer = Peer::start(&installed, &model.server).await;
    let folder = peer.folder.path().canonicalize().unwrap();
    let stage = Stage { address: peer.address.clone(), model: &model, folder, whose: Whose::Peers };
    let mut different = Vec::new();
    for scenario in script::all() {
        let heard = stage.play(&scenario).await;
        if is_wanted(RECORD) {
            recorded::write(scenario.name, &heard);
        }
        let recorded = recorded::read(scenario.name);
        if heard != recorded {
            different.push(format!("{} is not as it was recorded:", scenario.name));
            let found = differences(scenario.name, &recorded, &heard);
            different.extend(found.iter().map(ToString::to_string));
        }
    }
    assert!(different.is_empty(), "the recording is called the peer:\n{}", different.join("\n"));
}

#[tokio::test]
async fn attache_calls_the_peer() {
    let Some(installed) = peer::installed() else { return };
    let model = Model::start();
    let peer = Peer::start(&installed, &model.server).await;
    let says = |text: &str| gemini::answer([gemini::chunk().text(text).finish("STOP").usage(100, 10)]);
    model.plan(&[says("The moon is full."), says("Still full.")]);
    let url = format!("http://{}", peer.address);
    let ended = call(&[&url, "How is the moon?", "--json"]).await;
    // It leaves its tasks open for the next message.
    assert_eq!(ended.code, Some(6), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("The moon is full."), "{}", ended.out);
    let first: Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
    let task = first["task"]["id"].as_str().or(first["statusUpdate"]["taskId"].as_str()).unwrap();
    let ended = call(&[&url, "And now?", "--task", task]).await;
    assert_eq!(ended.code, Some(6), "{}{}", ended.out, ended.err);
    assert!(format!("{}{}", ended.out, ended.err).contains("Still full."), "{}{}", ended.out, ended.err);
}

/// Each difference is one we have a reason for, each reason is still needed, and the documentation says all of it.
#[tokio::test]
async fn attache_says_the_same_where_the_peer_is_right() {
    let model = Model::start();
    let ours = ours::start(&model.server).await;
    let (mut all, mut comparison) = (Vec::new(), Comparison::new());
    for scenario in script::all() {
        let heard = ours.stage(&model).play(&scenario).await;
        let recorded = recorded::read(scenario.name);
        let different = differences(scenario.name, &recorded, &heard);
        comparison.add(scenario.name, &recorded, &heard, &different);
        all.extend(different);
    }
    let verdict = expected::judge(&all);
    assert!(verdict.is_empty(), "{}", verdict.join("\n"));
    let page = comparison.page();
    if is_wanted(WRITE) {
        comparison::write(&page);
    }
    assert_eq!(comparison::committed(), page, "docs/extension/comparison.md is not what was heard");
}
