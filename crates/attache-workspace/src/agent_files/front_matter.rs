//! Splits a Markdown file into its front matter and its body.

/// The YAML between the first line and the next line of three dashes, and the text after it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatter<'a> {
    pub(super) yaml: &'a str,
    pub(super) body: &'a str,
}

/// The line of the file before the YAML begins.
pub(super) const LINES_BEFORE: u32 = 1;

/// None if the file does not begin with front matter, or it does not end.
pub(super) fn split(text: &str) -> Option<FrontMatter<'_>> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_mark(line))?;
    let mut end = first.len();
    for line in lines {
        if is_mark(line) {
            return Some(FrontMatter { yaml: &text[first.len()..end], body: &text[end + line.len()..] });
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
            ("---\na: 1\n---\nDo it.\n", Some(("a: 1\n", "Do it.\n"))),
            ("---\r\na: 1\r\n---\r\nDo it.", Some(("a: 1\r\n", "Do it."))),
            ("---\n---", Some(("", ""))),
            ("---\na: \"---\"\n---\n---\n", Some(("a: \"---\"\n", "---\n"))),
            ("--- \na: 1\n---  \n", Some(("a: 1\n", ""))),
            ("", None),
            ("---", None),
            ("a: 1\n---\n", None),
            ("\n---\na: 1\n---\n", None),
            ("---\na: 1\n", None),
            ("----\na: 1\n---\n", None),
            ("---\na: 1\n ---\n", None),
        ] {
            let found = split(text).map(|found| (found.yaml, found.body));
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
