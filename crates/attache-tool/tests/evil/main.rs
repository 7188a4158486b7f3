//! However a forbidden command is hidden in a line, the line never runs unseen; and plain lines are not bothered.

mod tricks;

use std::path::{Path, PathBuf};

use attache_tool::policy::{Policy, PolicyDecision, PolicyMode, PolicyTier, read};
use attache_tool::ruling::{CallFacts, FileLookup, Ruling, rule};
use attache_tool::{Access, AccessLevel, Confinement, Effect, Preview, Proposal};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Map;
use tricks::{BEGINNINGS, ENDINGS, PLACES, SPELLINGS};

/// Finds nothing: no links, no ignored files, no repository.
#[derive(Debug)]
struct NoFileLookup;

impl FileLookup for NoFileLookup {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn is_ignored(&self, _path: &Path) -> bool {
        false
    }

    fn read(&self, _path: &Path) -> Option<String> {
        None
    }
}

fn single_quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

fn double_quoted(line: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in line.chars() {
        if matches!(letter, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted + "\""
}

fn put(place: &str, line: &str) -> String {
    // After the next newline comes the text of a here-document, which runs nothing.
    let place =
        if place.contains("<<E") && line.contains('\n') && !place.contains("\n@") { "@" } else { place };
    // Backquotes do not nest: one inside others ends them, and what was hidden becomes a word.
    let place = if place.contains("`@") && line.contains('`') { "@" } else { place };
    let mut whole = String::new();
    for letter in place.chars() {
        match letter {
            '@' => whole.push_str(line),
            '^' => whole.push_str(&single_quoted(line)),
            '~' => whole.push_str(&double_quoted(line)),
            letter => whole.push(letter),
        }
    }
    whole
}

/// A simple command that starts `evil`.
fn simple() -> impl Strategy<Value = String> {
    (select(BEGINNINGS), select(SPELLINGS), select(ENDINGS)).prop_map(|(beginning, spelling, ending)| {
        let ending = if beginning.contains("find") { " {} \\;" } else { ending };
        format!("{beginning}{spelling}{ending}")
    })
}

fn hidden() -> impl Strategy<Value = String> {
    simple()
        .prop_recursive(3, 4, 1, |inner| (select(PLACES), inner).prop_map(|(place, line)| put(place, &line)))
}

fn judge(policy: &Policy, line: &str, mode: PolicyMode) -> Ruling {
    let root = PathBuf::from("/w/project");
    let proposal = Proposal {
        input: Map::from_iter([("command".to_owned(), line.into())]),
        effects: vec![Effect::Run {
            command: line.to_owned(),
            directory: root.clone(),
            access: Access::new(AccessLevel::Work),
        }],
        shown: Preview::Plain { summary: String::new() },
    };
    rule(
        policy,
        &CallFacts {
            tool: "run_shell_command",
            server: None,
            subagent: None,
            annotations: &Map::new(),
            proposal: &proposal,
            roots: &[root],
            plans: None,
            mode,
            interactive: true,
            trusted: true,
            confinement: &Confinement::full(),
            files: &NoFileLookup,
        },
    )
}

fn all_but_evil() -> Policy {
    let text = "[[rule]]\ntoolName = 'run_shell_command'\ndecision = 'allow'\nallowRedirection = true\n\
                [[rule]]\ncommandPrefix = 'evil'\ndecision = 'deny'\npriority = 1";
    Policy::new(read("test", text, PolicyTier::User).expect("the rules of this test are well written"))
}

#[track_caller]
fn never_allowed(line: &str) {
    let policy = all_but_evil();
    for mode in [PolicyMode::Default, PolicyMode::Confined, PolicyMode::Yolo] {
        let ruling = judge(&policy, line, mode);
        assert_ne!(ruling.decision, PolicyDecision::Allow, "{line:?} in {mode:?}: {}", ruling.why);
    }
}

#[test]
fn no_spelling_of_a_forbidden_command_runs_in_any_place() {
    for place in PLACES {
        for spelling in SPELLINGS {
            never_allowed(&put(place, spelling));
        }
    }
    for beginning in BEGINNINGS {
        for spelling in SPELLINGS {
            never_allowed(&format!(
                "{beginning}{spelling} x {}",
                if beginning.contains("find") { "\\;" } else { "" }
            ));
        }
    }
}

#[test]
fn what_does_not_start_it_is_allowed() {
    for line in [
        "echo evil",
        "ls evil",
        "cat <<'E'\nevil\nE",
        "# evil",
        "echo 'a; evil'",
        "echo \"$x evil\"",
        "grep evil x | wc",
    ] {
        let ruling = judge(&all_but_evil(), line, PolicyMode::Default);
        assert_eq!(ruling.decision, PolicyDecision::Allow, "{line:?}: {}", ruling.why);
    }
}

/// Words that mean themselves.
fn word() -> impl Strategy<Value = String> {
    select(
        &[
            "a",
            "src/main.rs",
            "'it is'",
            "\"a b\"",
            "a\\ b",
            "-n",
            "-la",
            "x=y",
            "*.rs",
            "\"don't\"",
            "'$(x)'",
            "'`x`'",
            "a#b",
            "100%",
            "é",
            "$'a\\tb'",
            "','",
            "a@b:c",
            "\\;",
            "\"\\$x\"",
            "'a;b|c&d'",
            "+5",
            "./a/../b",
            "\"(\"",
            "'>'",
        ][..],
    )
    .prop_map(str::to_owned)
}

fn plain() -> impl Strategy<Value = String> {
    let command = (
        select(&["ls", "cat", "echo", "grep", "head", "wc", "/bin/cat"][..]),
        prop::collection::vec(word(), 0..4),
    )
        .prop_map(|(program, words)| format!("{program} {}", words.join(" ")));
    let places = select(
        &[
            "@",
            "@ && ls",
            "ls | @",
            "ls; @",
            "ls\n@",
            "(@)",
            "{ @; }",
            "if true; then @; fi",
            "for i in a b; do @; done",
            "@ 2>/dev/null",
            "timeout 5 @",
            "@ 2>&1 | head",
            "# note\n@",
            "@ # note",
            "ls \\\n | @",
            "@ < a",
            "! @",
            "sh -c ^",
            "while false; do @; done",
            "case x in x) @;; esac",
            "cat <<'E' && @\nany $(text) `here` '\nE",
            "env A=1 pwd && @",
        ][..],
    );
    (places, command).prop_map(|(place, command)| {
        if place.contains("env A") { put("@", &command) } else { put(place, &command) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_forbidden_command_never_runs_unseen(line in hidden()) {
        for mode in [PolicyMode::Default, PolicyMode::Confined, PolicyMode::Yolo] {
            let ruling = judge(&all_but_evil(), &line, mode);
            prop_assert_ne!(ruling.decision, PolicyDecision::Allow, "{:?} in {:?}: {}", line, mode, ruling.why);
        }
    }

    #[test]
    fn plain_lines_are_allowed(line in plain()) {
        let ruling = judge(&Policy::default(), &line, PolicyMode::Default);
        prop_assert_eq!(ruling.decision, PolicyDecision::Allow, "{:?}: {}", line, ruling.why);
    }

    #[test]
    fn any_text_can_be_judged(line in "[a-z$(){}<>|&;'\"`\\\\ \n#*=\\[\\]!-]{0,60}") {
        let _ = judge(&all_but_evil(), &line, PolicyMode::Default);
    }
}
