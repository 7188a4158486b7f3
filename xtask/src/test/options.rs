//! What to run: the arguments of `cargo xtask test` and its one environment variable.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) extent: TestScope,
    /// Parts of test names, for the Rust tests only.
    pub(super) names: Vec<String>,
    /// `CI=true`: a skipped test fails the run, and the tests of the `fuzz` modules run, too.
    pub(super) in_ci: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestScope {
    Everything,
    /// All but the interop and conformance suites.
    Quick,
    /// Only these suites.
    Peers,
    NamedTests,
}

impl Options {
    #[expect(clippy::disallowed_methods, reason = "a developer command is told by CI that it runs there")]
    pub(super) fn parse(arguments: Vec<String>) -> Result<Self, String> {
        Self::new(arguments, std::env::var("CI").is_ok_and(|value| value == "true"))
    }

    fn new(arguments: Vec<String>, in_ci: bool) -> Result<Self, String> {
        let (flags, names): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|word| word.starts_with('-'));
        let mut extent = TestScope::Everything;
        for flag in flags {
            extent = match flag.as_str() {
                "--quick" => TestScope::Quick,
                "--peers" => TestScope::Peers,
                unknown => {
                    return Err(format!(
                        "`cargo xtask test` has no option `{unknown}`; it has `--quick`, `--peers` and test names"
                    ));
                }
            };
        }
        if !names.is_empty() {
            extent = TestScope::NamedTests;
        }
        Ok(Self { extent, names, in_ci })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], extent: TestScope, names: &[&str]) {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let options = Options::new(arguments, false).unwrap();
        assert_eq!(
            (options.extent, options.names),
            (extent, names.iter().map(|n| (*n).to_owned()).collect())
        );
    }

    #[test]
    fn arguments_choose_the_extent() {
        check(&[], TestScope::Everything, &[]);
        check(&["--quick"], TestScope::Quick, &[]);
        check(&["--peers"], TestScope::Peers, &[]);
        check(&["follow", "replay"], TestScope::NamedTests, &["follow", "replay"]);
        check(&["--quick", "follow"], TestScope::NamedTests, &["follow"]);
    }

    #[test]
    fn an_unknown_option_is_refused() {
        let message = Options::new(vec!["--fast".into()], false).unwrap_err();
        assert!(message.contains("--fast") && message.contains("--quick"), "{message}");
    }
}
