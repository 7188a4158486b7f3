//! The approver that goes by rules: what it offers, says and remembers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_agent::{ApprovalDecision, ApprovalRequest, Approver, PolicyApprover, PolicyOptions};
use attache_domain::{Access, AccessLevel, CallAnswer, Effect, Preview, Proposal, Verdict};
use attache_tool::policy::{Policy, PolicyMode};
use attache_tool::ruling::FileLookup;
use attache_tool::{Confinement, ToolKind, ToolSpec};
use serde_json::{Map, json};

/// A workspace in which `notes.txt` and `todo.md` are links to the home folder.
#[derive(Debug)]
struct Linked;

impl FileLookup for Linked {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let linked = path.ends_with("notes.txt") || path.ends_with("todo.md");
        Some(if linked { "/elsewhere/key".into() } else { path.to_owned() })
    }

    fn is_ignored(&self, path: &Path) -> bool {
        path.ends_with(".env")
    }

    fn read(&self, _path: &Path) -> Option<String> {
        None
    }
}

fn approver(mode: PolicyMode, confinement: Confinement) -> PolicyApprover {
    PolicyApprover::new(PolicyOptions {
        policy: Policy::default(),
        mode,
        roots: vec!["/w".into()],
        plans: None,
        trusted: true,
        confinement,
        files: Arc::new(Linked),
        unattended: false,
        only_once: false,
        keeper: None,
        client_servers: Default::default(),
    })
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        title: name.into(),
        description: "For tests".into(),
        kind: ToolKind::Execute,
        parameters: json!({}),
        repeatable: false,
        parallel: true,
        origin: None,
    }
}

fn command(line: &str) -> Proposal {
    let (command, directory) = (line.to_owned(), PathBuf::from("/w"));
    let access = Access::new(AccessLevel::Work);
    Proposal {
        input: Map::from_iter([("command".to_owned(), line.into())]),
        effects: vec![Effect::Run { command: command.clone(), directory: directory.clone(), access }],
        shown: Preview::Exec { command, directory, programs: Vec::new() },
    }
}

fn edit(path: &str) -> Proposal {
    Proposal {
        input: Map::from_iter([("file_path".to_owned(), path.into())]),
        effects: vec![Effect::Write { path: path.into() }],
        shown: Preview::Edit {
            path: path.into(),
            diff: String::new(),
            original: None,
            original_digest: None,
            new_content: "x".into(),
        },
    }
}

fn fetch() -> Proposal {
    Proposal {
        input: Map::new(),
        effects: vec![Effect::Fetch { url: "https://example.org".into() }],
        shown: Preview::Info { prompt: "Fetch".into(), urls: Vec::new() },
    }
}

fn rule(approver: &PolicyApprover, tool: &str, proposal: &Proposal) -> ApprovalDecision {
    approver.rule(ApprovalRequest { tool: &spec(tool), proposal })
}

fn runs(approver: &PolicyApprover, line: &str) -> bool {
    matches!(rule(approver, "run_shell_command", &command(line)), ApprovalDecision::Allow { .. })
}

fn always(approver: &PolicyApprover, tool: &str, proposal: &Proposal) {
    let answer = CallAnswer {
        choice: "proceed_always".into(),
        question: None,
        verdict: Verdict::Proceed,
        new_content: None,
        answers: None,
        message: None,
        by: None,
    };
    approver.remember_answer(ApprovalRequest { tool: &spec(tool), proposal }, &answer);
}

#[test]
fn always_is_offered_with_what_it_means_and_holds_for_just_that() {
    let approver = approver(PolicyMode::Default, Confinement::full());
    let proposal = command("git commit -m one");
    let ApprovalDecision::Ask { choices, grants, access, .. } =
        rule(&approver, "run_shell_command", &proposal)
    else {
        panic!("it is asked about");
    };
    assert_eq!(choices, ["proceed_once", "proceed_always", "cancel"]);
    assert_eq!(
        grants["proceed_always"],
        "Always: allow `git commit` with the option -m and any arguments that stay in this workspace, in this \
         workspace, confined (work) without network, until this conversation ends."
    );
    assert_eq!(access, Some(Access::new(AccessLevel::Work)));
    always(&approver, "run_shell_command", &proposal);
    assert!(runs(&approver, "git commit -m two"));
    for line in ["git commit --amend", "git push", "git commit -m x > /etc/x", "git config a b"] {
        assert!(!runs(&approver, line), "{line}");
    }
}

