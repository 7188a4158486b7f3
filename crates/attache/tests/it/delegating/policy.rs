//! Whether an agent may be asked.

use attache_testkit::model_server::ModelServer;

use super::world::{configured, invoke, peer, peer_tasks};
use crate::agent_world::{last_output, launch_with, says, send, state, write};

/// What comes of a delegation with this mode and these rules.
async fn check(mode: &str, rules: &str, expected: Outcome) {
    let peer = peer().await;
    let model = ModelServer::with_responses([invoke("helper", "echo hi"), says("Done.")]);
    let launch = configured(launch_with(&model), &[("helper", peer.url())]);
    if !rules.is_empty() {
        write(&launch, ".gemini/policies/mine.toml", rules);
    }
    let server = launch.argument("--approval-mode").argument(mode).start().await;
    let task = send(&server.client(), "m1", "Delegate").await;
    let sent = peer_tasks(&peer).await.len();
    match expected {
        Outcome::Asked => {
            assert_eq!((state(&task), sent), ("TASK_STATE_INPUT_REQUIRED", 0), "{mode} {rules}")
        }
        Outcome::Sent => {
            assert_eq!((state(&task), sent), ("TASK_STATE_COMPLETED", 1), "{mode} {rules}: {task:#}");
            assert!(last_output(&model).contains("hi"));
        }
        Outcome::Denied(part) => {
            assert_eq!((state(&task), sent), ("TASK_STATE_COMPLETED", 0), "{mode} {rules}: {task:#}");
            assert!(last_output(&model).contains(part), "{}", last_output(&model));
        }
    }
}

enum Outcome {
    Asked,
    Sent,
    Denied(&'static str),
}

fn rule(tool: &str, decision: &str) -> String {
    format!("[[rule]]\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 100\n")
}

#[tokio::test]
async fn a_person_is_asked_unless_a_rule_or_the_mode_says_otherwise() {
    check("default", "", Outcome::Asked).await;
    check("auto_edit", "", Outcome::Asked).await;
    check("yolo", "", Outcome::Sent).await;
    check("plan", "", Outcome::Denied("planning")).await;
}

#[tokio::test]
async fn rules_name_agents() {
    check("default", &rule("helper", "allow"), Outcome::Sent).await;
    check("default", &rule("other", "allow"), Outcome::Asked).await;
    check("default", &rule("helper", "deny"), Outcome::Denied("")).await;
    check("default", &rule("invoke_agent", "allow"), Outcome::Sent).await;
}
