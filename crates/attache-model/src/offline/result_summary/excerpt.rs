//! Excerpts of results for an answer: short, and unable to close their block.

/// Longer lines are cut.
const MAX_CHARACTERS: usize = 300;

/// A block with the first and last lines of the text.
pub(super) fn block(text: &str, language: &str, (first, last): (usize, usize)) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let cut = |line: &&str| match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => (*line).to_owned(),
    };
    let mut shown: Vec<String> = lines.iter().take(first + last).map(cut).collect();
    let left_out = lines.len().saturating_sub(first + last);
    if left_out > 0 {
        let plural = if left_out == 1 { "" } else { "s" };
        let end = lines[lines.len() - last..].iter().map(cut);
        shown.truncate(first);
        shown.push(format!("… {left_out} more line{plural} …"));
        shown.extend(end);
    }
    let fence = "`".repeat(longest_run(&shown).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", shown.join("\n"))
}

/// A name or a command within a sentence.
pub(in super::super) fn inline(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let line = match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    };
    let tick = "`".repeat(longest_run(std::slice::from_ref(&line)) + 1);
    let space = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{tick}{space}{line}{space}{tick}")
}

/// The longest run of backticks.
fn longest_run(lines: &[String]) -> usize {
    let runs = lines.iter().flat_map(|line| line.split(|letter| letter != '`').map(str::len));
    runs.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_ends() {
        let text: String = (1..=10).map(|number| format!("{number}\n")).collect();
        assert_eq!(block(&text, "", (10, 0)), format!("```\n{text}```"));
        assert_eq!(block(&text, "x", (2, 1)), "```x\n1\n2\n… 7 more lines …\n10\n```");
        assert_eq!(block(&text, "", (9, 0)), "```\n1\n2\n3\n4\n5\n6\n7\n8\n9\n… 1 more line …\n```");
        assert_eq!(block("", "", (1, 1)), "```\n\n```");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let shown = block(&"ä".repeat(400), "", (5, 5));
        assert_eq!(shown, format!("```\n{}…\n```", "ä".repeat(300)));
    }

    #[test]
    fn nothing_breaks_out_of_its_quotes() {
        assert_eq!(block("a ```` b", "", (5, 0)), "`````\na ```` b\n`````");
        assert_eq!(inline("a"), "`a`");
        assert_eq!(inline("a\n`b`"), "`` a `b` ``");
    }
}
