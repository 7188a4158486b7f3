//! Where we do not do as the peer does, and why. The list is complete: a difference that is not in it fails the test,
//! and so does an entry that no difference needs any more.

mod list;

use super::compare::{Difference, What};
pub(super) use list::EXPECTED;

pub(super) struct Expected {
    /// None for all of them.
    pub(super) scenario: Option<&'static str>,
    /// 0 stands for any.
    step: usize,
    at: At,
    pub(super) reason: &'static str,
}

enum At {
    /// An event of which the subject ends with this and that only the peer sends.
    Missing(&'static str),
    /// The same, that only we send.
    Added(&'static str),
    /// A field of which the path goes through these names.
    Field(&'static str),
    /// The same, where the peer says the one and we say the other.
    Changed(&'static str, &'static str, &'static str),
    /// A message of a task's history that only one server has.
    History,
    /// Whatever is different in the step.
    Anything,
}

const fn everywhere(at: At, reason: &'static str) -> Expected {
    Expected { scenario: None, step: 0, at, reason }
}

const fn only(scenario: &'static str, step: usize, at: At, reason: &'static str) -> Expected {
    Expected { scenario: Some(scenario), step, at, reason }
}

/// What is wrong with the differences or with the list; nothing when each has its reason.
pub(super) fn judge(different: &[Difference]) -> Vec<String> {
    against(EXPECTED, different)
}

fn against(list: &[Expected], different: &[Difference]) -> Vec<String> {
    let has_reason = |difference: &&Difference| list.iter().any(|known| known.explains(difference));
    let is_needed = |known: &&Expected| different.iter().any(|difference| known.explains(difference));
    let unexplained = different.iter().filter(|difference| !has_reason(difference)).map(ToString::to_string);
    let needless = list.iter().filter(|known| !is_needed(known));
    let needless = needless
        .map(|known| format!("{}: no longer different: {}", known.scenario.unwrap_or("*"), known.reason));
    unexplained.chain(needless).collect()
}

/// Why it is different; what holds for one scenario goes before what holds for all.
pub(super) fn explained(difference: &Difference) -> Option<&'static Expected> {
    EXPECTED.iter().find(|known| known.explains(difference))
}

impl Expected {
    fn explains(&self, difference: &Difference) -> bool {
        let here = self.scenario.is_none_or(|scenario| scenario == difference.scenario);
        let now = self.step == 0 || self.step == difference.step;
        here && now && self.at.is(difference)
    }
}

impl At {
    fn is(&self, difference: &Difference) -> bool {
        let leads_through = |path: &str, names: &str| format!(".{path}.").contains(&format!(".{names}."));
        match (self, &difference.what) {
            (Self::Anything, _) => true,
            (Self::History, What::Missing | What::Added) => {
                ["agent ", "user "].iter().any(|role| difference.event.starts_with(role))
            }
            (Self::Missing(about), What::Missing) | (Self::Added(about), What::Added) => {
                difference.event.ends_with(about)
            }
            (Self::Field(names), What::Field { path, .. }) => leads_through(path, names),
            (Self::Changed(names, theirs, own), What::Field { path, peer, ours }) => {
                let said = (peer.to_string(), ours.to_string());
                leads_through(path, names) && (said.0.as_str(), said.1.as_str()) == (*theirs, *own)
            }
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
    fn check(scenario: Option<&'static str>, step: usize, at: At, what: What, explained: bool) {
        let list = [Expected { scenario, step, at, reason: "so it is" }];
        assert_eq!(against(&list, &[difference(what)]).is_empty(), explained);
    }

    #[test]
    fn a_reason_holds_for_what_it_names_alone() {
        let field = || What::Field { path: "metadata.model".into(), peer: json!("a"), ours: json!("b") };
        check(None, 0, At::Missing("thought"), What::Missing, true);
        check(None, 0, At::Missing("thought"), What::Added, false);
        check(None, 0, At::Missing("status-update"), What::Missing, false);
        check(Some("text"), 1, At::Added("thought"), What::Added, true);
        check(Some("text"), 2, At::Added("thought"), What::Added, false);
        check(Some("other"), 0, At::Added("thought"), What::Added, false);
        check(None, 0, At::Field("model"), field(), true);
        check(None, 0, At::Field("metadata"), field(), true);
        check(None, 0, At::Field("mod"), field(), false);
        check(None, 0, At::Changed("model", "\"a\"", "\"b\""), field(), true);
        check(None, 0, At::Changed("model", "\"a\"", "null"), field(), false);
        check(None, 1, At::Anything, field(), true);
        check(None, 1, At::History, What::Missing, false);
    }

    #[test]
    fn a_difference_without_a_reason_and_a_reason_without_a_difference_are_both_told() {
        let list = [everywhere(At::Added("text"), "so it is")];
        let told = against(&list, &[difference(What::Missing)]);
        let expected = [
            "text step 1 [status-update thought] only the peer sends it",
            "*: no longer different: so it is",
        ];
        assert_eq!(told, expected);
    }
}
