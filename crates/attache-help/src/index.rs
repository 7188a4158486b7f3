//! BM25: how well each of many texts fits a question.

use std::collections::HashMap;

use crate::search_query::{SearchQuery, Term};

/// How quickly more of the same word stops to matter.
const K1: f64 = 1.2;
/// How much longer texts are held back.
const B: f64 = 0.6;
/// How much a word says that no text has: as much as one that is neither rare nor frequent.
const UNKNOWN_SPECIFICITY: f64 = 4.0;
/// What two words that follow each other as in the question add.
const PAIR_WEIGHT: f64 = 0.5;

/// The words of all texts.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// For each word, the texts that have it and how often.
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    total_length: f64,
}

impl Index {
    /// Adds a text, given as words with weights. Texts are numbered from 0.
    pub(crate) fn add(&mut self, words: impl Iterator<Item = (String, f64)>) -> usize {
        let number = self.lengths.len();
        let mut counts: HashMap<String, f64> = HashMap::new();
        let mut length = 0.0;
        for (word, weight) in words {
            *counts.entry(word).or_default() += weight;
            length += weight;
        }
        for (word, count) in counts {
            self.postings.entry(word).or_default().push((number, count));
        }
        self.lengths.push(length);
        self.total_length += length;
        number
    }

    /// The score of every text; 0 where no word fits.
    pub(crate) fn scores(&self, question: &SearchQuery) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        for term in &question.terms {
            for (number, score) in self.term_scores(term) {
                scores[number] += score;
            }
        }
        for pair in &question.pairs {
            for (number, score) in self.word_scores(pair) {
                scores[number] += PAIR_WEIGHT * score;
            }
        }
        scores
    }

    /// The texts that have the term in one of its forms, with the score of the form that fits best.
    pub(crate) fn term_scores(&self, term: &Term) -> HashMap<usize, f64> {
        let mut best: HashMap<usize, f64> = HashMap::new();
        for (word, weight) in term {
            for (number, score) in self.word_scores(word) {
                let known = best.entry(number).or_default();
                *known = known.max(weight * score);
            }
        }
        best
    }

    /// How much a term says: the more, the fewer texts have it.
    pub(crate) fn specificity(&self, term: &Term) -> f64 {
        let known = |(word, weight): &(String, f64)| {
            self.postings.get(word).map(|postings| weight * self.rarity(postings.len()))
        };
        let word = term.first().and_then(known);
        word.or_else(|| term.iter().filter_map(known).reduce(f64::max)).unwrap_or(UNKNOWN_SPECIFICITY)
    }

    fn word_scores(&self, word: &str) -> impl Iterator<Item = (usize, f64)> {
        let postings = self.postings.get(word).map(Vec::as_slice).unwrap_or_default();
        let rarity = self.rarity(postings.len());
        let average = self.total_length / float(self.lengths.len().max(1));
        postings.iter().map(move |(number, count)| {
            let length = 1.0 - B + B * self.lengths[*number] / average;
            (*number, rarity * count * (K1 + 1.0) / (count + K1 * length))
        })
    }

    fn rarity(&self, texts_with_it: usize) -> f64 {
        let with = float(texts_with_it);
        (1.0 + (float(self.lengths.len()) - with + 0.5) / (with + 0.5)).ln()
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are a few thousand texts")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Index {
        let mut index = Index::default();
        for text in texts {
            index.add(text.split(' ').map(|word| (word.to_owned(), 1.0)));
        }
        index
    }

    #[test]
    fn rare_words_and_short_texts_count_more() {
        let texts = ["push push webhook", "push", "push webhook and more words", "none"];
        let index = index(&texts);
        let scores = index.scores(&SearchQuery::read("webhook push"));
        assert!(scores[0] > scores[2] && scores[2] > scores[1] && scores[1] > scores[3], "{scores:?}");
        assert_eq!(scores[3], 0.0);
        assert_eq!(index.scores(&SearchQuery::read("unknown")), [0.0; 4]);
        assert_eq!(Index::default().scores(&SearchQuery::read("push")), Vec::<f64>::new());
    }

    #[test]
    fn a_rare_word_says_more_than_a_frequent_one_or_a_synonym() {
        let index = index(&["push", "push webhook", "push", "push"]);
        let says = |word: &str| index.specificity(&vec![(word.to_owned(), 1.0)]);
        assert!(says("webhook") > says("push"));
        assert_eq!(says("unknown"), UNKNOWN_SPECIFICITY);
        let synonym = vec![("hook".to_owned(), 1.0), ("webhook".to_owned(), 0.5)];
        assert!(index.specificity(&synonym) < says("webhook"));
    }
}
