//! The answer to a question, as text.

use crate::excerpt::excerpt;
use crate::manual::{FoundSection, Manual};

const MAX_SECTIONS: usize = 3;
/// A section that fits much worse than the best one is left out.
const MIN_SHARE: f64 = 0.6;
/// Bytes that are quoted of the best section, and of each other one.
const MAX_FIRST_BYTES: usize = 2_000;
const MAX_OTHER_BYTES: usize = 1_000;

pub(crate) fn answer(manual: &Manual, question: &str) -> String {
    let found = manual.search(question, MAX_SECTIONS);
    let Some(best) = found.first() else { return nothing_found(manual) };
    let min_score = best.score * MIN_SHARE;
    let quoted = found.iter().enumerate().filter(|(_, section)| section.score >= min_score);
    let quoted = quoted.map(|(place, section)| {
        let limit = if place == 0 { MAX_FIRST_BYTES } else { MAX_OTHER_BYTES };
        format!("From {}:\n\n{}", name(section), excerpt(section.text, &section.block_scores, limit))
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
        "Nothing in the documentation of attache fits this question. Ask in English and with other words, such as the name of \
         a command or of a setting. The pages are: {}.",
        pages.join(", ")
    )
}
