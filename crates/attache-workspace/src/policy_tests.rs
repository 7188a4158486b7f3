use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use attache_tool::policy::PolicyDecision;

use super::*;
use crate::settings::tests::World;

/// What a rule says, in a few words.
fn summary(rule: &PolicyRule) -> String {
    let about = match (&rule.server, rule.tools.as_slice(), rule.prefixes.as_slice()) {
        (Some(server), _, _) => format!("server {server}"),
        (None, tools, []) => tools.join("+"),
        (None, tools, prefixes) => format!("{}({})", tools.join("+"), prefixes.join("+")),
    };
    let modes: Vec<&str> = rule.modes.iter().map(|mode| mode.name()).collect();
    let modes = if modes.is_empty() { String::new() } else { format!(" in {}", modes.join("+")) };
    format!("{:?}.{} {} {about}{modes}", rule.tier, rule.priority, rule.decision.name())
}

fn load_in(world: &World) -> Result<LoadedRules, ConfigError> {
    let (settings, operator) = (world.load()?, world.operator_settings()?);
    let workspace = world.at("work");
    let owner = fs::metadata(world.at("")).unwrap().uid();
    let flags = &world.flags;
    load_owned_by(
        &RuleSources { settings: &settings, workspace: &workspace, flags, operator: &operator },
        owner,
    )
}

#[track_caller]
fn check(world: &World, expected: &[&str]) {
    let policy = load_in(world).unwrap().policy;
    assert_eq!(policy.rules().iter().map(summary).collect::<Vec<_>>(), expected);
}

fn rule(tool: &str, decision: &str) -> String {
    format!("[[rule]]\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 5\n")
}

