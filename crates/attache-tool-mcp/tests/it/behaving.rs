//! What works with a server that keeps to the protocol.

use attache_domain::{Effect, Preview};
use attache_tool::ToolErrorKind;
use attache_tool_mcp::{ServerState, ServerStatus};
use serde_json::json;

use crate::world::{World, names, shell, text, tool, until};

#[tokio::test]
async fn a_tool_is_proposed_and_called() {
    let world = World::new();
    let script = r#"hello; tools "$(tool say)"; next
        tell progress '{"progressToken":'"${line#*\"progressToken\":}" >&2
        token=${line#*\"progressToken\":}; token=${token%%[!0-9]*}
        tell progress '{"progressToken":'"$token"',"progress":1,"total":2,"message":"half"}'
        case $line in *'"name":"say"'*'"word":"hi"'*|*'"word":"hi"'*'"name":"say"'*) said=right;; *) said=wrong;; esac
        result '{"content":[{"type":"text","text":"'$said'"}]}'; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    let say = tool(&servers, "mcp_srv_say");
    let input = json!({ "word": "hi" }).as_object().unwrap().clone();
    let proposal = say.propose(&input, &world.tool_context()).await.unwrap();
    assert_eq!(proposal.effects, [Effect::UseServer { server: "srv".into(), tool: "say".into() }]);
    let shown = Preview::Mcp { server: "srv".into(), tool: "say".into(), title: "say".into(), address: None };
    assert_eq!(proposal.shown, shown);
    let output = say.run(proposal, &world.tool_context()).await.unwrap();
    assert_eq!(text(&output), "<untrusted_context>\nright\n</untrusted_context>");
    assert_eq!(world.live.text(), "50%: half\n");
}

#[tokio::test]
async fn one_server_that_fails_harms_no_other() {
    let world = World::new();
    let servers = world
        .connect(vec![
            shell("bad", "echo 'no module named x, TOKEN is '$TOKEN >&2; exit 3"),
            shell("good", r#"hello; tools "$(tool a),$(tool b)"; next"#),
        ])
        .await;
    assert_eq!(names(&servers), ["mcp_good_a", "mcp_good_b"]);
    let [bad, good] = &servers.statuses()[..] else { panic!("two servers") };
    assert_eq!(good.state, ServerState::Connected);
    let ServerStatus { state: ServerState::Failed { why }, .. } = bad else { panic!("{bad:?}") };
    assert!(why.contains("no module named x, TOKEN is (hidden)"), "{why}");
}

#[tokio::test]
async fn programs_see_only_what_they_may() {
    let world = World::new();
    let script =
        r#"hello; tools "$(tool a)"; text "$(env | sed 's/=.*//' | sort | tr '\n' ' ')at $(pwd)"; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    let output = world.call(&servers, "mcp_srv_a", json!({})).await.unwrap();
    let said = text(&output);
    let folder = world.folder.path().canonicalize().unwrap();
    assert!(said.contains(&format!("at {}", folder.display())), "{said}");
    for name in said.split("at ").next().unwrap().split_whitespace().skip(1) {
        assert!(["PATH", "TOKEN", "PWD", "OLDPWD", "SHLVL", "_", "IFS"].contains(&name), "{said}");
    }
}

#[tokio::test]
async fn a_list_that_changed_is_read_again() {
    let world = World::new();
    let script = r#"hello; tools "$(tool old)"; tell tools/list_changed '{}'; tools "$(tool new)"; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    until(&servers, |servers| names(servers) == ["mcp_srv_new"]).await;
}

#[tokio::test]
async fn a_list_of_many_pages_is_read_whole() {
    let world = World::new();
    let script = r#"hello; next; result '{"tools":['"$(tool one)"'],"nextCursor":"p2"}'
        next; case $line in *'"cursor":"p2"'*) result '{"tools":['"$(tool two)"']}';; esac; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    assert_eq!(names(&servers), ["mcp_srv_one", "mcp_srv_two"]);
}

#[tokio::test]
async fn a_server_without_tools_is_connected() {
    let world = World::new();
    let script = r#"hello; next; printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    assert_eq!(servers.statuses()[0].state, ServerState::Connected);
    assert_eq!(names(&servers), [""; 0]);
}

