//! BM25: how well each of many texts fits some weighted words.

use std::collections::HashMap;

/// How quickly more of the same word stops to matter.
const K1: f64 = 1.2;
/// How much longer texts are held back.
const B: f64 = 0.6;

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
    pub(crate) fn add(&mut self, words: impl Iterator<Item = (String, f64)>) {
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
    }

    /// The score of every text; 0 where no word fits.
    #[expect(clippy::cast_precision_loss, reason = "there are a few thousand texts")]
    pub(crate) fn scores(&self, question: &[(String, f64)]) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        let texts = self.lengths.len() as f64;
        let average = if texts > 0.0 { self.total_length / texts } else { 1.0 };
        for (word, weight) in question {
            let Some(postings) = self.postings.get(word) else { continue };
            let rarity = (1.0 + (texts - postings.len() as f64 + 0.5) / (postings.len() as f64 + 0.5)).ln();
            for (number, count) in postings {
                let length = 1.0 - B + B * self.lengths[*number] / average;
                scores[*number] += weight * rarity * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_and_short_texts_count_more() {
        let mut index = Index::default();
        for text in ["push push webhook", "push", "push webhook and many more words than others have", "none"]
        {
            index.add(text.split(' ').map(|word| (word.to_owned(), 1.0)));
        }
        let scores = index.scores(&[("webhook".into(), 1.0), ("push".into(), 1.0)]);
        assert!(scores[0] > scores[2] && scores[2] > scores[1] && scores[1] > scores[3], "{scores:?}");
        assert_eq!(scores[3], 0.0);
        assert_eq!(index.scores(&[("unknown".into(), 1.0)]), [0.0; 4]);
        assert_eq!(Index::default().scores(&[("push".into(), 1.0)]), Vec::<f64>::new());
    }
}
