//! What `/agents` shows and does.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_command::{
    AgentDirectory, AgentEntry, AgentEntryKind, AgentList, AgentReload, CONFIGURE_AGENT, CommandError,
    CommandRegistry, CommandStep, SwitchRefusal, ToolUse,
};
use serde_json::{Map, Value, json};

use crate::fake_context::{FakeContext, result};
use crate::standard::done;

/// Remembers what was asked of it.
#[derive(Default)]
struct FakeAgents {
    list: AgentList,
    reload: AgentReload,
    asked: Mutex<Vec<String>>,
}

impl FakeAgents {
    fn ask(&self, what: &str, name: &str) -> Result<String, String> {
        self.asked.lock().unwrap().push(format!("{what} {name}"));
        if name == "helper" {
            Ok(format!("{what} done"))
        } else {
            Err(format!("Agent \"{name}\" not found."))
        }
    }
}

#[async_trait]
impl AgentDirectory for FakeAgents {
    async fn list(&self) -> AgentList {
        self.list.clone()
    }

    async fn reload(&self) -> Result<AgentReload, String> {
        self.ask("reload", "helper")?;
        Ok(self.reload.clone())
    }

    async fn test(&self, name: &str) -> Result<AgentEntry, String> {
        self.ask("test", name)?;
        Ok(AgentEntry { latency_ms: Some(12), ..helper() })
    }

    async fn sign_in(&self, name: &str) -> Result<String, String> {
        self.ask("sign in", name)
    }

    async fn check(&self, name: &str) -> Result<(), String> {
        self.ask("check", name).map(drop)
    }

    async fn refuses_switch(&self, name: &str, enabled: bool) -> Option<SwitchRefusal> {
        match (name, enabled) {
            ("helper", true) => Some(SwitchRefusal::Already("Agent \"helper\" is already enabled.".into())),
            ("helper", false) => None,
            _ => Some(SwitchRefusal::Refused(format!("Agent \"{name}\" not found."))),
        }
    }
}

fn helper() -> AgentEntry {
    AgentEntry {
        name: "helper".into(),
        kind: AgentEntryKind::Remote,
        enabled: true,
        display_name: Some("Helper".into()),
        description: Some("Knows\nthe calendar.".into()),
        status: "ready".into(),
        auth: Some("apiKey".into()),
        url: Some("https://example.com".into()),
        source: "user".into(),
        file: Some("~/.gemini/agents/a.md:2".into()),
        details: vec![("skills".into(), "plan".into())],
        ..AgentEntry::default()
    }
}

fn context(agents: FakeAgents) -> (FakeContext, Arc<FakeAgents>) {
    let agents = Arc::new(agents);
    (FakeContext { agents: Some(agents.clone()), ..FakeContext::full() }, agents)
}

fn full() -> (FakeContext, Arc<FakeAgents>) {
    let broken = AgentEntry {
        name: "far".into(),
        status: "failed".into(),
        error: Some("connection refused".into()),
        source: "project".into(),
        ..AgentEntry::default()
    };
    let list = AgentList {
        entries: vec![helper(), broken],
        errors: vec!["Failed to load agent from b.md: two\nlines".into()],
        notices: vec!["An agent waits.".into()],
    };
    let reload = AgentReload {
        local: 1,
        remote: 3,
        new: vec!["one".into(), "two".into()],
        unaccepted: vec!["theirs".into()],
        deleted: vec!["old".into()],
        errors: vec!["b.md is wrong".into()],
        ..AgentReload::default()
    };
    context(FakeAgents { list, reload, asked: Mutex::default() })
}

#[tokio::test]
async fn agents_are_listed_with_their_state() {
    let (context, _) = full();
    let expected = "Agents:\n\n\
        - helper (Helper): Knows the calendar. [remote, ready, auth apiKey]\n\
        - far [remote, failed]\n  connection refused\n\n\
        Errors:\n\n- Failed to load agent from b.md: two\n  lines\n\nAn agent waits.";
    for line in ["/agents", "/agents list", "/agents ls"] {
        let (text, data) = done(context.give(line).await);
        assert_eq!(text, expected, "{line}");
        assert_eq!(data["agents"][0]["kind"], "remote");
        assert_eq!(data["agents"][1]["error"], "connection refused");
        assert_eq!(
            (data["errors"].as_array().map(Vec::len), &data["notices"][0]),
            (Some(1), &json!("An agent waits."))
        );
    }
    let (context, _) = super::standard_agents::context(FakeAgents::default());
    assert_eq!(done(context.give("/agents").await).0, "There are no agents.");
}

