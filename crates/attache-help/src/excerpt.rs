//! The part of a long section that fits a question.

use std::ops::Range;

use crate::section::fence_mark;
use crate::words::words;

/// A paragraph, a block of code, an item of a list or a row of a table.
#[derive(Debug)]
struct Block {
    lines: Range<usize>,
    /// The two lines above the rows of a table.
    header: Option<Range<usize>>,
}

/// The whole text if it is short enough; otherwise the blocks that fit best, in their order, with `…` for what is left out.
pub(crate) fn excerpt(text: &str, question: &[(String, f64)], most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    let content = |block: &Block| lines[block.lines.clone()].join("\n");
    let fits = |block: &Block| -> f64 {
        let words = words(&content(block));
        question.iter().filter(|(word, _)| words.contains(word)).map(|(_, weight)| weight).sum()
    };
    let mut ranked: Vec<(f64, usize)> = blocks.iter().map(fits).zip(0..).collect();
    // The first block says what the section is about, so it wins against blocks that fit no better.
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let (mut chosen, mut length) = (Vec::new(), 0);
    for (_, index) in ranked {
        let size = content(&blocks[index]).len() + 1;
        if length + size <= most {
            length += size;
            chosen.push(index);
        }
    }
    chosen.sort_unstable();
    if chosen.is_empty() {
        let end = text.floor_char_boundary(most);
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
    if chosen.last().is_some_and(|last| last + 1 < blocks.len()) {
        out.push("…");
    }
    out.join("\n").trim_end().to_owned()
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let start = index;
        if lines[index].trim().is_empty() {
            index += 1;
        } else if let Some(mark) = fence_mark(lines[index]) {
            let end = (index + 1..lines.len()).find(|next| fence_mark(lines[*next]) == Some(mark));
            index = end.map_or(lines.len(), |end| end + 1);
            blocks.push(Block { lines: start..index, header: None });
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
    use crate::words::question_words;

    const TEXT: &str = "Servers are found in files.\n\n| key | meaning |\n|---|---|\n| `a` | an apple |\n| `b` | a banana |\n\
                        | `c` | a cherry |\n\nThe end of it all.\n";

    #[test]
    fn a_short_text_stays_whole() {
        assert_eq!(excerpt(TEXT, &question_words("banana"), 1000), TEXT);
    }

    #[test]
    fn a_row_keeps_the_header_of_its_table() {
        let found = excerpt(TEXT, &question_words("banana"), 25);
        assert_eq!(found, "…\n\n| key | meaning |\n|---|---|\n| `b` | a banana |\n…");
        let found = excerpt(TEXT, &question_words("banana cherry"), 45);
        assert_eq!(found, "…\n\n| key | meaning |\n|---|---|\n| `b` | a banana |\n| `c` | a cherry |\n\n…");
    }

    #[test]
    fn a_single_long_block_is_cut_at_a_character() {
        assert_eq!(excerpt(&"é".repeat(100), &[], 11), format!("{}…", "é".repeat(5)));
    }
}
