//! Detects placeholders for omitted code in new text, which would delete that code.

use std::sync::LazyLock;

use attache_tool::ToolError;
use regex::Regex;

/// A line that is only a remark about omitted code, with an ellipsis.
static REMARK: LazyLock<Regex> = LazyLock::new(|| {
    let comment = r"(?://+|\#+|--+|;+|%+|/\*+|\*+|<!--+|\{/\*+)?";
    let comment_end = r"(?:\*+/\}?|--+>)?";
    let dots = r"(?:\.{3,}|…)";
    let thing = r"(?:code|file|class|modules?|methods?|functions?|implementations?|contents?|logic|lines?|imports?|tests?|fields?|properties|definitions?|document|text|section|body|component|script|configuration|config)";
    let left_out = format!(
        r"(?:the\s+)?(?:(?:rest|remainder)\s+of\s+(?:(?:the|this|your|my)\s+)?(?:\w+\s+)?{thing}|(?:rest|remaining|existing|other|previous|original|unchanged|same|all\s+other)\s+(?:\w+\s+)?{thing})(?:\s+(?:goes|go|here|remains?|stays?|is|are|unchanged|as|before|above|below|the|same|omitted|continues?)){{0,4}}"
    );
    let pattern = format!(
        r"(?i)^\s*{comment}\s*[\[(]?\s*(?:{dots}\s*{left_out}\s*{dots}?|{left_out}\s*{dots})\s*[\])]?\s*{comment_end}\s*$"
    );
    Regex::new(&pattern).expect("the pattern is written above and tested below")
});

/// Refuses `new` if it contains a placeholder line that `old` does not contain.
pub(crate) fn check(parameter: &str, new: &str, old: &str) -> Result<(), ToolError> {
    let Some(line) = new
        .lines()
        .map(str::trim)
        .find(|line| REMARK.is_match(line) && !old.lines().any(|known| known.trim() == *line))
    else {
        return Ok(());
    };
    Err(ToolError::bad_input(format!(
        "`{parameter}` leaves out code with the line {line:?}, which would delete that code; give the complete text"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(line: &str, refused: bool) {
        let new = format!("fn main() {{\n    {line}\n}}\n");
        assert_eq!(check("content", &new, "").is_err(), refused, "{line}");
        assert!(check("content", &new, &format!("before\n{line}\nafter")).is_ok(), "{line} was there before");
    }

    #[test]
    fn remarks_on_code_that_is_left_out_are_refused() {
        for line in [
            "// rest of code ...",
            "// ... rest of the code",
            "# ... existing code ...",
            "/* ... rest of methods remain unchanged ... */",
            "<!-- remaining content… -->",
            "(rest of the file...)",
            "-- ... other functions here ...",
            "{/* ... existing code ... */}",
            "// Rest of your implementation...",
        ] {
            check_line(line, true);
        }
    }

    #[test]
    fn other_text_is_let_through() {
        for line in [
            "...",
            "pass  # ...",
            "// the rest of the code is generated",
            "println!(\"rest of code ...\");",
            "let rest = [1, 2, ..];",
            "// loading the existing configuration ...done",
            "// existing code",
            "call(...args);",
            "We were the rest of our lives ...",
        ] {
            check_line(line, false);
        }
    }
}
