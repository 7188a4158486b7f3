mod always;

use serde_json::json;

use super::*;
use crate::ruling::CallFacts;
use crate::{Effect, Preview, Proposal};

#[track_caller]
fn refused(text: &str, tier: PolicyTier, expected: &str) {
    let error = read("user.toml", text, tier).expect_err(text);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_name_the_file_the_line_and_the_key() {
    for (text, expected) in [
        ("[[rule]]\n", "user.toml:1: decision: missing; one of allow, ask_user, deny is needed"),
        (
            "\n[[rule]]\ndecision = 'maybe'",
            "user.toml:3: decision: \"maybe\" must be one of allow, ask_user, deny",
        ),
        ("[[rule]]\ndecision = 1", "user.toml:2: decision: must be a string, not an integer"),
        (
            "[[rule]]\ndecision = 'deny'\npriority = 1000",
            "user.toml:3: priority: must be a whole number from 0 to 999",
        ),
        (
            "[[rule]]\ndecision = 'deny'\npriority = -1",
            "user.toml:3: priority: must be a whole number from 0 to 999",
        ),
        (
            "[[rule]]\ndecision = 'deny'\npriority = '1'",
            "user.toml:3: priority: must be a whole number from 0 to 999",
        ),
        (
            "[[rule]]\ndecision = 'deny'\nmodes = ['fast']",
            "user.toml:3: modes: \"fast\" must be one of plan, default, auto_edit, confined, yolo",
        ),
        ("[[rule]]\ndecision = 'deny'\nmodes = []", "user.toml:3: modes: is empty; leave it out to mean any"),
        (
            "[[rule]]\ndecision = 'deny'\ntoolName = []",
            "user.toml:3: toolName: is empty; leave it out to mean any",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ntoolName = 1",
            "user.toml:3: toolName: must be a string or a list of strings, not an integer",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ninteractive = 1",
            "user.toml:3: interactive: must be true or false, not an integer",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ncommandPrefix = ' '",
            "user.toml:1: commandPrefix: is empty; name at least the program",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ncommandPrefix = 'a'\ncommandRegex = 'b'",
            "user.toml:1: commandPrefix: give either commandPrefix or commandRegex, not both",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ncommandRegex = 'b'\ntoolName = 'read_file'",
            "user.toml:1: commandRegex: only for toolName = \"run_shell_command\"",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ntoolAnnotations = true",
            "user.toml:3: toolAnnotations: must be a table such as { readOnlyHint = true }, not a boolean",
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncommandShape = { line = 'a', words = 'b' }",
            "user.toml:3: commandShape: must be a table with line, or with words, options, fixed and inside",
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncommandShape = { word = 'b' }",
            "user.toml:3: commandShape: has word, which is unknown; it must be a table with line, or with words, \
             options, fixed and inside",
        ),
        (
            "[[rule]]\ndecision = 'deny'\ncommandShape = { line = 'a' }",
            "user.toml:1: commandShape: is only for decision = \"allow\"; use commandPrefix to forbid or to be asked",
        ),
        ("rule = 1", "user.toml:1: rule: must be a list of tables, written [[rule]], not an integer"),
        ("[[rules]]\ndecision = 'deny'", "user.toml:1: rules: unknown; only [[rule]] is known here"),
    ] {
        refused(text, PolicyTier::User, expected);
    }
    let begins = |text: &str, start: &str| {
        let error = read("user.toml", text, PolicyTier::User).expect_err(text).to_string();
        assert!(error.starts_with(start), "{error}");
    };
    begins(
        "[[rule]]\ndecision = 'deny'\ntoolname = 'x'",
        "user.toml:3: toolname: unknown; known keys are toolName, ",
    );
    begins(
        "[[rule]]\ndecision = 'deny'\nargsPattern = '('",
        "user.toml:3: argsPattern: \"(\" is no regular expression: ",
    );
    begins("[[rule]]\ndecision = 'deny'\ndecision = 'deny'", "user.toml:3: ");
    begins("[[rule]]\ndecision = ", "user.toml:2: ");
}

#[test]
fn an_extension_may_only_make_things_stricter() {
    refused(
        "[[rule]]\ndecision = 'allow'",
        PolicyTier::Extension,
        "user.toml:1: decision: an extension may not allow; use ask_user or deny",
    );
    refused(
        "[[rule]]\ndecision = 'deny'\nmodes = ['yolo']",
        PolicyTier::Extension,
        "user.toml:1: modes: an extension has no say in yolo",
    );
    assert_eq!(read("x", "[[rule]]\ndecision = 'deny'", PolicyTier::Extension).unwrap().len(), 1);
}

#[test]
fn rules_survive_being_saved() {
    let text = r#"
        [[rule]]
        toolName = ["a", "mcp_*"]
        mcpName = "s"
        argsPattern = '"path":"x\\\\y"'
        decision = "allow"
        priority = 7
        modes = ["default", "autoEdit"]
        interactive = false
        toolAnnotations = { readOnlyHint = true, title = "x" }
        subagent = "reviewer"
        [[rule]]
        commandPrefix = ["git status", "ls"]
        decision = "deny"
        denyMessage = 'not "now"'
        [[rule]]
        commandRegex = "make( all)?$"
        decision = "ask_user"
        allowRedirection = true
        [[rule]]
        commandShape = { words = ["git", "commit"], options = ["-a", "-m"], fixed = "a:b", inside = true }
        workspace = "/w"
        access = "work"
        network = "example.com"
        decision = "allow"
        [[rule]]
        commandShape = { line = ["sh", "a b"] }
        decision = "allow"
    "#;
    let rules = read("a.toml", text, PolicyTier::User).unwrap();
    assert_eq!(rules.len(), 5);
    assert_eq!(read("b.toml", &to_toml(&rules), PolicyTier::User).unwrap(), rules);
    assert_eq!(rules[1].tools, ["run_shell_command"]);
    assert_eq!(to_toml(&[]), "");
}

#[test]
fn legacy_entries_are_read() {
    for (entry, expected) in [
        ("read_file", Some(("read_file", None))),
        ("run_shell_command", Some(("run_shell_command", None))),
        ("run_shell_command(git status)", Some(("run_shell_command", Some("git status")))),
        ("ShellTool(git)", Some(("run_shell_command", Some("git")))),
        (" ShellTool( git ) ", Some(("run_shell_command", Some("git")))),
        ("ShellTool()", None),
        ("ShellTool(git", None),
        ("read_file(x)", None),
        ("(x)", None),
        ("", None),
    ] {
        let rule = legacy_rule(entry, PolicyDecision::Allow, PolicyTier::User, "settings");
        let found =
            rule.as_ref().map(|rule| (rule.tools[0].as_str(), rule.prefixes.first().map(String::as_str)));
        assert_eq!(found, expected, "{entry}");
    }
}

fn edit() -> Preview {
    let (diff, new_content) = (String::new(), String::new());
    Preview::Edit { path: "/w/a".into(), diff, original: None, original_digest: None, new_content }
}

fn exec(command: &str) -> Preview {
    Preview::Exec { command: command.into(), directory: "/w".into(), programs: vec![] }
}

fn mcp() -> Preview {
    Preview::Mcp { server: "files".into(), tool: "list".into(), title: "List".into(), address: None }
}

fn agent() -> Preview {
    let (agent, url) = ("weather".into(), "https://a.example/a2a".into());
    Preview::Agent { agent, url, prompt: "Will it rain?".into(), files: vec![] }
}

fn info() -> Preview {
    Preview::Info { prompt: "x".into(), urls: vec![] }
}

#[test]
fn choices_depend_on_what_is_shown() {
    let once = "proceed_once";
    let save = "proceed_always_and_save";
    for (shown, expected) in [
        (edit(), vec![once, "proceed_always", save, "modify_with_editor", "cancel"]),
        (exec("make"), vec![once, "proceed_always", save, "cancel"]),
        (exec("make > log"), vec![once, "cancel"]),
        (mcp(), vec![once, "proceed_always_tool", "proceed_always_server", save, "cancel"]),
        (agent(), vec![once, "proceed_always", save, "cancel"]),
        (info(), vec![once, "proceed_always", save, "cancel"]),
        (Preview::Plain { summary: String::new() }, vec![once, "proceed_always", save, "cancel"]),
        (Preview::Questions { questions: json!([]) }, vec![once, "cancel"]),
    ] {
        let ids = |permanent| {
            let offered =
                judge("some_tool", shown.clone(), PolicyMode::Default, |facts| choices(facts, permanent));
            offered.into_iter().map(ApprovalChoice::id).collect::<Vec<_>>()
        };
        assert_eq!(ids(true), expected);
        let unsaved: Vec<_> = expected.into_iter().filter(|id| *id != save).collect();
        assert_eq!(ids(false), unsaved);
    }
}

#[test]
fn choices_are_known_by_their_ids() {
    for choice in ApprovalChoice::ALL {
        assert_eq!(ApprovalChoice::from_id(choice.id()), Some(choice));
    }
    assert_eq!(ApprovalChoice::from_id("proceed"), None);
}

fn judge<T>(tool: &str, shown: Preview, mode: PolicyMode, then: impl FnOnce(&CallFacts<'_>) -> T) -> T {
    let run = |command: &String| Effect::Run {
        command: command.clone(),
        directory: "/w".into(),
        access: crate::Access::new(crate::AccessLevel::Work),
    };
    let (input, effects) = match &shown {
        Preview::Exec { command, .. } => (json!({ "command": command }), vec![run(command)]),
        Preview::Edit { .. } => {
            (json!({"file_path": "a.rs", "content": "x"}), vec![Effect::Write { path: "/w/a".into() }])
        }
        Preview::Mcp { server, tool, .. } => {
            (json!({}), vec![Effect::UseServer { server: server.clone(), tool: tool.clone() }])
        }
        Preview::Agent { agent, .. } => {
            let origin = "https://a.example".to_owned();
            (json!({}), vec![Effect::Delegate { agent: agent.clone(), origin }])
        }
        _ => (json!({}), vec![Effect::Fetch { url: "https://example.org".into() }]),
    };
    let server = matches!(shown, Preview::Mcp { .. }).then_some("files");
    let proposal = Proposal { input: input.as_object().unwrap().clone(), effects, shown };
    then(&CallFacts {
        tool,
        server,
        subagent: None,
        annotations: &Map::new(),
        proposal: &proposal,
        roots: &["/w".into()],
        plans: None,
        mode,
        interactive: true,
        trusted: true,
        confinement: &crate::Confinement::full(),
        files: &crate::ruling::NoFileLookup,
    })
}

fn answer(choice: ApprovalChoice, tool: &str, shown: Preview) -> ChoiceOutcome {
    judge(tool, shown, PolicyMode::Default, |facts| rules_for(choice, facts))
}

#[test]
fn some_answers_make_no_rules() {
    for shown in [edit(), exec("make"), mcp(), info(), Preview::Questions { questions: json!([]) }] {
        assert_eq!(answer(ApprovalChoice::ProceedOnce, "x", shown.clone()), ChoiceOutcome::Run);
        assert_eq!(answer(ApprovalChoice::Cancel, "x", shown.clone()), ChoiceOutcome::Cancel);
        assert_eq!(answer(ApprovalChoice::ModifyWithEditor, "x", shown), ChoiceOutcome::Modify);
    }
    assert_eq!(
        answer(ApprovalChoice::ProceedAlways, "ask_user", Preview::Questions { questions: json!([]) }),
        ChoiceOutcome::Run
    );
}

#[test]
fn always_for_an_edit_switches_the_mode() {
    assert_eq!(
        answer(ApprovalChoice::ProceedAlways, "replace", edit()),
        ChoiceOutcome::Switch(PolicyMode::AutoEdit)
    );
    let ChoiceOutcome::Save { rules, switch } =
        answer(ApprovalChoice::ProceedAlwaysAndSave, "write_file", edit())
    else {
        panic!()
    };
    assert_eq!(switch, Some(PolicyMode::AutoEdit));
    assert_eq!(rules[0].tools, ["write_file"]);
    assert_eq!(rules[0].arguments.as_ref().unwrap().as_str(), r#""file_path":"a\.rs""#);
}

#[test]
fn always_for_an_agent_is_about_the_agent_at_its_origin() {
    for choice in [ApprovalChoice::ProceedAlways, ApprovalChoice::ProceedAlwaysAndSave] {
        let rules = match answer(choice, "invoke_agent", agent()) {
            ChoiceOutcome::Remember(rules) | ChoiceOutcome::Save { rules, .. } => rules,
            other => panic!("{other:?}"),
        };
        assert_eq!(rules[0].tools, ["weather"]);
        assert_eq!(rules[0].agent_origin.as_deref(), Some("https://a.example"));
        let written = to_toml(&rules);
        let again = read("rules.toml", &written, rules[0].tier).unwrap();
        assert_eq!(again, rules, "{written}");
    }
    let sentence = judge("invoke_agent", agent(), PolicyMode::Default, |call| {
        grants(ApprovalChoice::ProceedAlways, call)
    });
    let expected = "Always: ask the agent weather at https://a.example and nowhere else, with any text, until this conversation ends.";
    assert_eq!(sentence.unwrap(), expected);
}

#[test]
fn always_for_a_server_is_about_the_tool_or_all_its_tools() {
    for (choice, expected) in [
        (ApprovalChoice::ProceedAlwaysTool, "mcp_files_list"),
        (ApprovalChoice::ProceedAlways, "mcp_files_list"),
        (ApprovalChoice::ProceedAlwaysServer, "mcp_files_*"),
    ] {
        let ChoiceOutcome::Remember(rules) = answer(choice, "mcp_files_list", mcp()) else { panic!() };
        assert_eq!(
            (&rules[0].tools[..], rules[0].server.as_deref()),
            (&[expected.to_owned()][..], Some("files"))
        );
    }
    let ChoiceOutcome::Save { rules, switch: None } =
        answer(ApprovalChoice::ProceedAlwaysAndSave, "mcp_files_list", mcp())
    else {
        panic!()
    };
    assert_eq!((rules[0].tier, rules[0].priority), (PolicyTier::User, 950));
}

#[test]
fn always_for_other_tools_is_about_the_tool_unless_that_is_too_much() {
    let ChoiceOutcome::Remember(rules) = answer(ApprovalChoice::ProceedAlways, "web_fetch", info()) else {
        panic!()
    };
    assert_eq!(rules[0].tools, ["web_fetch"]);
    for sensitive in ["read_file", "glob", "run_shell_command"] {
        assert_eq!(answer(ApprovalChoice::ProceedAlways, sensitive, info()), ChoiceOutcome::Remember(vec![]));
    }
}

#[test]
fn an_answer_holds_in_its_mode_and_in_freer_ones() {
    use PolicyMode::{AutoEdit, Confined, Default, Plan, Yolo};
    for (mode, expected) in [
        (Plan, vec![Plan, Default, AutoEdit, Confined, Yolo]),
        (Default, vec![Default, AutoEdit, Confined, Yolo]),
        (AutoEdit, vec![AutoEdit, Confined, Yolo]),
        (Confined, vec![Confined, Yolo]),
        (Yolo, vec![Yolo]),
    ] {
        let outcome =
            judge("web_fetch", info(), mode, |facts| rules_for(ApprovalChoice::ProceedAlways, facts));
        let ChoiceOutcome::Remember(rules) = outcome else { panic!() };
        assert_eq!(rules[0].modes, expected);
    }
}
