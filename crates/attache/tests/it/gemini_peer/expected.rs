//! Where we do not do as the peer does, and why. The list is complete: a difference that is not in it fails the test,
//! and so does an entry that no difference needs any more.

use super::compare::{Difference, What};

struct Expected {
    /// A scenario's name, or `*`.
    scenario: &'static str,
    /// 0 stands for any.
    step: usize,
    at: At,
    reason: &'static str,
}

enum At {
    /// An event of which the subject contains this and that only the peer sends.
    Missing(&'static str),
    /// The same, that only we send.
    Added(&'static str),
    /// A field of which the path ends with this.
    Field(&'static str),
    /// Whatever is different in the step.
    Anything,
}

const EXPECTED: &[Expected] = &[
    Expected {
        scenario: "unknown-outcome",
        step: 2,
        at: At::Anything,
        reason: "the peer falls silent for ever; we say which outcomes there are",
    },
    Expected {
        scenario: "unknown-call",
        step: 2,
        at: At::Anything,
        reason: "the peer falls silent for ever; we say which calls wait",
    },
    Expected {
        scenario: "words-while-asked",
        step: 2,
        at: At::Anything,
        reason: "the peer says that it works and falls silent for ever",
    },
    Expected {
        scenario: "new-connection",
        step: 2,
        at: At::Anything,
        reason: "with the connection the peer gives the call up; here an approval counts wherever it comes from",
    },
    Expected {
        scenario: "parallel",
        step: 2,
        at: At::Anything,
        reason: "the peer loses the second of two outcomes in one message; we run both calls",
    },
    Expected {
        scenario: "parallel",
        step: 3,
        at: At::Anything,
        reason: "the peer has to be told again; here nothing waits any more",
    },
    Expected {
        scenario: "*",
        step: 0,
        at: At::Field(".tool.schema"),
        reason: "the peer repeats a tool's whole schema with every update, some ten thousand bytes a call",
    },
    Expected { scenario: "*", step: 0, at: At::Field(".tool.parameterSchema"), reason: "the same" },
    Expected {
        scenario: "*",
        step: 0,
        at: At::Field("lastChunk"),
        reason: "the peer never says which piece of the output was the last",
    },
];

/// What is wrong with the differences or with the list; nothing when each has its reason.
pub(super) fn judge(different: &[Difference]) -> Vec<String> {
    against(EXPECTED, different)
}

fn against(list: &[Expected], different: &[Difference]) -> Vec<String> {
    let has_reason = |difference: &&Difference| list.iter().any(|known| known.explains(difference));
    let is_needed = |known: &&Expected| different.iter().any(|difference| known.explains(difference));
    let unexplained = different.iter().filter(|difference| !has_reason(difference)).map(ToString::to_string);
    let needless = list.iter().filter(|known| !is_needed(known));
    let needless = needless.map(|known| format!("{}: no longer different: {}", known.scenario, known.reason));
    unexplained.chain(needless).collect()
}

impl Expected {
    fn explains(&self, difference: &Difference) -> bool {
        let here = [difference.scenario.as_str(), "*"].contains(&self.scenario);
        let now = self.step == 0 || self.step == difference.step;
        here && now && self.at.is(difference)
    }
}

impl At {
    fn is(&self, difference: &Difference) -> bool {
        match (self, &difference.what) {
            (Self::Anything, _) => true,
            (Self::Missing(about), What::Missing) | (Self::Added(about), What::Added) => {
                difference.event.contains(about)
            }
            (Self::Field(end), What::Field { path, .. }) => path.ends_with(end),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference(what: What) -> Difference {
        Difference { scenario: "text".into(), step: 1, event: "status-update thought".into(), what }
    }

    #[track_caller]
    fn check(scenario: &'static str, step: usize, at: At, what: What, explained: bool) {
        let list = [Expected { scenario, step, at, reason: "so it is" }];
        assert_eq!(against(&list, &[difference(what)]).is_empty(), explained);
    }

    #[test]
    fn a_reason_holds_for_what_it_names_alone() {
        let field = || What::Field { path: "metadata.model".into(), peer: json!("a"), ours: json!("b") };
        check("*", 0, At::Missing("thought"), What::Missing, true);
        check("*", 0, At::Missing("thought"), What::Added, false);
        check("text", 1, At::Added("thought"), What::Added, true);
        check("text", 2, At::Added("thought"), What::Added, false);
        check("other", 0, At::Added("thought"), What::Added, false);
        check("*", 0, At::Field(".model"), field(), true);
        check("*", 0, At::Field(".models"), field(), false);
        check("*", 1, At::Anything, field(), true);
    }

    #[test]
    fn a_difference_without_a_reason_and_a_reason_without_a_difference_are_both_told() {
        let list = [Expected { scenario: "*", step: 0, at: At::Added("text"), reason: "so it is" }];
        let told = against(&list, &[difference(What::Missing)]);
        let expected = [
            "text step 1 [status-update thought] only the peer sends it",
            "*: no longer different: so it is",
        ];
        assert_eq!(told, expected);
    }
}
