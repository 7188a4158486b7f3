//! One line of a peer's report.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Case {
    Passed,
    /// With the case's name and the reason.
    Failed(String),
    Skipped,
}

impl Case {
    /// `None` for a line that is no case.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if let Some(text) = line.strip_prefix("not ok ") {
            return Some(Self::Failed(text.to_owned()));
        }
        if line.starts_with("ok ") {
            return Some(Self::Passed);
        }
        line.starts_with("skip ").then_some(Self::Skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_case_or_something_else() {
        assert_eq!(Case::parse("ok card"), Some(Case::Passed));
        assert_eq!(Case::parse("not ok send: 500\n"), Some(Case::Failed("send: 500".into())));
        assert_eq!(Case::parse("skip list: 0.3 has no list"), Some(Case::Skipped));
        assert_eq!(Case::parse("okay"), None);
        assert_eq!(Case::parse("  ok indented is the peer's own output"), None);
    }
}
