//! Verbs and paths.

use attache_domain::{Fault, OperationKind};
use attache_wire::rest::{Route, route, version_of_path};
use attache_wire::{JsonForm, Version};

fn found(json_form: JsonForm, kind: OperationKind) -> Route {
    Route { json_form, kind, tenant: None, task: None, config: None }
}

#[track_caller]
fn check(verb: &str, path: &str, expected: Route) {
    assert_eq!(route(verb, path).unwrap(), expected, "{verb} {path}");
}

#[track_caller]
fn check_missing(verb: &str, path: &str) {
    assert_eq!(route(verb, path), Err(Fault::RouteNotFound { path: path.into() }), "{verb} {path}");
}

#[track_caller]
fn check_verb(verb: &str, path: &str, allowed: &'static str) {
    let expected = Fault::HttpMethodNotAllowed { path: path.into(), method: verb.into(), allowed };
    assert_eq!(route(verb, path), Err(expected));
}

#[test]
fn every_route_is_found_with_and_without_a_tenant() {
    let task = || Some("t-1".to_owned());
    let config = || Some("c-1".to_owned());
    for (prefix, json_form, tenant) in [
        ("", JsonForm::V1_0, None),
        ("/acme", JsonForm::V1_0, Some("acme")),
        ("/a%20b", JsonForm::V1_0, Some("a b")),
        ("/v1", JsonForm::V0_3Rest, None),
        ("/rest/v1", JsonForm::V0_3Rest, None),
    ] {
        let check = |verb: &str, path: &str, kind, task: Option<String>, config: Option<String>| {
            let tenant = tenant.map(str::to_owned);
            check(verb, &format!("{prefix}{path}"), Route { tenant, task, config, ..found(json_form, kind) });
        };
        check("POST", "/message:send", OperationKind::Send, None, None);
        check("POST", "/message:stream", OperationKind::Stream, None, None);
        check("GET", "/tasks/t-1", OperationKind::Get, task(), None);
        check("HEAD", "/tasks/t-1", OperationKind::Get, task(), None);
        check("POST", "/tasks/t-1:cancel", OperationKind::Cancel, task(), None);
        check("POST", "/tasks/t-1:subscribe", OperationKind::Subscribe, task(), None);
        check("GET", "/tasks/t-1:subscribe", OperationKind::Subscribe, task(), None);
        let configs = "/tasks/t-1/pushNotificationConfigs";
        check("POST", configs, OperationKind::PushCreate, task(), None);
        check("GET", configs, OperationKind::PushList, task(), None);
        check("GET", &format!("{configs}/c-1"), OperationKind::PushGet, task(), config());
        check("DELETE", &format!("{configs}/c-1"), OperationKind::PushDelete, task(), config());
    }
    check("GET", "/tasks", found(JsonForm::V1_0, OperationKind::List));
    check("GET", "/extendedAgentCard", found(JsonForm::V1_0, OperationKind::ExtendedCard));
    check("GET", "/v1/card", found(JsonForm::V0_3Rest, OperationKind::ExtendedCard));
    let listed = found(JsonForm::V1_0, OperationKind::List);
    check("GET", "/acme/tasks", Route { tenant: Some("acme".into()), ..listed });
}

#[test]
fn ids_are_decoded_and_split_at_the_last_plain_colon() {
    let named = |id: &str, kind| Route { task: Some(id.into()), ..found(JsonForm::V1_0, kind) };
    check("POST", "/tasks/a:b:cancel", named("a:b", OperationKind::Cancel));
    check("GET", "/tasks/a%3Acancel", named("a:cancel", OperationKind::Get));
    check("POST", "/tasks/a%3Acancel:cancel", named("a:cancel", OperationKind::Cancel));
    check("GET", "/tasks/a%2Fb", named("a/b", OperationKind::Get));
    check("GET", "/tasks/a:b", named("a:b", OperationKind::Get));
    check("GET", "/tasks/tasks", named("tasks", OperationKind::Get));
    check("POST", "/message%3Asend", found(JsonForm::V1_0, OperationKind::Send));
}

#[test]
fn unknown_paths_are_not_found() {
    for path in [
        "/",
        "",
        "tasks",
        "/nothing",
        "/acme",
        "/acme/",
        "/tasks/",
        "/tasks/a/b",
        "/tasks//pushNotificationConfigs",
        "/tasks/a/pushNotificationConfigs/b/c",
        "/tasks/:cancel",
        "/tasks/%zz",
        "/%ff/tasks",
        "/a/b/tasks",
        "/card",
        "/acme/card",
        "/v1",
        "/v1/",
        "/v1/tasks",
        "/v1/extendedAgentCard",
        "/rest",
        "/rest/v1",
        "/rest/tasks/t",
        "/rest/rest/v1/tasks/t",
        "/v1/acme/tasks/t",
        "/message:send/x",
        "//tasks",
    ] {
        check_missing("GET", path);
    }
    check_missing("POST", "/tasks/t-1:frobnicate");
}

#[test]
fn reserved_names_are_no_tenants() {
    for name in [
        ".",
        "%2E%2E",
        "a2a.v1.A2AService",
        "lf.a2a.v1.A2AService",
        "lf.a2a.v1.A2A%53ervice",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        "commands",
        "commands:execute",
        "commands%3Aexecute",
        "message:send",
        "message:stream",
        "tasks",
        "extendedAgentCard",
        ".well-known",
        "health",
        "metrics",
        "openapi.json",
        "listCommands",
        "executeCommand",
        "ws",
        "blobs",
        "rpc",
        "rest",
        "console",
    ] {
        check_missing("POST", &format!("/{name}/message:stream"));
    }
}

#[test]
fn wrong_verbs_are_told_the_right_ones() {
    check_verb("GET", "/message:send", "POST");
    check_verb("HEAD", "/v1/message:stream", "POST");
    check_verb("POST", "/tasks", "GET");
    check_verb("DELETE", "/tasks/t-1", "GET");
    check_verb("GET", "/tasks/t-1:cancel", "POST");
    check_verb("PUT", "/tasks/t-1:subscribe", "GET, POST");
    check_verb("DELETE", "/v1/tasks/t-1/pushNotificationConfigs", "GET, POST");
    check_verb("POST", "/tasks/t-1/pushNotificationConfigs/c", "GET, DELETE");
    check_verb("POST", "/v1/card", "GET");
    check_verb("OPTIONS", "/acme/extendedAgentCard", "GET");
}

#[test]
fn the_path_says_in_which_version_its_errors_are_encoded() {
    for path in ["/v1", "/v1/", "/v1/nothing", "/rest/v1/nothing"] {
        assert_eq!(version_of_path(path), Version::V0_3, "{path}");
    }
    for path in ["/", "", "/v10/tasks", "/tasks", "/acme/v1/tasks", "/rest", "/restful/v1"] {
        assert_eq!(version_of_path(path), Version::V1_0, "{path}");
    }
}
