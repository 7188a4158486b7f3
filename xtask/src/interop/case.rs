//! One line of a peer's report.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    pub(super) outcome: CaseOutcome,
    /// The case's name, and the reason if there is one.
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseOutcome {
    Passed,
    Failed,
    Skipped,
}

/// The parts of a name such as `py-1.0 | 0.3 gRPC | send answers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) program: &'a str,
    /// The version and the binding that were spoken; `-` where that does not matter.
    pub(super) pair: &'a str,
    pub(super) what: &'a str,
}

impl Case {
    /// `None` for any other line.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let outcomes =
            [("not ok ", CaseOutcome::Failed), ("ok ", CaseOutcome::Passed), ("skip ", CaseOutcome::Skipped)];
        outcomes
            .into_iter()
            .find_map(|(word, outcome)| Some(Self { outcome, text: line.strip_prefix(word)?.to_owned() }))
    }

    /// `None` unless the name has all three parts.
    pub(super) fn name(&self) -> Option<Name<'_>> {
        let mut parts = self.text.splitn(3, " | ");
        let (program, pair, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let what = match self.outcome {
            CaseOutcome::Passed => rest,
            CaseOutcome::Failed | CaseOutcome::Skipped => {
                rest.split_once(": ").map_or(rest, |(what, _)| what)
            }
        };
        Some(Name { program, pair, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, outcome: CaseOutcome, text: &str) {
        assert_eq!(Case::parse(line), Some(Case { outcome, text: text.to_owned() }));
    }

    #[test]
    fn a_line_is_a_case_or_something_else() {
        check("ok card", CaseOutcome::Passed, "card");
        check("not ok send: 500\n", CaseOutcome::Failed, "send: 500");
        check("skip list: 0.3 has no list", CaseOutcome::Skipped, "list: 0.3 has no list");
        assert_eq!(Case::parse("okay"), None);
        assert_eq!(Case::parse("  ok indented is the peer's own output"), None);
    }

    #[test]
    fn a_name_tells_who_spoke_what_and_what_was_found() {
        let case = Case::parse("skip py-1.0 | 0.3 gRPC | a list: there is none").unwrap();
        let name = case.name().unwrap();
        assert_eq!((name.program, name.pair, name.what), ("py-1.0", "0.3 gRPC", "a list"));
        assert_eq!(Case::parse("ok streams text").unwrap().name(), None);
    }
}