#[test]
fn always_is_not_offered_where_it_would_be_too_wide() {
    let full = approver(PolicyMode::Default, Confinement::full());
    for line in ["echo hi > ok.txt", "cp a /etc/x", "make \u{202E}x", "git remote add x y"] {
        let ApprovalDecision::Ask { choices, grants, .. } = rule(&full, "run_shell_command", &command(line))
        else {
            panic!("{line} is asked about");
        };
        assert_eq!((choices, grants.len()), (vec!["proceed_once".to_owned(), "cancel".into()], 0), "{line}");
    }
    let none = approver(PolicyMode::Default, Confinement::default());
    let ApprovalDecision::Ask { choices, .. } = rule(&none, "run_shell_command", &command("make")) else {
        panic!()
    };
    assert_eq!(choices, ["proceed_once", "cancel"], "it would be asked about again");
}

#[test]
fn what_is_asked_about_shows_the_protected_files_it_would_write() {
    let approver = approver(PolicyMode::Confined, Confinement::full());
    let proposal = command("git remote add x y");
    let ApprovalDecision::Ask { access: Some(access), .. } = rule(&approver, "run_shell_command", &proposal)
    else {
        panic!("it is asked about");
    };
    assert!(
        access.describe().contains("it can also write the protected /w/.git/config"),
        "{}",
        access.describe()
    );
    assert!(runs(&approver, "make"));
}

#[test]
fn always_for_an_edit_is_about_edits_and_not_about_protected_files() {
    let approver = approver(PolicyMode::Default, Confinement::full());
    always(&approver, "write_file", &edit("/w/a.txt"));
    assert!(matches!(rule(&approver, "write_file", &edit("/w/b.txt")), ApprovalDecision::Allow { .. }));
    for path in ["/w/.git/config", "/w/.env", "/w/GEMINI.md", "/w/package.json"] {
        let ApprovalDecision::Ask { choices, .. } = rule(&approver, "write_file", &edit(path)) else {
            panic!("{path}")
        };
        assert_eq!(choices, ["proceed_once", "modify_with_editor", "cancel"], "{path}");
    }
    assert!(matches!(rule(&approver, "web_fetch", &fetch()), ApprovalDecision::Ask { .. }));
    assert!(!runs(&approver, "make"));
    assert!(runs(&approver, "echo x > plain.md"));
    assert!(!runs(&approver, "echo x > todo.md"), "a link that leads out");
}

#[test]
fn links_and_ignored_files_are_seen_when_a_call_is_judged() {
    let approver = approver(PolicyMode::Default, Confinement::full());
    assert!(runs(&approver, "cat a.txt"));
    for line in ["cat notes.txt", "cat .env", "grep -R x ."] {
        assert!(!runs(&approver, line), "{line}");
    }
}

#[test]
fn what_hides_something_is_agreed_to_once() {
    // Whether "always" is offered for a command, and whether the command runs after it.
    let lasts = |line: &str| {
        let approver = approver(PolicyMode::Default, Confinement::full());
        let ApprovalDecision::Ask { choices, .. } = rule(&approver, "run_shell_command", &command(line))
        else {
            panic!("{line} is asked about");
        };
        always(&approver, "run_shell_command", &command(line));
        (choices.contains(&"proceed_always".to_owned()), runs(&approver, line))
    };
    assert_eq!(lasts("touch a"), (true, true));
    assert_eq!(lasts("touch a\u{200b}"), (false, false));
    assert_eq!(lasts("touch a\u{1b}[8m"), (false, false), "also where an older log says always");
}
