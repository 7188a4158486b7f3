//! All pages, with a search index.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::answer;
use crate::excerpt::blocks;
use crate::index::Index;
use crate::page::Page;
use crate::search_query::{SearchQuery, pairs};
use crate::section::{self, Section};
use crate::words::words;

/// How much the headings of a section, its best block and its whole page count beside its text.
const HEADING_SHARE: f64 = 1.4;
const BLOCK_SHARE: f64 = 0.7;
const PAGE_SHARE: f64 = 0.5;
/// A word in a section's own heading says more than one in the title of its page.
const OWN_HEADING: f64 = 2.0;
/// A keyword counts as much as a word in the heading itself.
const KEYWORD_WEIGHT: f64 = 2.0;
/// A word in the header of a table, for each of its rows.
const HEADER_WEIGHT: f64 = 0.3;
/// A section fits only if it has so much of what the question asks for: its words, weighted by how rare they are.
const MIN_COVERAGE: f64 = 0.4;

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
    sections: Vec<IndexedSection>,
    texts: Index,
    /// The headings of the same sections, with the names of their pages.
    headings: Index,
    /// The paragraphs, items and rows of all sections, so that one row of a long table can be found.
    blocks: Index,
    /// The texts, page by page.
    pages: Index,
}

#[derive(Debug)]
struct IndexedSection {
    page: usize,
    /// Its number in the page.
    number: usize,
    blocks: Range<usize>,
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
    /// How well each block of the text fits.
    pub(crate) block_scores: Vec<f64>,
}

impl Manual {
    pub fn new(more: Vec<Page>) -> Self {
        Self { pages: Page::embedded().chain(more).collect(), index: OnceLock::new() }
    }

    /// The sections that fit best, the best first. Empty when none has enough of the question's words.
    pub fn search(&self, question: &str, limit: usize) -> Vec<FoundSection<'_>> {
        let index = self.index.get_or_init(|| self.build_index());
        let question = SearchQuery::read(question);
        let blocks = index.blocks.scores(&question);
        let mut scored = self.score_sections(index, &question, &blocks);
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let found = scored.into_iter().take(limit).filter_map(|(score, number)| {
            let section = &index.sections[number];
            let page = &self.pages[section.page];
            let Section { headings, text, .. } = section::split(page).into_iter().nth(section.number)?;
            let block_scores = blocks[section.blocks.clone()].to_vec();
            Some(FoundSection { page: &page.name, headings, text, score, block_scores })
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

    /// The sections that have enough of the question, with their scores.
    fn score_sections(
        &self,
        index: &ManualIndex,
        question: &SearchQuery,
        blocks: &[f64],
    ) -> Vec<(f64, usize)> {
        let coverage = index.coverage(question);
        let (texts, headings) = (index.texts.scores(question), index.headings.scores(question));
        let pages = index.pages.scores(question);
        let score = |(number, section): (usize, &IndexedSection)| {
            let block = blocks[section.blocks.clone()].iter().copied().fold(0.0, f64::max);
            let all = texts[number]
                + HEADING_SHARE * headings[number]
                + BLOCK_SHARE * block
                + PAGE_SHARE * pages[section.page];
            (all * coverage[number].sqrt() * self.pages[section.page].weight(), number)
        };
        let fits = |(number, _): &(usize, &IndexedSection)| coverage[*number] >= MIN_COVERAGE;
        index.sections.iter().enumerate().filter(fits).map(score).collect()
    }

    fn build_index(&self) -> ManualIndex {
        let mut index = ManualIndex::default();
        for (page_number, page) in self.pages.iter().enumerate() {
            let sections = section::split(page);
            for (number, section) in sections.iter().enumerate() {
                let first = index.texts.add(plain(section.text));
                debug_assert_eq!(first, index.sections.len());
                index.headings.add(heading_words(page, section));
                let before = index.block_count();
                let count = blocks(section.text).map(|block| index.blocks.add(block_words(&block))).count();
                let blocks = before..before + count;
                index.sections.push(IndexedSection { page: page_number, number, blocks });
            }
            let headings = sections.iter().flat_map(|section| heading_words(page, section));
            index.pages.add(headings.chain(sections.iter().flat_map(|section| plain(section.text))));
        }
        index
    }
}

impl ManualIndex {
    fn block_count(&self) -> usize {
        self.sections.last().map_or(0, |section| section.blocks.end)
    }

    /// How much of the question each section has, from 0 to 1.
    fn coverage(&self, question: &SearchQuery) -> Vec<f64> {
        let mut covered = vec![0.0; self.sections.len()];
        let mut whole = 0.0;
        for term in &question.terms {
            let says = self.texts.specificity(term);
            whole += says;
            let texts = self.texts.term_scores(term).into_keys();
            let with_it: HashSet<usize> = texts.chain(self.headings.term_scores(term).into_keys()).collect();
            with_it.into_iter().for_each(|number| covered[number] += says);
        }
        covered.iter().map(|covered| if whole > 0.0 { covered / whole } else { 0.0 }).collect()
    }
}

/// The words of a text, and those that follow each other.
fn plain(text: &str) -> impl Iterator<Item = (String, f64)> + use<> {
    let words = words(text);
    let pairs: Vec<String> = pairs(&words).collect();
    words.into_iter().chain(pairs).map(|word| (word, 1.0))
}

/// The header of a table counts a little for each of its rows.
fn block_words((text, header): &(String, String)) -> impl Iterator<Item = (String, f64)> + use<> {
    let header = words(header).into_iter().map(|word| (word, HEADER_WEIGHT));
    plain(text).chain(header.collect::<Vec<_>>())
}

fn heading_words(page: &Page, section: &Section<'_>) -> impl Iterator<Item = (String, f64)> + use<> {
    let last = section.headings.len().saturating_sub(1);
    let mut all: Vec<(String, f64)> = plain(&page.name).collect();
    for (place, heading) in section.headings.iter().enumerate() {
        let weight = if place == last { OWN_HEADING } else { 1.0 };
        all.extend(plain(heading).map(|(word, _)| (word, weight)));
    }
    // Each of them alone: what stands before a comma does not belong to what follows it.
    all.extend(section.keywords.split([',', ';']).flat_map(plain).map(|(word, _)| (word, KEYWORD_WEIGHT)));
    all.into_iter()
}

#[cfg(test)]
#[path = "manual_tests.rs"]
mod tests;
