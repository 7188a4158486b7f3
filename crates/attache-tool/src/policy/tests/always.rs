//! What "always" allows for a command, and what it does not.

use super::*;
use crate::ruling::rule;
use crate::{Access, AccessLevel, Confinement};

/// A command, and how it is asked about.
#[derive(Clone)]
struct Asked {
    command: String,
    access: Access,
    trusted: bool,
    root: &'static str,
    confinement: Confinement,
}

fn asked(command: &str) -> Asked {
    Asked {
        command: command.into(),
        access: Access::new(AccessLevel::Work),
        trusted: true,
        root: "/w",
        confinement: Confinement::full(),
    }
}

impl Asked {
    fn judge<T>(&self, then: impl FnOnce(&CallFacts<'_>) -> T) -> T {
        let (command, directory) = (self.command.clone(), self.root.into());
        let proposal = Proposal {
            input: json!({ "command": command }).as_object().unwrap().clone(),
            effects: vec![Effect::Run { command: command.clone(), directory, access: self.access.clone() }],
            shown: exec(&command),
        };
        then(&CallFacts {
            tool: "run_shell_command",
            server: None,
            subagent: None,
            annotations: &Map::new(),
            proposal: &proposal,
            roots: &[self.root.into()],
            plans: None,
            mode: PolicyMode::Default,
            interactive: true,
            trusted: self.trusted,
            confinement: &self.confinement,
            files: &crate::ruling::NoFileLookup,
        })
    }

    /// The rules of "always", after a walk through a file.
    fn always(&self) -> Vec<PolicyRule> {
        let outcome = self.judge(|facts| rules_for(ApprovalChoice::ProceedAlwaysAndSave, facts));
        let ChoiceOutcome::Save { rules, switch: None } = outcome else { panic!("{outcome:?}") };
        let read_again = read("saved.toml", &to_toml(&rules), PolicyTier::User).unwrap();
        assert_eq!(read_again, rules);
        read_again
    }

    fn sentence(&self) -> Option<String> {
        self.judge(|facts| grants(ApprovalChoice::ProceedAlways, facts))
    }

    fn decide(&self, rules: &[PolicyRule]) -> PolicyDecision {
        self.judge(|facts| rule(&Policy::new(rules.to_vec()), facts).decision)
    }
}

#[test]
fn always_allows_the_same_form_and_nothing_else() {
    for (line, allowed, asked_about) in [
        (
            "git commit -m one",
            &["git commit -m two", "git commit -m 'two words: and more'", "git commit -m x src/a.rs"][..],
            &[
                "git commit",
                "git commit -am one",
                "git commit -m x --no-verify",
                "git push",
                "git -c a=b commit -m x",
                "git commit -m x ../a",
                "git commit -m x /etc/passwd",
                "git commit -m x > log",
                "A=1 git commit -m x",
                "git commit -m $x",
                "git commit -m x < /etc/passwd",
                "/usr/bin/git commit -m x",
                "./git commit -m x",
            ][..],
        ),
        (
            "npm run test",
            &["npm run test"],
            &[
                "npm exec x",
                "npm run test src/a.ts",
                "npm run build",
                "npm run",
                "npm run test -- --x",
                "npm x run test",
                "npx test",
            ],
        ),
        (
            "cargo test one",
            &["cargo test two", "cargo test a b", "cargo test"],
            &["cargo test --release", "cargo run", "cargo test a=b", "cargo install x"],
        ),
        (
            "git push origin main",
            &["git push origin main"],
            &[
                "git push origin other",
                "git push",
                "git push https://x.example main",
                "git push origin main --force",
            ],
        ),
        (
            "git fetch https://a.example/x",
            &["git fetch https://a.example/x"],
            &["git fetch https://b.example/x", "git fetch ext::sh"],
        ),
        ("go run ./cmd", &["go run ./other"], &["go run a.example/x@latest"]),
        (
            "cp a b",
            &["cp c d"],
            &["cp c ../d", "cp c /etc/d", "cp -r c d", "cp x .env", "cp x .git/hooks/pre-commit"],
        ),
        ("mkdir -p src/a", &["mkdir -p src/b"], &["mkdir src/b", "mkdir -p -m 777 src/b"]),
        (
            "git checkout main",
            &["git checkout main"],
            &["git checkout .", "git checkout", "git checkout dev"],
        ),
        ("make test", &["make test"], &["make", "make all", "make test X=1"]),
        (
            "cd src && cargo build | cat",
            &["cargo build", "cd src; cargo build"],
            &["cd .. && cargo build", "cargo build && make"],
        ),
        ("timeout 5 cargo test", &["cargo test"], &["cargo doc", "cargo test x"]),
        ("npm install", &["npm install"], &["npm install x", "npm install --save"]),
    ] {
        let rules = asked(line).always();
        assert!(!rules.is_empty(), "{line}");
        assert_eq!(asked(line).decide(&[]), PolicyDecision::Ask, "{line}");
        assert_eq!(asked(line).decide(&rules), PolicyDecision::Allow, "{line}");
        for other in allowed {
            assert_eq!(asked(other).decide(&rules), PolicyDecision::Allow, "{line}: {other}");
        }
        for other in asked_about {
            assert_eq!(asked(other).decide(&rules), PolicyDecision::Ask, "{line}: {other}");
        }
    }
}

#[test]
fn programs_that_run_others_are_allowed_as_one_line() {
    for (line, other) in [
        ("tar xf a.tar", "tar xf b.tar"),
        ("sed -i s/a/b/ x", "sed -i s/a/c/ x"),
        ("awk '{print $1}' a", "awk 'BEGIN{system(1)}' a"),
        ("man ls", "man -P x ls"),
        ("python3 x.py -v", "python3 y.py -v"),
        ("python3 -c 'print(1)'", "python3 -c 'print(2)'"),
        ("perl x.pl", "perl y.pl"),
        ("node x.js", "node y.js"),
        ("npx eslint a", "npx eslint b"),
        ("npm exec eslint a", "npm exec eslint b"),
        ("bash run.sh", "bash other.sh"),
        ("./run.sh a", "./run.sh b"),
        ("docker run x", "docker run y"),
        ("kubectl get pods", "kubectl get secrets"),
        ("git clone x y", "git clone x z"),
        ("pip install x", "pip install y"),
        ("cargo install x", "cargo install y"),
        ("some-tool a", "some-tool b"),
    ] {
        let rules = asked(line).always();
        assert_eq!(asked(line).decide(&rules), PolicyDecision::Allow, "{line}");
        assert_eq!(asked(other).decide(&rules), PolicyDecision::Ask, "{line}: {other}");
        let sentence = asked(line).sentence().unwrap();
        assert!(sentence.starts_with("Always: allow exactly `"), "{sentence}");
    }
}

#[test]
fn some_lines_can_only_be_allowed_once() {
    for line in [
        "echo hi > ok.txt",
        "cargo test > log",
        "cargo test | tee /tmp/x",
        "make >> log",
        "cp a /etc/b",
        "cp ../a b",
        "bash /tmp/x.sh",
        "/tmp/tool x",
        "some-tool --out=/etc/x",
        "some-tool -I/etc",
        "some-tool ~/x",
        "cat < /etc/passwd",
        "node $x",
        "cargo test; $x",
        "A=1 make",
        "ls | xargs rm",
        "git -c a=b commit",
        "rm -rf x",
        "make \u{202E}x",
        "make \u{200B}",
        "make\r",
        "make \u{1b}]x\u{7}",
        "ls",
    ] {
        assert_eq!(asked(line).always(), [], "{line}");
        assert_eq!(asked(line).sentence(), None, "{line}");
        let offered = asked(line).judge(|facts| choices(facts, true));
        assert_eq!(offered, [ApprovalChoice::ProceedOnce, ApprovalChoice::Cancel], "{line}");
    }
}

#[test]
fn always_holds_at_the_level_that_was_shown_and_in_this_workspace() {
    let hosts = Access { network: vec!["crates.io".into()], ..Access::new(AccessLevel::Work) };
    let fetching = Asked { access: hosts.clone(), ..asked("cd a && cargo build") };
    let rules = fetching.always();
    assert_eq!(rules[0].access, Some(hosts));
    assert_eq!(fetching.decide(&rules), PolicyDecision::Allow);
    let more = Access { network: vec!["evil.example".into()], ..Access::new(AccessLevel::Work) };
    assert_eq!(Asked { access: more, ..fetching.clone() }.decide(&rules), PolicyDecision::Ask);
    assert_eq!(Asked { access: Access::open(), ..fetching }.decide(&rules), PolicyDecision::Ask);
    let rules = asked("cargo build").always();
    assert_eq!(Asked { root: "/other", ..asked("cargo build") }.decide(&rules), PolicyDecision::Ask);

    let open = Asked { access: Access::open(), ..asked("make") };
    assert_eq!(open.decide(&open.always()), PolicyDecision::Allow);
    let untrusted = Asked { trusted: false, ..open };
    assert_eq!(untrusted.always(), []);
    let protected = Access { writes: vec!["/w/.git/config".into()], ..Access::new(AccessLevel::Work) };
    assert_eq!(Asked { access: protected, ..asked("make") }.always(), []);
    let unconfined = Asked { confinement: Confinement::default(), ..asked("make") };
    assert_eq!((unconfined.always(), unconfined.sentence()), (vec![], None));
}

#[test]
fn what_always_means_is_said_in_words() {
    let hosts = Access { network: vec!["crates.io".into()], ..Access::new(AccessLevel::Work) };
    for (asked, expected) in [
        (
            asked("git commit -m x"),
            "Always: allow `git commit` with the option -m and any arguments that stay in this workspace, in this \
             workspace, confined (work) without network, until this conversation ends.",
        ),
        (
            Asked { access: hosts, ..asked("cargo build --release -v") },
            "Always: allow `cargo build` with the options --release, -v and without arguments, in this workspace, confined (work) with \
             network to crates.io, until this conversation ends.",
        ),
        (
            asked("tar xf a.tar && git push origin a"),
            "Always: allow exactly `tar xf a.tar`; `git push` without options, for origin, a, in this workspace, \
             confined (work) without network, until this conversation ends.",
        ),
        (
            Asked { access: Access::open(), ..asked("make") },
            "Always: allow exactly `make`, in this workspace, NOT confined, until this conversation ends.",
        ),
    ] {
        assert_eq!(asked.sentence().as_deref(), Some(expected));
    }
    let said =
        |choice, tool: &str, shown| judge(tool, shown, PolicyMode::Default, |facts| grants(choice, facts));
    for (choice, tool, shown, expected) in [
        (
            ApprovalChoice::ProceedAlways,
            "replace",
            edit(),
            "Always: make edits of files in this workspace, except protected ones, until this conversation ends.",
        ),
        (
            ApprovalChoice::ProceedAlwaysAndSave,
            "replace",
            edit(),
            "Always: make edits of files in this workspace, except protected ones, until this conversation ends, and \
             make edits of this file, also in later conversations.",
        ),
        (
            ApprovalChoice::ProceedAlwaysServer,
            "mcp_files_list",
            mcp(),
            "Always: use every tool of the server files, with any arguments, until this conversation ends.",
        ),
        (
            ApprovalChoice::ProceedAlways,
            "web_fetch",
            info(),
            "Always: use web_fetch with any arguments, until this conversation ends.",
        ),
    ] {
        assert_eq!(said(choice, tool, shown).as_deref(), Some(expected));
    }
    assert_eq!(said(ApprovalChoice::ProceedOnce, "web_fetch", info()), None);
}

#[test]
fn always_for_an_edit_says_nothing_about_the_network_or_the_shell() {
    let ChoiceOutcome::Switch(mode) = answer(ApprovalChoice::ProceedAlways, "replace", edit()) else {
        panic!()
    };
    for (tool, shown) in
        [("web_fetch", info()), ("run_shell_command", exec("make")), ("mcp_files_list", mcp())]
    {
        let decision = judge(tool, shown, mode, |facts| rule(&Policy::default(), facts).decision);
        assert_eq!(decision, PolicyDecision::Ask, "{tool}");
    }
}

#[test]
fn an_answer_in_confined_mode_keeps_the_mode() {
    for choice in ApprovalChoice::ALL {
        for shown in
            [edit(), exec("make"), exec("x > y"), mcp(), info(), Preview::Questions { questions: json!([]) }]
        {
            let outcome = judge("write_file", shown, PolicyMode::Confined, |facts| {
                assert!(!choices(facts, true).is_empty());
                rules_for(choice, facts)
            });
            if let ChoiceOutcome::Switch(mode) | ChoiceOutcome::Save { switch: Some(mode), .. } = outcome {
                assert_eq!(mode, PolicyMode::Confined);
            }
        }
    }
}
