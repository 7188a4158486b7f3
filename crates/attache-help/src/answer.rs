//! The answer to a question, as text.

use crate::excerpt::excerpt;
use crate::manual::{FoundSection, Manual};
use crate::words::question_words;

const MAX_SECTIONS: usize = 3;
/// A section that fits much worse than the best one is left out.
const LEAST_SHARE: f64 = 0.5;
/// Bytes that are quoted of the best section, and of each other one.
const MAX_FIRST: usize = 2_400;
const MAX_OTHER: usize = 1_200;

pub(crate) fn answer(manual: &Manual, question: &str) -> String {
    let found = manual.search(question, MAX_SECTIONS);
    let Some(best) = found.first() else { return nothing_found(manual) };
    let least = best.score * LEAST_SHARE;
    let words = question_words(question);
    let quoted = found.iter().enumerate().filter(|(_, section)| section.score >= least);
    let quoted = quoted.map(|(place, section)| {
        let most = if place == 0 { MAX_FIRST } else { MAX_OTHER };
        format!("From {}:\n\n{}", name(section), excerpt(section.text, &words, most))
    });
    quoted.collect::<Vec<_>>().join("\n\n")
}

/// The page, and the headings below its title.
fn name(section: &FoundSection<'_>) -> String {
    let below = section.headings.iter().skip(1).map(|heading| format!(" › {heading}"));
    format!("{}{}", section.page, below.collect::<String>())
}

fn nothing_found(manual: &Manual) -> String {
    let pages: Vec<&str> = manual.pages().filter(|page| page.starts_with("docs/")).collect();
    format!(
        "Nothing in the documentation of attache fits this question. Ask with other words, such as the name of a command or \
         of a setting. The pages are: {}.",
        pages.join(", ")
    )
}
