//! Commands that stand in the front matter without quotes, as in `token: !print-token`.
//!
//! For YAML, what begins with `!` is a tag. In an agent file it is a command (`!`), or a text that begins with the sign
//! (`!!`): nothing else in such a file has a tag, so the value can be read as it was meant.

/// The fields whose values may be commands.
const FIELDS: &[&str] = &["key", "token", "username", "password", "value", "client_id", "client_secret"];

/// The same front matter, line by line, with quotes around such values; `None` if there are none.
pub(super) fn quoted(yaml: &str) -> Option<String> {
    let lines: Vec<String> =
        yaml.split_inclusive('\n').map(|line| quoted_line(line).unwrap_or_else(|| line.to_owned())).collect();
    let quoted = lines.concat();
    (quoted != yaml).then_some(quoted)
}

fn quoted_line(line: &str) -> Option<String> {
    let content = line.trim_end();
    let (name, after) = content.split_once(':')?;
    let value = after.trim_start();
    let is_field = FIELDS.contains(&name.trim_start_matches([' ', '-']));
    if !is_field || !value.starts_with('!') || value.len() == after.len() {
        return None;
    }
    // As in YAML, a comment begins after a blank.
    let value = value.split(" #").next().unwrap_or_default().trim_end().replace('\'', "''");
    Some(format!("{name}: '{value}'{}", &line[content.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: Option<&str>) {
        assert_eq!(quoted(yaml).as_deref(), expected, "{yaml}");
    }

    #[test]
    fn values_that_begin_with_the_sign_are_quoted_and_nothing_else_changes() {
        check(
            "auth:\n  token: !gcloud auth print-token\n  x: 1",
            Some("auth:\n  token: '!gcloud auth print-token'\n  x: 1"),
        );
        check("- key: !echo 'a: b' # mine\r\n", Some("- key: '!echo ''a: b'''\r\n"));
        check("password:   !!run\n", Some("password: '!!run'\n"));
        for unchanged in ["token: '!quoted'\n", "token:!none\n", "name: !other\n", "token: a !b\n", ""] {
            check(unchanged, None);
        }
    }
}