#[tokio::test]
async fn a_reload_tells_totals_and_changes() {
    let (context, _) = full();
    let expected = "Agents reloaded: 4 (1 local, 3 remote).\n- New: one, two\n- Deleted: old\n\
        - Not used before you accept them (`attache trust`): theirs\n- Errors: 1\n  - b.md is wrong";
    for line in ["/agents reload", "/agents refresh"] {
        let (text, data) = done(context.give(line).await);
        assert_eq!(text, expected);
        let reload = json!({"local": 1, "remote": 3, "new": ["one", "two"], "updated": [], "deleted": ["old"],
            "unaccepted": ["theirs"], "errors": ["b.md is wrong"]});
        assert_eq!(data, json!({ "reload": reload }));
    }
}

#[tokio::test]
async fn an_agent_is_shown_and_tested() {
    let (context, agents) = full();
    let (text, data) = done(context.give("/agents show helper").await);
    for line in ["helper:\n\n- kind: remote\n", "\n- authentication: apiKey\n", "\n- skills: plan"] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(data["agent"]["url"], "https://example.com");
    let (text, data) = done(context.give("/agents test helper").await);
    assert!(text.contains("- latency: 12 ms"), "{text}");
    assert_eq!(data["agent"]["latencyMs"], 12);
    assert_eq!(done(context.give("/agents auth helper").await).0, "sign in done");
    assert_eq!(
        context.give("/agents reset helper").await.unwrap(),
        CommandStep::ForgetAgent("helper".into())
    );
    assert_eq!(*agents.asked.lock().unwrap(), ["test helper", "sign in helper", "check helper"]);
    for command in ["show", "test", "auth", "reset", "enable", "disable"] {
        let error = context.give(&format!("/agents {command} none")).await.unwrap_err();
        assert_eq!(error, CommandError::Failed { what: "Agent \"none\" not found.".into() }, "{command}");
    }
}

#[tokio::test]
async fn switching_goes_through_a_tool_that_asks() {
    let (context, _) = full();
    let (text, data) = done(context.give("/agents enable helper").await);
    assert_eq!((text.as_str(), &data["changed"]), ("Agent \"helper\" is already enabled.", &json!(false)));
    let input =
        Map::from_iter([("name".to_owned(), json!("helper")), ("enabled".to_owned(), Value::Bool(false))]);
    let expected = CommandStep::UseTools(vec![ToolUse { tool: CONFIGURE_AGENT.into(), input }]);
    assert_eq!(context.give("/agents disable helper").await.unwrap(), expected);
    for (failed, expected) in [(false, "it is off"), (true, "Nothing was changed: it is off")] {
        let results = [vec![result("it is off", failed)]];
        let step = context.go_on(&CommandRegistry::standard(), "/agents disable helper", &results).await;
        let (text, data) = done(step);
        assert_eq!((text.as_str(), &data["changed"]), (expected, &json!(!failed)));
    }
}

#[tokio::test]
async fn a_wrong_line_is_told_its_usage() {
    let (context, _) = full();
    for (line, expected) in [
        ("/agents enable", "usage: /agents enable <agent_name>"),
        ("/agents disable two words", "usage: /agents disable <agent_name>"),
        ("/agents test ../x", "usage: /agents test <agent_name>"),
        ("/agents list all", "it takes no arguments; usage: /agents list"),
    ] {
        let error = context.give(line).await.unwrap_err().to_string();
        assert!(error.ends_with(expected), "{line}: {error}");
    }
    let error = context.give("/agents config helper").await.unwrap_err().to_string();
    assert!(error.contains("`/agents` has no `config`"), "{error}");
}

#[tokio::test]
async fn without_agents_the_command_says_so() {
    let error = FakeContext::full().give("/agents").await.unwrap_err();
    assert_eq!(error, CommandError::Failed { what: "there are no agents in this conversation".into() });
}
