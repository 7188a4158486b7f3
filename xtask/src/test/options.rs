//! What to run: the arguments of `cargo xtask test` and its one environment variable.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) extent: Extent,
    /// Parts of test names, for the Rust tests only.
    pub(super) names: Vec<String>,
    /// `CI=true`: a skipped test fails the run, and the tests of the `fuzz` modules run, too.
    pub(super) in_ci: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
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
        let mut extent = Extent::Everything;
        for flag in flags {
            extent = match flag.as_str() {
                "--quick" => Extent::Quick,
                "--peers" => Extent::Peers,
                unknown => {
                    return Err(format!(
                        "`cargo xtask test` has no option `{unknown}`; it has `--quick`, `--peers` and test names"
                    ));
                }
            };
        }
        if !names.is_empty() {
            extent = Extent::NamedTests;
        }
        Ok(Self { extent, names, in_ci })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], extent: Extent, names: &[&str]) {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let options = Options::new(arguments, false).unwrap();
        assert_eq!(
            (options.extent, options.names),
            (extent, names.iter().map(|n| (*n).to_owned()).collect())
        );
    }

    #[test]
    fn arguments_choose_the_extent() {
        check(&[], Extent::Everything, &[]);
        check(&["--quick"], Extent::Quick, &[]);
        check(&["--peers"], Extent::Peers, &[]);
        check(&["follow", "replay"], Extent::NamedTests, &["follow", "replay"]);
        check(&["--quick", "follow"], Extent::NamedTests, &["follow"]);
    }

    #[test]
    fn an_unknown_option_is_refused() {
        let message = Options::new(vec!["--fast".into()], false).unwrap_err();
        assert!(message.contains("--fast") && message.contains("--quick"), "{message}");
    }
}
