mod command;
mod git;
mod links;
mod protected;

use serde_json::json;

use super::*;
use crate::Preview;
use crate::policy::{PolicyTier, read};
use PolicyDecision::{Allow, Ask, Deny};

const ROOT: &str = "/w/project";

/// A call to be judged, with room for what it borrows.
struct Call {
    tool: &'static str,
    effects: Vec<Effect>,
    input: Value,
    annotations: Value,
    mode: PolicyMode,
    interactive: bool,
    trusted: bool,
    confinement: Confinement,
}

impl Call {
    fn new(tool: &'static str, effect: impl IntoIterator<Item = Effect>) -> Self {
        let (input, annotations) = (json!({}), json!({}));
        let effects = effect.into_iter().collect();
        Self {
            tool,
            effects,
            input,
            annotations,
            mode: PolicyMode::Default,
            interactive: true,
            trusted: true,
            confinement: Confinement::full(),
        }
    }

    fn command(command: &str) -> Self {
        let effect = Effect::Run {
            command: command.to_owned(),
            directory: ROOT.into(),
            access: Access::new(crate::AccessLevel::Work),
        };
        Self { input: json!({ "command": command }), ..Self::new("run_shell_command", [effect]) }
    }

    fn mode(self, mode: PolicyMode) -> Self {
        Self { mode, ..self }
    }

    fn judge(&self, policy: &Policy) -> Ruling {
        self.judge_with(policy, &NoFileLookup)
    }

    fn judge_with(&self, policy: &Policy, files: &dyn FileLookup) -> Ruling {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let shown = Preview::Plain { summary: String::new() };
        let proposal = Proposal { input: object(&self.input), effects: self.effects.clone(), shown };
        let server = self.effects.iter().find_map(|effect| match effect {
            Effect::UseServer { server, .. } => Some(server.as_str()),
            _ => None,
        });
        rule(
            policy,
            &CallFacts {
                tool: self.tool,
                server,
                subagent: None,
                annotations: &object(&self.annotations),
                proposal: &proposal,
                roots: &[ROOT.into()],
                plans: Some(Path::new("/w/plans")),
                mode: self.mode,
                interactive: self.interactive,
                trusted: self.trusted,
                confinement: &self.confinement,
                files,
            },
        )
    }
}

fn policy(text: &str) -> Policy {
    Policy::new(read("user.toml", text, PolicyTier::User).unwrap())
}

#[track_caller]
fn check(policy: &Policy, line: &str, mode: PolicyMode, expected: PolicyDecision) {
    let ruling = Call::command(line).mode(mode).judge(policy);
    assert_eq!(ruling.decision, expected, "{line:?} in {mode:?}: {}", ruling.why);
}

fn write(path: &str) -> Effect {
    Effect::Write { path: path.into() }
}

#[test]
fn every_effect_has_a_default_in_every_mode() {
    let read = || Effect::Read { path: "/w/project/a".into() };
    let fetch = || Effect::Fetch { url: "https://example.org".into() };
    let server = || Effect::UseServer { server: "s".into(), tool: "t".into() };
    let run = |command: &str| Effect::Run {
        command: command.into(),
        directory: ROOT.into(),
        access: Access::new(crate::AccessLevel::Work),
    };
    // plan, default, auto_edit, confined, yolo
    for (effects, expected) in [
        (vec![], [Allow, Allow, Allow, Allow, Allow]),
        (vec![read()], [Allow, Allow, Allow, Allow, Allow]),
        (vec![write("/w/project/a")], [Deny, Ask, Allow, Allow, Allow]),
        (vec![write("/w/other/a")], [Deny, Ask, Ask, Ask, Allow]),
        (vec![write("/w/project/../x")], [Deny, Ask, Ask, Ask, Allow]),
        (vec![write("/w/plans/a.md")], [Allow, Ask, Ask, Ask, Allow]),
        (vec![write("/w/plans/a.rs")], [Deny, Ask, Ask, Ask, Allow]),
        (vec![write("/w/plans/../project/a.md")], [Deny, Ask, Allow, Allow, Allow]),
        (vec![fetch()], [Ask, Ask, Ask, Ask, Allow]),
        (vec![server()], [Deny, Ask, Ask, Ask, Allow]),
        (vec![agent("https://a.example")], [Deny, Ask, Ask, Ask, Allow]),
        (vec![Effect::AskPerson], [Ask, Ask, Ask, Ask, Ask]),
        (vec![run("make")], [Deny, Ask, Ask, Allow, Allow]),
        (vec![run("ls")], [Deny, Allow, Allow, Allow, Allow]),
        (vec![run("$x")], [Deny, Ask, Ask, Allow, Allow]),
        (vec![read(), write("/w/project/a")], [Deny, Ask, Allow, Allow, Allow]),
        (vec![read(), run("make")], [Deny, Ask, Ask, Allow, Allow]),
        (vec![run("ls"), run("make")], [Deny, Ask, Ask, Allow, Allow]),
    ] {
        for (mode, expected) in PolicyMode::ALL.into_iter().zip(expected) {
            let call = Call::new("some_tool", effects.clone()).mode(mode);
            assert_eq!(call.judge(&Policy::default()).decision, expected, "{effects:?} in {mode:?}");
            let alone = Call { interactive: false, ..call };
            let expected = if expected == Ask { Deny } else { expected };
            assert_eq!(alone.judge(&Policy::default()).decision, expected, "{effects:?} in {mode:?}, alone");
        }
    }
}

