//! The property tests of the `fuzz` modules: a check gets arbitrary bytes, and input made of likely words.

use std::fmt::Debug;
use std::panic::Location;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Pieces of JSON. A crate adds the words of its own formats, so that generated texts get past the first token.
pub const JSON_WORDS: &[&str] =
    &["{", "}", "[", "]", ",", ":", "1", "-0.0", "1e999", "null", "true", r#""""#, r#""a""#, r#""\u0000""#];

/// Calls `check` with arbitrary bytes.
#[track_caller]
pub fn check_arbitrary_bytes(check: fn(&[u8])) {
    run(Location::caller(), any::<Vec<u8>>(), |bytes| check(&bytes));
}

/// Calls `check` with fewer than `limit` of `words` in a row.
#[track_caller]
pub fn check_likely_input<W>(words: &[W], limit: usize, check: fn(&[u8]))
where
    W: AsRef<[u8]> + Clone + Debug + 'static,
{
    let chosen = prop::collection::vec(prop::sample::select(words.to_vec()), 0..limit);
    run(Location::caller(), chosen, |words| {
        let input: Vec<u8> = words.iter().flat_map(AsRef::as_ref).copied().collect();
        check(&input);
    });
}

/// A failure is kept beside the file of the test, as it is with `proptest!`.
fn run<S: Strategy>(location: &'static Location<'static>, inputs: S, check: impl Fn(S::Value)) {
    let config = Config { source_file: Some(location.file()), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&inputs, |input| {
        check(input);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\n{runner}");
    }
}
