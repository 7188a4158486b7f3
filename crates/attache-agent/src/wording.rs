//! Turns errors of models and tools into complete sentences for people.

use std::time::Duration;

/// Begins with a capital letter and ends once.
pub(crate) fn sentence(text: &str) -> String {
    let text = capital(text.trim());
    if ends(&text) { text } else { format!("{text}.") }
}

/// Why something happens, then what happens: `The server is busy; trying again.`
pub(crate) fn because(why: &str, what: &str) -> String {
    let why = capital(why.trim().trim_end_matches('.'));
    if ends(&why) { format!("{why} {}", sentence(what)) } else { format!("{why}; {what}.") }
}

/// An answer that does not begin.
pub(crate) fn still_waiting(silent: Duration, timeout: Duration) -> String {
    let (silent, timeout) = (silent.as_secs(), timeout.as_secs());
    format!("The model has been silent for {silent} s; I wait up to {timeout} s.")
}

fn ends(text: &str) -> bool {
    text.ends_with(['.', '!', '?', '…'])
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: String, expected: &str) {
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sentence_ends_once() {
        check(sentence("the model is gone (404)"), "The model is gone (404).");
        check(sentence("I can't help."), "I can't help.");
        check(sentence("is the base URL right?"), "Is the base URL right?");
        check(sentence("ärger "), "Ärger.");
        check(sentence(""), ".");
    }

    #[test]
    fn a_reason_goes_before_what_happens() {
        check(because("busy (503)", "trying again"), "Busy (503); trying again.");
        check(because("The server is busy.", "trying again"), "The server is busy; trying again.");
        check(because("is it right?", "trying again"), "Is it right? Trying again.");
    }
}