fn agent(origin: &str) -> Effect {
    Effect::Delegate { agent: "weather".into(), origin: origin.into() }
}

#[test]
fn rules_name_an_agent_or_the_tool_that_asks_agents() {
    let call = |origin: &str| Call::new("invoke_agent", [agent(origin)]);
    let here = "https://a.example";
    for (rule, expected) in [
        (r#"toolName = "weather""#, Allow),
        (r#"toolName = "invoke_agent""#, Allow),
        (r#"toolName = "invoke_*""#, Allow),
        // A pattern for tools says nothing about agents.
        (r#"toolName = "wea*""#, Ask),
        (r#"toolName = "news""#, Ask),
        ("toolName = \"weather\"\nagentOrigin = \"https://a.example\"", Allow),
        ("toolName = \"weather\"\nagentOrigin = \"https://b.example\"", Ask),
        (r#"agentOrigin = "https://a.example""#, Allow),
    ] {
        let rules = policy(&format!("[[rule]]\n{rule}\ndecision = \"allow\"\n"));
        assert_eq!(call(here).judge(&rules).decision, expected, "{rule}");
    }
    for rule in ["weather", "wea*", "invoke_agent"] {
        let rules = policy(&format!("[[rule]]\ntoolName = \"{rule}\"\ndecision = \"deny\"\n"));
        assert_eq!(call(here).judge(&rules).decision, Deny, "{rule}");
    }
    let rules = policy("[[rule]]\ntoolName = \"weather\"\ndecision = \"allow\"\n");
    assert_eq!(call(here).mode(PolicyMode::Plan).judge(&rules).decision, Deny);
    let alone = Call { interactive: false, ..call(here) };
    assert_eq!(alone.judge(&rules).decision, Allow);
    assert_eq!(alone.judge(&Policy::default()).decision, Deny);
    let files = r#"[[rule]]
agentOrigin = "https://a.example"
decision = "allow"
"#;
    assert_eq!(Call::new("some_tool", [write("/w/project/a")]).judge(&policy(files)).decision, Ask);
}

/// While its card is not known, a call may go to one of several origins.
#[test]
fn an_allowed_agent_is_asked_about_again_only_where_it_may_be_called_elsewhere() {
    let judge = |decision: &str, named: &str, origins: &str| {
        let rule = format!(
            "[[rule]]\ntoolName = \"weather\"\nagentOrigin = \"{named}\"\ndecision = \"{decision}\"\n"
        );
        Call::new("invoke_agent", [agent(origins)]).judge(&policy(&rule)).decision
    };
    let (one, two) = ("https://a.example", "https://b.example");
    let both = format!("{one} or {two}");
    for origins in [one, two, &both, &format!("{two} or {one}")] {
        assert_eq!(judge("allow", &both, origins), Allow, "{origins}");
        assert_eq!(judge("deny", &both, origins), Deny, "{origins}");
    }
    for origins in [two, &both, "https://a.example.evil", "unknown"] {
        assert_eq!(judge("allow", one, origins), Ask, "{origins}");
    }
    assert_eq!(judge("deny", one, &both), Deny);
}

#[test]
fn a_rule_for_a_tool_allows_no_agent_of_its_name() {
    for name in ["read_file", "search_file_content", "share_file", "mcp_docs_find", "discovered_tool_x"] {
        let agent = Effect::Delegate { agent: name.into(), origin: "https://a.example".into() };
        let call = Call::new("invoke_agent", [agent]);
        let judge = |decision: &str, more: &str| {
            let rule = format!("[[rule]]\ntoolName = \"{name}\"\ndecision = \"{decision}\"\n{more}");
            call.judge(&policy(&rule)).decision
        };
        assert_eq!(judge("allow", ""), Ask, "{name}");
        assert_eq!(judge("deny", ""), Deny, "{name}");
        assert_eq!(judge("allow", "agentOrigin = \"https://a.example\"\n"), Allow, "{name}");
    }
}

#[test]
fn a_web_search_is_allowed_in_every_mode() {
    for mode in PolicyMode::ALL {
        let fetch = Effect::Fetch { url: "https://example.org".into() };
        let call = Call::new("google_web_search", [fetch]).mode(mode);
        assert_eq!(call.judge(&Policy::default()).decision, Allow, "{mode:?}");
    }
}

#[test]
fn a_server_that_says_it_only_reads_may_be_asked_about_while_planning() {
    let server = Effect::UseServer { server: "s".into(), tool: "t".into() };
    let call = Call {
        annotations: json!({"readOnlyHint": true}),
        ..Call::new("mcp_s_t", [server]).mode(PolicyMode::Plan)
    };
    assert_eq!(call.judge(&Policy::default()).decision, Ask);
}

#[test]
fn a_folder_that_is_not_trusted_forces_the_default_mode() {
    for (mode, expected) in [
        (PolicyMode::Plan, Deny),
        (PolicyMode::Default, Ask),
        (PolicyMode::AutoEdit, Ask),
        (PolicyMode::Confined, Ask),
        (PolicyMode::Yolo, Ask),
    ] {
        let call = Call { trusted: false, ..Call::new("write_file", [write("/w/project/a")]).mode(mode) };
        assert_eq!(call.judge(&Policy::default()).decision, expected, "{mode:?}");
    }
    let git = Call { trusted: false, ..Call::command("git status") };
    assert_eq!(git.judge(&Policy::default()).decision, Ask);
    assert_eq!(git.judge(&policy("[[rule]]\ncommandPrefix = 'git'\ndecision = 'allow'")).decision, Ask);
}

#[test]
fn the_strongest_rule_decides() {
    let deny = |tier, priority| PolicyRule { priority, ..PolicyRule::new(Deny, tier, "deny") };
    let allow = |tier, priority| PolicyRule { priority, ..PolicyRule::new(Allow, tier, "allow") };
    for (rules, expected) in [
        (vec![deny(PolicyTier::User, 1), allow(PolicyTier::User, 2)], Allow),
        (vec![deny(PolicyTier::User, 2), allow(PolicyTier::User, 1)], Deny),
        (vec![deny(PolicyTier::Admin, 0), allow(PolicyTier::User, 999)], Deny),
        (vec![deny(PolicyTier::Workspace, 999), allow(PolicyTier::User, 0)], Allow),
        (vec![deny(PolicyTier::Default, 999), allow(PolicyTier::Extension, 0)], Allow),
        (vec![deny(PolicyTier::User, 1), allow(PolicyTier::User, 1)], Deny),
    ] {
        assert_eq!(
            Call::new("x", [write("/w/a")]).judge(&Policy::new(rules.clone())).decision,
            expected,
            "{rules:?}"
        );
    }
}

#[test]
fn every_field_of_a_rule_narrows_it() {
    let server = || Effect::UseServer { server: "files".into(), tool: "list".into() };
    let call = || Call {
        input: json!({"path": "a", "deep": true}),
        annotations: json!({"readOnlyHint": true, "title": "x"}),
        ..Call::new("mcp_files_list", [server()])
    };
    for (narrow, fits) in [
        ("", true),
        ("toolName = 'mcp_files_list'", true),
        ("toolName = ['other', 'mcp_*']", true),
        ("toolName = 'mcp_files_*'", true),
        ("toolName = 'mcp_other_*'", false),
        ("mcpName = 'files'", true),
        ("mcpName = 'other'", false),
        ("argsPattern = '\"deep\":true.*\"path\":\"a\"'", true),
        ("argsPattern = '\"path\":\"b\"'", false),
        ("modes = ['default']", true),
        ("modes = ['auto_edit', 'yolo']", false),
        ("interactive = true", true),
        ("interactive = false", false),
        ("toolAnnotations = { readOnlyHint = true }", true),
        ("toolAnnotations = { readOnlyHint = false }", false),
        ("toolAnnotations = { destructiveHint = true }", false),
        ("subagent = 'reviewer'", false),
    ] {
        let policy = policy(&format!("[[rule]]\n{narrow}\ndecision = 'allow'"));
        assert_eq!(call().judge(&policy).decision, if fits { Allow } else { Ask }, "{narrow}");
    }
}

#[test]
fn no_rule_answers_in_a_persons_place() {
    let all = policy("[[rule]]\ndecision = 'allow'");
    assert_eq!(Call::new("ask_user", [Effect::AskPerson]).judge(&all).decision, Ask);
    assert_eq!(
        Call { interactive: false, ..Call::new("ask_user", [Effect::AskPerson]) }.judge(&all).decision,
        Deny
    );
}

#[test]
fn the_outer_modes_are_stronger_than_rules_that_do_not_name_them() {
    let named = |modes: &str, decision: &str| policy(&format!("[[rule]]\n{modes}\ndecision = '{decision}'"));
    for (modes, decision, mode, expected) in [
        ("", "allow", PolicyMode::Plan, Deny),
        ("modes = ['plan']", "allow", PolicyMode::Plan, Allow),
        ("", "deny", PolicyMode::Plan, Deny),
        ("", "ask_user", PolicyMode::Yolo, Allow),
        ("modes = ['yolo']", "ask_user", PolicyMode::Yolo, Ask),
        ("", "deny", PolicyMode::Yolo, Deny),
    ] {
        let policy = named(modes, decision);
        assert_eq!(
            Call::new("x", [write("/w/project/a")]).mode(mode).judge(&policy).decision,
            expected,
            "{modes} {decision}"
        );
        check(&policy, "make", mode, expected);
    }
}

#[test]
fn without_a_person_the_model_gets_the_reason() {
    let ruling = Call { interactive: false, ..Call::command("make") }.judge(&Policy::default());
    assert_eq!(ruling.decision, Deny);
    assert!(ruling.deny_message.unwrap().contains("approval of a person"));
    assert_eq!(Call { interactive: false, ..Call::command("ls") }.judge(&Policy::default()).decision, Allow);
}

#[test]
fn where_protected_paths_cannot_be_kept_only_what_looks_runs_unasked() {
    let gap = "protected files inside the workspace can be written";
    let weak = Confinement { protected_paths: false, gaps: vec![gap.to_owned()], ..Confinement::full() };
    let allowed = policy(
        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"allow\"\npriority = 500\n",
    );
    let unruled = Policy::default();
    for (policy, line, mode, full, expected) in [
        (&unruled, "ls", PolicyMode::Default, Allow, Allow),
        (&unruled, "ls", PolicyMode::Confined, Allow, Ask),
        (&unruled, "make", PolicyMode::Default, Ask, Ask),
        (&unruled, "make", PolicyMode::Confined, Allow, Ask),
        (&unruled, "make", PolicyMode::Yolo, Allow, Allow),
        (&allowed, "make", PolicyMode::Default, Allow, Ask),
        (&allowed, "make", PolicyMode::Confined, Allow, Ask),
    ] {
        let call = Call::command(line).mode(mode);
        assert_eq!(call.judge(policy).decision, full, "{line:?} in {mode:?}");
        let ruling = Call { confinement: weak.clone(), ..call }.judge(policy);
        assert_eq!(ruling.decision, expected, "{line:?} in {mode:?}: {}", ruling.why);
        if expected == Ask {
            let access = ruling.access.expect("how far it would reach");
            assert_eq!(access.gap.as_deref(), Some(gap), "{line:?} in {mode:?}");
        }
    }
}
