//! Compares the report of a program with the known gaps of its framework.

use super::{Framework, Gap, Interface, KnownGap};
use crate::interop::case::{Case, CaseOutcome};
use crate::test::Counts;

/// One check for each step that counts on `interface`.
pub(super) fn judge(framework: &Framework, interface: Interface, cases: &[Case]) -> Counts {
    let mut counts = Counts::default();
    for step in interface.steps() {
        let found = cases.iter().find(|case| name(case) == step.name());
        match compare(found.map(|case| case.outcome), framework.gap(interface, step)) {
            Judgement::AsKnown => counts.passed += 1,
            Judgement::NotTried => counts.skipped += 1,
            Judgement::Worse(what) => {
                let text = found.map_or(step.name(), |case| case.text.as_str());
                counts.add(Counts::failure(&label(framework, interface, text, what)));
            }
            Judgement::Better(reason) => {
                let what = format!("it is listed with \"{reason}\"; take it off the list");
                counts.add(Counts::failure(&label(framework, interface, step.name(), &what)));
            }
        }
    }
    counts
}

#[derive(Debug, PartialEq, Eq)]
enum Judgement {
    AsKnown,
    NotTried,
    Worse(&'static str),
    Better(&'static str),
}

fn compare(found: Option<CaseOutcome>, known: Option<&'static KnownGap>) -> Judgement {
    match (found, known.map(|known| (known.gap, known.reason))) {
        (Some(CaseOutcome::Passed), None)
        | (Some(CaseOutcome::Failed), Some((Gap::Fails, _)))
        | (Some(CaseOutcome::Skipped), Some((Gap::Missing, _))) => Judgement::AsKnown,
        (Some(CaseOutcome::Skipped), None) => Judgement::NotTried,
        (Some(CaseOutcome::Failed), None) => Judgement::Worse("it used to pass"),
        (Some(CaseOutcome::Failed), Some((Gap::Missing, _))) => Judgement::Worse("it used to be skipped"),
        (Some(CaseOutcome::Skipped), Some((Gap::Fails, _))) => Judgement::Worse("it is listed as failing"),
        (Some(CaseOutcome::Passed), Some((_, reason))) => Judgement::Better(reason),
        (None, _) => Judgement::Worse("the program said nothing about it"),
    }
}

fn label(framework: &Framework, interface: Interface, step: &str, what: &str) -> String {
    format!("{}, {} interface: {step} ({what})", framework.client.name, interface.name())
}

/// The step that a case is about.
fn name(case: &Case) -> &str {
    match case.outcome {
        CaseOutcome::Passed => &case.text,
        CaseOutcome::Failed | CaseOutcome::Skipped => {
            case.text.split_once(": ").map_or(&case.text, |(name, _)| name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::{BOTH, DEFAULT, FrameworkStep, fails, lacks};
    use super::*;
    use crate::interop::Language;
    use crate::interop::peers::Client;

    const KNOWN: &[KnownGap] = &[
        fails(DEFAULT, &[FrameworkStep::ExactText], "spaces", "a.py:1"),
        lacks(&[FrameworkStep::TextAfterApproval], "no ids", "a.py:2"),
        fails(BOTH, &[FrameworkStep::SecondMessage], "broken", "a.py:3"),
    ];

    fn framework() -> Framework {
        let client =
            Client { name: "f 1", language: Language::Python, folder: "f", packages: &[], script: "f.py" };
        Framework::new(client).known(KNOWN)
    }

    #[track_caller]
    fn check(interface: Interface, lines: [&str; 6], numbers: &str, failures: &[&str]) {
        let cases: Vec<Case> = lines.into_iter().filter_map(Case::parse).collect();
        let counts = judge(&framework(), interface, &cases);
        assert_eq!((counts.to_string().as_str(), counts.failures), (numbers, words(failures)));
    }

    fn words(failures: &[&str]) -> Vec<String> {
        failures.iter().map(|failure| (*failure).to_owned()).collect()
    }

    const AS_KNOWN: [&str; 6] = [
        "ok connect",
        "not ok exact text: it shows 'a b'",
        "ok stream",
        "ok approval",
        "skip text after approval: no ids",
        "not ok second message: 500",
    ];

    #[test]
    fn what_is_known_to_fail_and_fails_is_no_failure_of_the_run() {
        check(Interface::Default, AS_KNOWN, "6 passed, 0 failed, 0 skipped", &[]);
    }

    #[test]
    fn what_is_worse_or_better_than_known_is_a_failure() {
        let better =
            "f 1, default interface: exact text (it is listed with \"spaces\"; take it off the list)";
        let worse = "f 1, default interface: stream: nothing came (it used to pass)";
        let silent = "f 1, default interface: second message (the program said nothing about it)";
        let lines = [
            "ok connect",
            "ok exact text",
            "not ok stream: nothing came",
            "skip approval: not today",
            AS_KNOWN[4],
            "",
        ];
        check(Interface::Default, lines, "2 passed, 3 failed, 1 skipped", &[better, worse, silent]);
    }

    #[test]
    fn nothing_is_expected_of_a_stream_of_messages() {
        let lines = [
            "ok connect",
            "ok exact text",
            "not ok stream: one piece",
            "ok approval",
            AS_KNOWN[4],
            AS_KNOWN[5],
        ];
        check(Interface::Message, lines, "5 passed, 0 failed, 0 skipped", &[]);
        assert!(!framework().is_whole(Interface::Message));
        assert!(framework().is_whole(Interface::Message) == framework().is_whole(Interface::Default));
    }
}
