//! Adjusts the indentation of a text to the lines it replaces.

/// The white space before the first character of a line.
pub(super) fn of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Indents the first line by `target` and shifts all others with it. Empty lines stay empty.
pub(super) fn shift(text: &str, target: &str) -> String {
    let Some(reference) = text.lines().find(|line| !line.trim().is_empty()).map(of) else {
        return text.to_owned();
    };
    text.split_inclusive('\n').map(|line| shift_line(line, reference, target)).collect()
}

fn shift_line(line: &str, reference: &str, target: &str) -> String {
    if line.trim().is_empty() {
        return line.trim_start_matches([' ', '\t']).to_owned();
    }
    let own = of(line);
    let content = &line[own.len()..];
    if let Some(deeper) = own.strip_prefix(reference) {
        return format!("{target}{deeper}{content}");
    }
    // Less indented than the first line: reduces the target by the difference. White space is ASCII.
    let less = reference.len().saturating_sub(own.len());
    format!("{}{content}", &target[..target.len().saturating_sub(less)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, target: &str, expected: &str) {
        assert_eq!(shift(text, target), expected);
    }

    #[test]
    fn a_text_moves_as_a_whole() {
        check("a\n  b\nc", "    ", "    a\n      b\n    c");
        check("        a\n          b\n", "  ", "  a\n    b\n");
        check("a\n\tb", "\t\t", "\t\ta\n\t\t\tb");
    }

    #[test]
    fn lines_less_deep_than_the_first_stay_less_deep() {
        check("    a\n  b\nc", "      ", "      a\n    b\n  c");
        check("    a\nb", "  ", "  a\nb");
    }

    #[test]
    fn empty_lines_get_no_spaces() {
        check("a\n\n   \nb\n", "  ", "  a\n\n\n  b\n");
        check("\n", "  ", "\n");
        check("", "  ", "");
    }
}
