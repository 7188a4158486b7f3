//! All pages, with a search index.

use std::sync::OnceLock;

use crate::answer;
use crate::index::Index;
use crate::page::Page;
use crate::section::{self, Section};
use crate::words::{question_words, words};

/// How much the headings of a section count beside its text, and how much it counts that the whole page fits.
const HEADING_SHARE: f64 = 0.8;
const PAGE_SHARE: f64 = 0.5;
/// A word in a section's own heading says more than one in the title of its page.
const OWN_HEADING: f64 = 2.0;

/// The embedded pages and those that the program adds.
///
/// ```
/// let manual = attache_help::Manual::new(Vec::new());
/// let found = manual.search("How do I trust a folder?", 1);
/// assert_eq!(found[0].page, "docs/settings.md");
/// ```
#[derive(Debug)]
pub struct Manual {
    pages: Vec<Page>,
    index: OnceLock<ManualIndex>,
}

#[derive(Debug, Default)]
struct ManualIndex {
    /// The page and the section of each text in the index.
    sections: Vec<(usize, usize)>,
    texts: Index,
    /// The headings of the same sections, with the names of their pages.
    headings: Index,
    /// The texts, page by page.
    pages: Index,
}

/// A section that fits a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSection<'a> {
    /// The name of its page.
    pub page: &'a str,
    /// The headings that lead to it, the page's title first.
    pub headings: Vec<&'a str>,
    pub text: &'a str,
    pub score: f64,
}

impl Manual {
    pub fn new(more: Vec<Page>) -> Self {
        Self { pages: Page::embedded().chain(more).collect(), index: OnceLock::new() }
    }

    /// The sections that fit best, the best first. Empty when no word of the question is known.
    pub fn search(&self, question: &str, limit: usize) -> Vec<FoundSection<'_>> {
        let ManualIndex { sections, texts, headings, pages } = self.index.get_or_init(|| self.build_index());
        let words = question_words(question);
        let (headings, pages) = (headings.scores(&words), pages.scores(&words));
        let mut scored: Vec<(f64, usize)> = texts.scores(&words).into_iter().zip(0..).collect();
        for (score, number) in scored.iter_mut().filter(|(score, _)| *score > 0.0) {
            let page = sections[*number].0;
            let all = *score + HEADING_SHARE * headings[*number] + PAGE_SHARE * pages[page];
            *score = all * self.pages[page].weight();
        }
        scored.retain(|(score, _)| *score > 0.0);
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let found = scored.into_iter().take(limit).filter_map(|(score, number)| {
            let (page, section_number) = sections[number];
            let page = &self.pages[page];
            let Section { headings, text } = section::split(page).into_iter().nth(section_number)?;
            Some(FoundSection { page: &page.name, headings, text, score })
        });
        found.collect()
    }

    /// The answer to a question: the best sections, quoted under their names.
    pub fn answer(&self, question: &str) -> String {
        answer::answer(self, question)
    }

    /// The names of all pages.
    pub fn pages(&self) -> impl Iterator<Item = &str> {
        self.pages.iter().map(|page| page.name.as_ref())
    }

    fn build_index(&self) -> ManualIndex {
        let mut index = ManualIndex::default();
        for (page_number, page) in self.pages.iter().enumerate() {
            let sections = section::split(page);
            for (section_number, section) in sections.iter().enumerate() {
                index.sections.push((page_number, section_number));
                index.texts.add(plain(section.text));
                index.headings.add(heading_words(page, section));
            }
            let headings = sections.iter().flat_map(|section| heading_words(page, section));
            index.pages.add(headings.chain(sections.iter().flat_map(|section| plain(section.text))));
        }
        index
    }
}

fn plain(text: &str) -> impl Iterator<Item = (String, f64)> + use<> {
    words(text).into_iter().map(|word| (word, 1.0))
}

fn heading_words(page: &Page, section: &Section<'_>) -> impl Iterator<Item = (String, f64)> + use<> {
    let last = section.headings.len().saturating_sub(1);
    let mut all: Vec<(String, f64)> = words(&page.name).into_iter().map(|word| (word, 1.0)).collect();
    for (place, heading) in section.headings.iter().enumerate() {
        let weight = if place == last { OWN_HEADING } else { 1.0 };
        all.extend(words(heading).into_iter().map(|word| (word, weight)));
    }
    all.into_iter()
}

#[cfg(test)]
#[path = "manual_tests.rs"]
mod tests;
