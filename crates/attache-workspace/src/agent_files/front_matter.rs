//! Finds the front matter of a Markdown file.

/// The line of the file before the YAML begins.
pub(super) const LINES_BEFORE: u32 = 1;

/// The YAML between the first line and the next line of three dashes. None if the file does not begin with front matter,
/// or it does not end.
pub(super) fn find(text: &str) -> Option<&str> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_mark(line))?;
    let mut end = first.len();
    for line in lines {
        if is_mark(line) {
            return Some(&text[first.len()..end]);
        }
        end += line.len();
    }
    None
}

fn is_mark(line: &str) -> bool {
    line.trim_end() == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_stands_between_two_lines_of_dashes() {
        for (text, expected) in [
            ("---\na: 1\n---\nDo it.\n", Some("a: 1\n")),
            ("---\r\na: 1\r\n---\r\nDo it.", Some("a: 1\r\n")),
            ("---\n---", Some("")),
            ("---\na: \"---\"\n---\n---\n", Some("a: \"---\"\n")),
            ("--- \na: 1\n---  \n", Some("a: 1\n")),
            ("", None),
            ("---", None),
            ("a: 1\n---\n", None),
            ("\n---\na: 1\n---\n", None),
            ("---\na: 1\n", None),
            ("----\na: 1\n---\n", None),
            ("---\na: 1\n ---\n", None),
        ] {
            assert_eq!(find(text), expected, "{text:?}");
        }
    }
}