#[test]
fn rules_of_files_have_the_tier_of_their_place() {
    let admin = |world: &World| format!("admin_policies = {:?}\n", world.at("admin"));
    let mut world = World::new()
        .file("home/.gemini/policies/b.toml", &rule("b", "deny"))
        .file("home/.gemini/policies/a.toml", &rule("a", "deny"))
        .file("home/.gemini/policies/notes.md", "no rules")
        .file("work/.gemini/policies/w.toml", &rule("w", "allow"))
        .file("admin/x.toml", &rule("x", "ask_user"))
        .file("more/m.toml", &rule("m", "allow"))
        .user(r#"{"policyPaths": ["~/../more"]}"#);
    let text = admin(&world);
    world = world.operator(&text);
    fs::set_permissions(world.at("admin"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.at("admin/x.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    check(
        &world,
        &["Admin.5 ask_user x", "User.5 deny a", "User.5 deny b", "User.5 allow m", "Workspace.5 allow w"],
    );
    let mut world = world.untrusted();
    check(&world, &["Admin.5 ask_user x", "User.5 deny a", "User.5 deny b", "User.5 allow m"]);
    world.flags.policies = vec![world.at("work/.gemini/policies/w.toml")];
    check(&world, &["Admin.5 ask_user x", "User.5 allow w", "User.5 allow m"]);
    world.flags.admin_policies = vec![world.at("more")];
    check(&world, &["Admin.5 ask_user x", "Admin.5 allow m", "User.5 allow w", "User.5 allow m"]);
    world.flags.policies = vec![world.at("missing.toml")];
    assert!(load_in(&world).unwrap_err().to_string().contains("missing.toml"));
}

#[test]
fn rules_of_the_administrator_must_be_out_of_others_reach() {
    let world = World::new().file("admin/x.toml", &rule("x", "deny"));
    let text = format!("admin_policies = {:?}\n", world.at("admin"));
    let world = world.operator(&text);
    fs::set_permissions(world.at("admin"), fs::Permissions::from_mode(0o777)).unwrap();
    let error = load_in(&world).unwrap_err();
    assert!(
        error.to_string().ends_with("others than root can write it") && error.hint().is_some(),
        "{error}"
    );
    fs::set_permissions(world.at("admin"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.at("admin/x.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(load_in(&world).unwrap_err().to_string().contains("x.toml"));
}

#[test]
fn a_file_that_is_not_understood_stops_everything() {
    let world = World::new().file("work/.gemini/policies/w.toml", "[[rule]]\ndecision = 'perhaps'\n");
    let error = load_in(&world).unwrap_err().to_string();
    assert!(error.contains("w.toml:2: decision"), "{error}");
}

#[test]
fn settings_make_rules_with_the_priorities_of_the_table() {
    let text = r#"{
        "tools": {"exclude": ["web_fetch", "run_shell_command(rm)"], "allowed": ["ShellTool(git status)", "glob"],
                  "confirmationRequired": ["read_file"]},
        "mcpServers": {"mine": {"command": "x", "trust": true}, "other": {"command": "x"}},
        "mcp": {"allowed": ["mine", "other"], "excluded": ["bad"]}
    }"#;
    check(
        &World::new().user(text),
        &[
            "User.900 deny server bad",
            "User.400 deny web_fetch",
            "User.400 deny run_shell_command(rm)",
            "User.350 ask_user read_file",
            "User.300 allow run_shell_command(git status)",
            "User.300 allow glob",
            "User.200 allow server mine",
            "User.100 allow server mine",
            "User.100 allow server other",
        ],
    );
    let forbidden =
        ["User.900 deny server bad", "User.400 deny web_fetch", "User.400 deny run_shell_command(rm)"];
    let asked = [&forbidden[..], &["Workspace.350 ask_user read_file"]].concat();
    check(&World::new().project(text).untrusted(), &asked);
    check(&World::new().project(text).unaccepted(), &asked);
    check(
        &World::new().project(text),
        &[
            "User.900 deny server bad",
            "User.400 deny web_fetch",
            "User.400 deny run_shell_command(rm)",
            "Workspace.350 ask_user read_file",
            "Workspace.300 allow run_shell_command(git status)",
            "Workspace.300 allow glob",
            "Workspace.200 allow server mine",
            "Workspace.100 allow server mine",
            "Workspace.100 allow server other",
        ],
    );
    let error = load_in(&World::new().user(r#"{"tools": {"exclude": ["read_file(x)"]}}"#)).unwrap_err();
    assert!(error.to_string().contains("run_shell_command(COMMAND)"), "{error}");
}

#[test]
fn core_tools_can_be_narrowed_to_commands() {
    check(
        &World::new().user(r#"{"tools": {"core": ["run_shell_command(git)", "glob"]}}"#),
        &[
            "User.250 ask_user run_shell_command(git) in default+auto_edit",
            "User.250 allow run_shell_command(git) in yolo",
            "User.249 deny run_shell_command",
        ],
    );
    check(&World::new().user(r#"{"tools": {"core": ["run_shell_command(git)", "run_shell_command"]}}"#), &[]);
    check(&World::new().user(r#"{"tools": {"core": ["glob"]}}"#), &[]);
}

#[test]
fn saved_approvals_are_read_again_unless_they_are_forbidden() {
    let world = World::new();
    let settings = world.load().unwrap();
    let path = auto_saved(&settings, &world.at("work")).unwrap();
    assert!(path.starts_with(world.at("home/.gemini/attache/projects")), "{}", path.display());
    assert_ne!(path, auto_saved(&settings, &world.at("home")).unwrap(), "each workspace has its own");
    let rule = PolicyRule {
        tools: vec!["glob".into()],
        priority: 950,
        ..PolicyRule::new(PolicyDecision::Allow, PolicyTier::User, "answer")
    };
    save_rules(&path, &[rule]).unwrap();
    check(&world, &["Workspace.950 allow glob"]);
    check(&world.user(r#"{"security": {"disableAlwaysAllow": true}}"#), &[]);
}

#[test]
fn a_project_s_rules_forbid_and_ask_everywhere_and_allow_once_that_is_accepted() {
    let rules =
        [rule("a", "allow"), rule("b", "ask_user"), rule("c", "deny") + "denyMessage = \"Do evil.\"\n"]
            .concat();
    let world = World::new().file("work/.gemini/policies/w.toml", &rules);
    check(&world, &["Workspace.5 allow a", "Workspace.5 ask_user b", "Workspace.5 deny c"]);
    let world = world.unaccepted();
    check(&world, &["Workspace.5 ask_user b", "Workspace.5 deny c"]);
    let report = load_in(&world).unwrap().project;
    let (allowance, counts) = &report.allowances[0];
    assert!(!counts && allowance.words.contains("toolName = \"a\""), "{allowance:?}");
    assert!(allowance.origin.to_string().ends_with("w.toml:1"), "{}", allowance.origin);
    let world = world.untrusted();
    check(&world, &["Workspace.5 ask_user b", "Workspace.5 deny c"]);
    let planning = rule("d", "ask_user")
        + "modes = [\"plan\"]\n"
        + &rule("e", "ask_user")
        + "modes = [\"plan\", \"yolo\"]\n";
    let soft = World::new().file("work/.gemini/policies/w.toml", &planning);
    check(&soft, &["Workspace.5 ask_user e in yolo"]);
    let policy = load_in(&world).unwrap().policy;
    assert!(
        policy.rules().iter().all(|rule| rule.deny_message.is_none()),
        "strangers say nothing to the model"
    );
}

#[test]
fn broken_rules_of_an_untrusted_folder_stop_nothing() {
    let world =
        World::new().file("work/.gemini/policies/w.toml", "[[rule]]\ndecision = 'perhaps'\n").untrusted();
    let loaded = load_in(&world).unwrap();
    assert!(loaded.warnings[0].contains("w.toml:2"), "{:?}", loaded.warnings);
}

#[test]
fn a_workspace_s_rules_may_not_be_a_link_out_of_it() {
    let world = World::new().file("secret.toml", &rule("x", "allow")).file("work/.gemini/policies/a.md", "");
    std::os::unix::fs::symlink(world.at("secret.toml"), world.at("work/.gemini/policies/a.toml")).unwrap();
    assert!(load_in(&world).is_err());
}
