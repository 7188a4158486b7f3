//! Counts passed, failed and skipped checks in the output of programs.

use std::fmt;

/// Shown as `N passed, N failed, N skipped`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// What failed, by name, for the end of the run.
    pub(crate) failures: Vec<String>,
}

impl Counts {
    /// One check that passed.
    pub(crate) fn success() -> Self {
        Self { passed: 1, ..Self::default() }
    }

    /// One check that failed.
    pub(crate) fn failure(name: &str) -> Self {
        Self { failed: 1, failures: vec![name.to_owned()], ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
    }

    /// Reads the summary of `cargo nextest run`; `None` when it came to no summary.
    pub(super) fn of_nextest(text: &str) -> Option<Self> {
        let summary = text.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
        let (_, parts) = summary.split_once(" run:")?;
        let mut counts = Self::default();
        for (number, word) in numbered(&without_parentheses(parts), ',') {
            match word.as_str() {
                "passed" => counts.passed += number,
                "skipped" => counts.skipped += number,
                // `failed`, `timed out`, `exec failed`: none of them is good.
                _ => counts.failed += number,
            }
        }
        let named = text.lines().filter_map(failed_nextest).map(str::to_owned);
        counts.failures = named.collect();
        counts.failures.sort();
        counts.failures.dedup();
        Some(counts)
    }

    /// Adds up the results of every test binary of `cargo test`; `None` when there was none.
    pub(crate) fn of_libtest(text: &str) -> Option<Self> {
        let mut results = text.lines().filter_map(|line| line.strip_prefix("test result: ")).peekable();
        results.peek()?;
        let mut counts = Self::default();
        for result in results {
            let result = result.split_once(". ").map_or(result, |(_, rest)| rest);
            for (number, word) in numbered(result, ';') {
                match word.as_str() {
                    "passed" => counts.passed += number,
                    "failed" => counts.failed += number,
                    "ignored" => counts.skipped += number,
                    _ => {}
                }
            }
        }
        let named = text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        counts.failures = named.map(str::to_owned).collect();
        Some(counts)
    }

    /// Reads the last lines of a run of this command; `None` when it came to no end.
    pub(super) fn of_suite(text: &str) -> Option<Self> {
        let mut counts = Self::default();
        let mut words = Vec::new();
        for (number, word) in numbered(text.lines().next_back()?, ',') {
            match word.as_str() {
                "passed" => counts.passed = number,
                "failed" => counts.failed = number,
                "skipped" => counts.skipped = number,
                _ => return None,
            }
            words.push(word);
        }
        let named = text.lines().filter_map(|line| line.strip_prefix(FAILED));
        counts.failures = named.map(str::to_owned).collect();
        (words.len() == 3).then_some(counts)
    }
}

/// What the line of a failure begins with, at the end of a run.
pub(super) const FAILED: &str = "failed: ";

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// `3 passed, 1 failed` as pairs; what does not start with a number is left out.
fn numbered(text: &str, separator: char) -> impl Iterator<Item = (usize, String)> {
    text.split(separator).filter_map(|part| {
        let (number, word) = part.trim().split_once(' ')?;
        Some((number.parse().ok()?, word.to_owned()))
    })
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = |character: &char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(outside).collect()
}

/// The test's name in a line such as `        FAIL [   0.012s] (3/9) attache-wire v1_0::a_test`.
fn failed_nextest(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = ["FAIL", "TIMEOUT", "SIGABRT", "SIGSEGV", "SIGKILL", "SIGTERM", "XFAIL"]
        .into_iter()
        .find_map(|word| line.strip_prefix(word)?.strip_prefix(" ["))?;
    let name = rest.split_once(']')?.1.trim_start();
    Some(
        name.strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or(name, |(_, name)| name.trim_start()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(counts: &Counts) -> (usize, usize, usize) {
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn nextest_is_understood() {
        let text = "        PASS [   0.004s] (1/4) a b::c\n        FAIL [   0.012s] (2/4) a b::d\n\
                    ------------\n     Summary [   0.100s] 6 tests run: 3 passed (1 slow, 1 leaky), 2 failed, \
                    1 timed out, 4 skipped\n        FAIL [   0.012s] (2/4) a b::d\nerror: test run failed\n";
        let counts = Counts::of_nextest(text).unwrap();
        assert_eq!(numbers(&counts), (3, 3, 4));
        assert_eq!(counts.failures, ["a b::d"]);
    }

    #[test]
    fn a_single_test_is_counted() {
        let text = "     Summary [   0.003s] 1 test run: 1 passed, 0 skipped";
        assert_eq!(numbers(&Counts::of_nextest(text).unwrap()), (1, 0, 0));
    }

    #[test]
    fn a_run_that_did_not_compile_has_no_counts() {
        assert_eq!(Counts::of_nextest("error: could not compile `a`"), None);
        assert_eq!(Counts::of_libtest("error: could not compile `a`"), None);
    }

    #[test]
    fn cargo_test_is_understood() {
        let text = "running 2 tests\ntest src/lib.rs - f (line 3) ... FAILED\ntest result: FAILED. 1 passed; \
                    1 failed; 2 ignored; 0 measured; 5 filtered out; finished in 0.01s\n\
                    test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let counts = Counts::of_libtest(text).unwrap();
        assert_eq!(numbers(&counts), (5, 1, 2));
        assert_eq!(counts.failures, ["src/lib.rs - f (line 3)"]);
    }

    #[test]
    fn a_run_of_this_command_is_understood() {
        let text = "failed: interop with x: card: no\n3 passed, 1 failed, 2 skipped\n";
        let counts = Counts::of_suite(text).unwrap();
        assert_eq!(numbers(&counts), (3, 1, 2));
        assert_eq!(counts.failures, ["interop with x: card: no"]);
        assert_eq!(Counts::of_suite("== conformance\n"), None);
        assert_eq!(Counts::of_suite("3 passed\n"), None);
    }

    #[test]
    fn the_last_line_has_its_promised_form() {
        let mut counts = Counts::success();
        counts.add(Counts::failure("format"));
        assert_eq!(counts.to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(counts.failures, ["format"]);
    }
}
