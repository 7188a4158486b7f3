//! The part of a long section that fits a question.

use std::ops::Range;

use crate::section::fence_mark;

/// Longer code is quoted line by line.
const MAX_CODE_LINES: usize = 16;

/// A paragraph, a block of code, an item of a list, a row of a table or a line of long code.
#[derive(Debug)]
struct Block {
    lines: Range<usize>,
    /// The two lines above the rows of a table; the line that begins long code.
    header: Option<Range<usize>>,
}

/// A block that fits much worse than the best one is left out of an excerpt.
const MIN_SHARE: f64 = 0.25;

/// Ends the code of which lines were quoted.
fn close_code<'a>(lines: &[&'a str], header: Option<&Range<usize>>, out: &mut Vec<&'a str>) {
    let mark = header.and_then(|header| fence_mark(lines[header.start]));
    if let Some(mark) = mark {
        if out.last() == Some(&"") {
            out.pop();
        }
        out.extend([mark, ""]);
    }
}

/// The contents of the blocks of a text, in their order, each with the header of its table.
pub(crate) fn blocks(text: &str) -> impl Iterator<Item = (String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let join = move |range: Range<usize>| lines[range].join("\n");
    split(&text.lines().collect::<Vec<_>>())
        .into_iter()
        .map(move |block| (join(block.lines), block.header.map(&join).unwrap_or_default()))
}

/// The whole text if it is short enough; otherwise the blocks with the best scores, in their order, with `…` for what is
/// left out.
pub(crate) fn excerpt(text: &str, scores: &[f64], limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let blocks = split(&lines);
    let mut ranked: Vec<(f64, usize)> = scores.iter().copied().zip(0..blocks.len()).collect();
    // The first block says what the section is about, so it wins against blocks that fit no better.
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let min_score = ranked.first().map_or(0.0, |(best, _)| best * MIN_SHARE);
    let (mut chosen, mut length) = (Vec::new(), 0);
    for (_, index) in ranked.into_iter().filter(|(score, _)| *score >= min_score) {
        let block = &blocks[index];
        let size: usize = lines[block.lines.clone()].iter().map(|line| line.len() + 1).sum();
        if length + size <= limit {
            length += size;
            chosen.push(index);
        }
    }
    chosen.sort_unstable();
    if chosen.is_empty() {
        let end = text.floor_char_boundary(limit);
        return format!("{}…", &text[..end]);
    }
    join(&lines, &blocks, &chosen)
}

fn join(lines: &[&str], blocks: &[Block], chosen: &[usize]) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut header_shown: Option<Range<usize>> = None;
    let mut before: Option<usize> = None;
    for index in chosen {
        let block = &blocks[*index];
        let is_next = before.map_or(*index == 0, |before| before + 1 == *index);
        let same_table = block.header.is_some() && block.header == header_shown;
        if !same_table {
            close_code(lines, header_shown.as_ref(), &mut out);
        }
        if !is_next && !same_table {
            out.push("…\n");
        }
        if let Some(header) = &block.header
            && header_shown.as_ref() != Some(header)
        {
            out.extend(&lines[header.clone()]);
        }
        header_shown.clone_from(&block.header);
        out.extend(&lines[block.lines.clone()]);
        if block.header.is_none() || blocks.get(index + 1).is_none_or(|next| next.header != block.header) {
            out.push("");
        }
        before = Some(*index);
    }
    close_code(lines, header_shown.as_ref(), &mut out);
    if chosen.last().is_some_and(|last| last + 1 < blocks.len()) {
        out.push("…");
    }
    out.join("\n").trim_end().to_owned()
}

fn split(lines: &[&str]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let start = index;
        if lines[index].trim().is_empty() {
            index += 1;
        } else if let Some(mark) = fence_mark(lines[index]) {
            let end = (index + 1..lines.len()).find(|next| fence_mark(lines[*next]) == Some(mark));
            index = end.map_or(lines.len(), |end| end + 1);
            if index - start > MAX_CODE_LINES {
                let code = (start + 1..index - 1).filter(|line| !lines[*line].trim().is_empty());
                blocks
                    .extend(code.map(|line| Block { lines: line..line + 1, header: Some(start..start + 1) }));
            } else {
                blocks.push(Block { lines: start..index, header: None });
            }
        } else if is_row(lines[index]) {
            index = (index..lines.len()).find(|next| !is_row(lines[*next])).unwrap_or(lines.len());
            let has_header = lines.get(start + 1).is_some_and(|line| line.contains("---"));
            let first = if has_header { (start + 2).min(index) } else { start };
            let header = has_header.then_some(start..first);
            blocks.extend((first..index).map(|row| Block { lines: row..row + 1, header: header.clone() }));
        } else {
            index += 1;
            let goes_on = |line: &str| {
                !line.trim().is_empty() && fence_mark(line).is_none() && !is_row(line) && !is_item(line)
            };
            while index < lines.len() && goes_on(lines[index]) {
                index += 1;
            }
            blocks.push(Block { lines: start..index, header: None });
        }
    }
    blocks
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ") || line.starts_with("* ") || (digits > 0 && line[digits..].starts_with(". "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Servers are found in files.\n\n| key | meaning |\n|---|---|\n| `a` | an apple |\n| `b` | a banana |\n\
                        | `c` | a cherry |\n\nThe end of it all.\n";

    /// The score of a block is the number of these words in it.
    fn check(words: &[&str], limit: usize, expected: &str) {
        let score = |(block, _): (String, String)| {
            words.iter().filter(|word| block.contains(**word)).map(|_| 1.0).sum()
        };
        let scores: Vec<f64> = blocks(TEXT).map(score).collect();
        assert_eq!(excerpt(TEXT, &scores, limit), expected);
    }

    #[test]
    fn a_short_text_stays_whole() {
        check(&["banana"], 1000, TEXT);
    }

    #[test]
    fn a_row_keeps_the_header_of_its_table() {
        check(&["banana"], 100, "…\n\n| key | meaning |\n|---|---|\n| `b` | a banana |\n…");
        let both = "…\n\n| key | meaning |\n|---|---|\n| `b` | a banana |\n| `c` | a cherry |\n\n…";
        check(&["banana", "cherry"], 100, both);
    }

    #[test]
    fn long_code_is_quoted_by_lines_and_stays_code() {
        let code: String = (0..20).map(|number| format!("key{number:02} = {number}\n")).collect();
        let text = format!("A file:\n\n```toml\n{code}```\n\nThe end.");
        let score = |(block, _): (String, String)| {
            f64::from(u8::from(block.contains("key07") || block == "The end."))
        };
        let scores: Vec<f64> = blocks(&text).map(score).collect();
        assert_eq!(excerpt(&text, &scores, 200), "…\n\n```toml\nkey07 = 7\n```\n\n…\n\nThe end.");
    }

    #[test]
    fn a_single_long_block_is_cut_at_a_character() {
        assert_eq!(excerpt(&"é".repeat(100), &[0.0], 11), format!("{}…", "é".repeat(5)));
    }
}
