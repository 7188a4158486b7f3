//! The scripts of a `package.json`, which package managers run.

use serde_json::Value;

/// Whether an edit changes the scripts. Text that is no valid JSON counts as a change.
pub(super) fn scripts_differ(original: Option<&str>, new: &str) -> bool {
    let scripts = |text: &str| {
        let document: Value = serde_json::from_str(text).ok()?;
        document.is_object().then(|| document.get("scripts").cloned().unwrap_or_default())
    };
    let Some(new) = scripts(new) else { return true };
    let empty =
        |scripts: &Value| scripts.is_null() || scripts.as_object().is_some_and(serde_json::Map::is_empty);
    match original.map(scripts) {
        Some(None) => true,
        Some(Some(original)) => original != new && !(empty(&original) && empty(&new)),
        None => !empty(&new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_of_scripts_counts() {
        let with = |scripts: &str| format!(r#"{{"name": "a", "scripts": {scripts}}}"#);
        for (original, new, expected) in [
            (Some(with(r#"{"test": "jest"}"#)), with(r#"{"test": "jest"}"#), false),
            (Some(with(r#"{"test": "jest"}"#)), with(r#"{"test": "rm"}"#), true),
            (Some(with(r#"{"test": "jest"}"#)), with("{}"), true),
            (Some(r#"{"name": "a"}"#.into()), r#"{"name": "b", "version": "1"}"#.into(), false),
            (Some(r#"{"name": "a"}"#.into()), with("{}"), false),
            (Some(r#"{"name": "a"}"#.into()), with(r#"{"postinstall": "x"}"#), true),
            (None, r#"{"name": "b"}"#.into(), false),
            (None, with(r#"{"postinstall": "x"}"#), true),
            (Some("{".into()), r#"{"name": "b"}"#.into(), true),
            (Some("{}".into()), "{".into(), true),
            (Some("{}".into()), "[]".into(), true),
        ] {
            assert_eq!(scripts_differ(original.as_deref(), &new), expected, "{original:?} {new}");
        }
    }
}
