//! Every example of the two documents that the live endpoint and the REST API follow, as printed there, against the real
//! binary. Ids, times and texts that a document only stands in for ("…", "task-456") may differ, and nothing else.
//!
//! | document | example | test |
//! |---|---|---|
//! | live endpoint, 1 | `--a2a-port 41243` | `terminal::clients::the_endpoint_is_that_of_the_session`, `terminal::one_prompt` |
//! | live endpoint, 1 | `curl …/.well-known/agent-card.json` | `live_endpoint::the_card_lists_the_extension` |
//! | live endpoint, 2 | `POST /tasks` returns the `sessionId` | `live_endpoint::a_prompt_over_http_and_over_a_socket` |
//! | live endpoint, 2 | `POST /tasks/{taskId}/messages/stream` | `live_endpoint::a_prompt_over_http_and_over_a_socket` |
//! | live endpoint, 2 | `ws://localhost:41243/ws` sees all activity | `live_endpoint::a_prompt_over_http_and_over_a_socket` |
//! | live endpoint, 3 | the prompt in JSON-RPC | `live_endpoint::a_prompt_over_http_and_over_a_socket` |
//! | live endpoint, 3 | THOUGHT, TEXT_CONTENT, TOOL_CALL_UPDATE, CONSOLE_LOG | `live_endpoint::every_kind_of_event` |
//! | live endpoint, 3 | the TEXT_CONTENT broadcast | `live_endpoint::a_prompt_over_http_and_over_a_socket` |
//! | live endpoint, 4 | the confirmation request | `live_endpoint::a_confirmation_is_asked_and_answered` |
//! | live endpoint, 4 | the confirmation | `live_endpoint::a_confirmation_is_asked_and_answered` |
//! | live endpoint, 4 | `--yolo` asks nothing | `live_endpoint::nothing_is_asked_with_yolo` |
//! | live endpoint, 5 | `wscat -c ws://…/ws` | `live_clients` |
//! | live endpoint, 5 | `--debug`, `[A2AService]`, `A2A client connected` | `terminal::clients::debug_shows_what_the_endpoint_does` |
//! | server, task events | the payloads of the five events | `server::every_event_has_its_members` |
//! | server, `POST /tasks` | request and response | `server::a_task_from_its_creation_to_its_end` |
//! | server, `POST /tasks/:taskId/execute` | request and stream | `server::a_task_from_its_creation_to_its_end` |
//! | server, `GET /tasks/:taskId` | response | `server::a_task_from_its_creation_to_its_end` |
//! | server, `GET /tasks` | response | `server::a_task_from_its_creation_to_its_end` |
//! | server, agent settings | `workspaceRoot`, `model`, `apiKey` | `rest_api::the_workspace_root_…`, `rest_api::a_key_reaches_…` |
//! | server, commands | the interface: `name`, `description`, `execute` | `server::commands_are_listed_and_executed` |
//! | server, commands | `list-extensions` | `server::commands_are_listed_and_executed` |
//! | server, commands | a command of one's own, `{success, output}` | `server::commands_are_listed_and_executed` |
//! | server, health | `status`, `uptime`, `activeTasks`, `totalTasks` | `server::health` |
//! | server, deployment | `CODER_AGENT_PORT` | `operations::starting::coder_agent_port_counts_before_port_and_a_flag_before_both`; its default: `attache-config`, `layers_tests` |
//! | server, deployment | `GEMINI_API_KEY` | `rest_api::a_key_reaches_the_model_and_nothing_else` |
//! | server, deployment | `A2A_GCS_BUCKET` and the other variables of Google Cloud Storage, `NODE_ENV` | none: they do nothing, as `docs/settings.md` says |

mod live_endpoint;
mod server;

use serde_json::Value;

/// Every member of the example is there. Its value is the same, unless `free` names the member: then it is of the same
/// kind. Of a list, every item of the example is somewhere in the real one.
#[track_caller]
fn check(printed: &Value, real: &Value, free: &[&str]) {
    if let Err(problem) = compare("", printed, real, free) {
        panic!("{problem}\nprinted: {printed:#}\nreal: {real:#}");
    }
}

fn compare(name: &str, printed: &Value, real: &Value, free: &[&str]) -> Result<(), String> {
    match (printed, real) {
        (Value::Object(printed), Value::Object(real)) => {
            printed.iter().try_for_each(|(name, value)| match real.get(name) {
                Some(found) => compare(name, value, found, free),
                None => Err(format!("there is no {name}")),
            })
        }
        (Value::Array(printed), Value::Array(real)) => {
            let has = |item: &&Value| real.iter().any(|found| compare(name, item, found, free).is_ok());
            match printed.iter().find(|item| !has(item)) {
                Some(missing) => Err(format!("{name} has no {missing}")),
                None => Ok(()),
            }
        }
        _ if free.contains(&name) && std::mem::discriminant(printed) == std::mem::discriminant(real) => {
            Ok(())
        }
        _ if printed == real => Ok(()),
        _ => Err(format!("{name} is {real}, not {printed}")),
    }
}

fn parse(example: &str) -> Value {
    serde_json::from_str(example).unwrap()
}
