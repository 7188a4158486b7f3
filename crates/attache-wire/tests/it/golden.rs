//! Reading golden files and comparing with them.

use std::path::Path;

use serde_json::Value;

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn value(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What was written is JSON on one line that says what the golden file says.
#[track_caller]
pub(crate) fn check(written: &[u8], expected: &Value) {
    let text = std::str::from_utf8(written).unwrap();
    assert!(!text.contains('\n'), "one line only: {text}");
    let written: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    assert_eq!(&written, expected, "\nwritten:  {written:#}\nexpected: {expected:#}");
}
