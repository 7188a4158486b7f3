//! Finds the known names that are nearest to an unknown one.

const MAX_SUGGESTIONS: usize = 3;
/// Letters of a word that are compared and shown: words are untrusted input.
const LETTERS: usize = 60;

/// The most similar names first.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Vec<&'a str> {
    let word = shown(word).to_lowercase();
    let mut near: Vec<(usize, &str)> =
        known.iter().filter_map(|name| Some((distance(&word, name)?, *name))).collect();
    near.sort();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

/// A word that begins a name is near to it, however short it is.
fn distance(word: &str, name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    if !word.is_empty() && name.starts_with(word) {
        return Some(0);
    }
    let distance = strsim::osa_distance(word, &name);
    (distance <= (name.chars().count() / 3).max(1)).then_some(distance)
}

/// An untrusted word, safe to show.
pub(crate) fn shown(word: &str) -> String {
    let letters = word.chars().map(|letter| if letter.is_control() { '\u{FFFD}' } else { letter });
    let mut shown: String = letters.clone().take(LETTERS).collect();
    if letters.count() > LETTERS {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &[&str]) {
        assert_eq!(nearest(word, &["memory", "mcp", "model", "stats", "help"]), expected, "{word:?}");
    }

    #[test]
    fn what_is_meant_is_found() {
        check("memroy", &["memory"]);
        check("MEMORY", &["memory"]);
        check("mem", &["memory"]);
        check("m", &["mcp", "memory", "model"]);
        check("stat", &["stats"]);
        check("modle", &["model"]);
        check("quit", &[]);
        check("", &[]);
        check(&"x".repeat(1 << 20), &[]);
    }

    #[test]
    fn what_is_shown_is_short_and_has_no_controls() {
        assert_eq!(shown("a\u{1b}[2Jb"), "a\u{FFFD}[2Jb");
        assert_eq!(shown(&"x".repeat(100)), format!("{}…", "x".repeat(60)));
    }
}
