//! Finds text of as many lines that differs in few characters.

use std::ops::Range;

use super::indentation;
use super::matching::{Edit, lines, span, without_equal_edges};

/// The part of the characters that may differ.
const TOLERANCE: f64 = 0.1;
/// The weight of different white space, compared with other differences.
const WHITE_SPACE: f64 = 0.1;
/// Shorter texts are not searched this way.
const MIN_CHARACTERS: usize = 10;
/// The maximum of lines of the file times squared characters of the text.
const MAX_WORK: f64 = 4e8;

pub(super) fn find(text: &str, old: &str, new: &str) -> Vec<Edit> {
    let (old, new) = without_equal_edges(old, new);
    let wanted = FuzzyPattern::new(old);
    let lines = lines(text);
    let work = lines.len() as f64 * (wanted.characters.len() as f64).powi(2);
    if wanted.characters.len() < MIN_CHARACTERS || wanted.dense.is_empty() || work > MAX_WORK {
        return Vec::new();
    }
    let height = old.lines().count();
    let mut near: Vec<(f64, usize)> = lines
        .windows(height)
        .enumerate()
        .filter_map(|(at, window)| Some((wanted.difference(&text[span(window, false)])?, at)))
        .collect();
    near.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));

    let mut taken: Vec<Range<usize>> = Vec::new();
    for (_, at) in near {
        if taken.iter().all(|range| at + height <= range.start || range.end <= at) {
            taken.push(at..at + height);
        }
    }
    taken.sort_by_key(|range| range.start);
    let edit = |range: Range<usize>| {
        let window = &lines[range];
        let first = window.iter().find(|line| !line.content.trim().is_empty());
        let target = first.map_or("", |line| indentation::of(line.content));
        Edit { range: span(window, old.ends_with('\n')), with: indentation::shift(new, target) }
    };
    taken.into_iter().map(edit).collect()
}

struct FuzzyPattern {
    characters: Vec<char>,
    /// The text without white space.
    dense: Vec<char>,
}

impl FuzzyPattern {
    fn new(old: &str) -> Self {
        let characters: Vec<char> = old.strip_suffix('\n').unwrap_or(old).chars().collect();
        Self { dense: dense(&characters), characters }
    }

    /// The difference of `text`, relative to the length of the pattern. None if it exceeds the tolerance.
    fn difference(&self, text: &str) -> Option<f64> {
        let characters: Vec<char> = text.chars().collect();
        let length = self.characters.len() as f64;
        let limit = TOLERANCE * length;
        let letters = distance(&self.dense, &dense(&characters), limit as usize)?;
        // White space may use the tolerance that the letters leave.
        let most_spaces = (limit - letters as f64) / WHITE_SPACE;
        let all = distance(&self.characters, &characters, letters + most_spaces as usize)?;
        let weighted = letters as f64 + all.saturating_sub(letters) as f64 * WHITE_SPACE;
        (weighted <= limit).then_some(weighted / length)
    }
}

fn dense(characters: &[char]) -> Vec<char> {
    characters.iter().copied().filter(|character| !character.is_whitespace()).collect()
}

/// The edit distance; none if it is greater than `limit`.
fn distance(one: &[char], other: &[char], limit: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > limit {
        return None;
    }
    // Only cells near the diagonal can have a distance of at most `most`.
    let beyond = limit + 1;
    let mut row: Vec<usize> = (0..=other.len()).map(|column| column.min(beyond)).collect();
    for (line, character) in one.iter().enumerate() {
        let from = line.saturating_sub(limit);
        let to = (line + limit + 1).min(other.len());
        let mut diagonal = row[from];
        row[from] = if from == 0 { (line + 1).min(beyond) } else { beyond };
        let mut least = row[from];
        for column in from..to {
            let exchanged = diagonal + usize::from(*character != other[column]);
            diagonal = row[column + 1];
            // The last cell of the row above is outside its band.
            let above = if column == line + limit { beyond } else { diagonal };
            let cell = exchanged.min(above + 1).min(row[column] + 1).min(beyond);
            row[column + 1] = cell;
            least = least.min(cell);
        }
        if least > limit {
            return None;
        }
    }
    Some(row[other.len()]).filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same with the whole table.
    fn whole_distance(one: &[char], other: &[char]) -> usize {
        let mut above: Vec<usize> = (0..=other.len()).collect();
        for (line, character) in one.iter().enumerate() {
            let mut row = vec![line + 1];
            for (column, known) in other.iter().enumerate() {
                let exchanged = above[column] + usize::from(character != known);
                row.push(exchanged.min(above[column + 1] + 1).min(row[column] + 1));
            }
            above = row;
        }
        above[other.len()]
    }

    proptest! {
        #[test]
        fn the_short_way_measures_like_the_long_one(one in "[ab]{0,12}", other in "[ab]{0,12}", limit in 0..14_usize) {
            let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
            let whole = whole_distance(&one, &other);
            prop_assert_eq!(distance(&one, &other, limit), Some(whole).filter(|whole| *whole <= limit));
        }
    }
}