#[tokio::test]
async fn a_server_may_ask_for_the_workspace_and_for_nothing_else() {
    let world = World::new();
    let script = r#"hello; tools "$(tool a)"; next; call=$id
        printf '{"jsonrpc":"2.0","id":70,"method":"roots/list"}\n'; next; roots=$line
        printf '{"jsonrpc":"2.0","id":71,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}\n'; next; sample=$line
        printf '{"jsonrpc":"2.0","id":72,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}\n'; next
        id=$call; result "{\"content\":[],\"structuredContent\":[$roots,$sample,$line]}"; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    let said = text(&world.call(&servers, "mcp_srv_a", json!({})).await.unwrap());
    assert!(said.contains(&format!("file://{}", world.context.directory.display())), "{said}");
    assert!(said.contains("-32601"), "sampling is refused: {said}");
    assert!(said.contains("decline"), "elicitation is declined: {said}");
}

#[tokio::test]
async fn a_wrong_input_never_reaches_the_server() {
    let world = World::new();
    let script = r#"hello; tools '{"name":"a","inputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}'; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    let error = world.call(&servers, "mcp_srv_a", json!({ "n": "1" })).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::InvalidToolParams);
    assert_eq!(error.message, "`n` must be of type integer, not string");
}

#[tokio::test]
async fn only_wanted_tools_are_offered() {
    let world = World::new();
    let mut options = shell("srv", r#"hello; tools "$(tool a),$(tool b),$(tool c)"; next"#);
    options.include = Some(vec!["a".into(), "b(x)".into()]);
    options.exclude = vec!["a".into()];
    let servers = world.connect(vec![options]).await;
    assert_eq!(names(&servers), ["mcp_srv_b"]);
}

#[tokio::test]
async fn of_two_tools_with_one_name_the_first_server_s_stays() {
    let world = World::new();
    let servers = world
        .connect(vec![
            shell("a_b", r#"hello; tools "$(tool c)"; next"#),
            shell("a", r#"hello; tools "$(tool b_c)"; next"#),
        ])
        .await;
    assert_eq!(names(&servers), ["mcp_a_b_c"]);
    assert_eq!(tool(&servers, "mcp_a_b_c").spec().origin.as_ref().unwrap().server, "a_b");
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let world = World::new();
    let script = r#"next
        result '{"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{"name":"fake","version":"1"}}'
        next; tools ''
        next; result '{"resources":[{"uri":"note://1","name":"first","mimeType":"text/plain"}]}'
        next; result '{"contents":[{"uri":"note://1","text":"inside"}]}'; next"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    assert_eq!(names(&servers), ["list_mcp_resources", "read_mcp_resource"]);
    let listed = world.call(&servers, "list_mcp_resources", json!({})).await.unwrap();
    assert!(text(&listed).contains("srv: note://1 (first; text/plain)"), "{listed:?}");
    let read = world.call(&servers, "read_mcp_resource", json!({ "uri": "note://1" })).await.unwrap();
    assert!(text(&read).contains("inside"), "{read:?}");
    let error = world.call(&servers, "read_mcp_resource", json!({ "uri": "note://2" })).await.unwrap_err();
    assert!(error.message.contains("list_mcp_resources"), "{error}");
}

#[tokio::test]
async fn a_server_that_knows_only_the_newer_handshake_is_understood() {
    let world = World::new();
    let script = r#"refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; }
        while :; do next; case $line in
        *server/discover*) result '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}';;
        *tools/list*) result '{"resultType":"complete","tools":['"$(tool a)"'],"ttlMs":0,"cacheScope":"private"}';;
        *tools/call*) result '{"resultType":"complete","content":[{"type":"text","text":"new"}]}';;
        *) refuse;; esac; done"#;
    let servers = world.connect(vec![shell("srv", script)]).await;
    assert_eq!(servers.statuses()[0].state, ServerState::Connected);
    let said = text(&world.call(&servers, "mcp_srv_a", json!({})).await.unwrap());
    assert!(said.contains("new"), "{said}");
}
