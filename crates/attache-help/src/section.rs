//! Splits a page at its headings.

use crate::page::Page;

/// The text below one heading, up to the next one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    /// The headings that lead to it, the page's title first.
    pub(crate) headings: Vec<&'a str>,
    pub(crate) text: &'a str,
    /// Words by which people ask for it, from a comment `<!-- keywords: … -->` below the heading.
    pub(crate) keywords: &'a str,
}

/// In the order of the page. Sections without text are left out.
pub(crate) fn split(page: &Page) -> Vec<Section<'_>> {
    let text: &str = &page.text;
    let mut sections = Vec::new();
    let mut path: Vec<(usize, &str)> = Vec::new();
    let (mut start, mut place, mut fence) = (0, 0, None);
    for line in text.split_inclusive('\n') {
        let begin = place;
        place += line.len();
        if let Some(mark) = fence_mark(line) {
            fence = match fence {
                None => Some(mark),
                Some(open) if open == mark => None,
                open => open,
            };
            continue;
        }
        let Some((level, heading)) = heading(line).filter(|_| fence.is_none()) else { continue };
        add(&mut sections, &path, &text[start..begin]);
        path.retain(|(known, _)| *known < level);
        path.push((level, heading));
        start = place;
    }
    add(&mut sections, &path, &text[start..]);
    sections
}

fn add<'a>(sections: &mut Vec<Section<'a>>, path: &[(usize, &'a str)], text: &'a str) {
    let text = text.trim();
    let comment = text.strip_prefix("<!-- keywords:").and_then(|rest| rest.split_once("-->"));
    let (keywords, text) = comment.map_or(("", text), |(keywords, rest)| (keywords.trim(), rest.trim()));
    if !text.is_empty() {
        sections.push(Section {
            headings: path.iter().map(|(_, heading)| *heading).collect(),
            text,
            keywords,
        });
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line.get(level..)?.strip_prefix(' ')?;
    (level > 0).then_some((level, text.trim()))
}

/// The first three characters of a line that begins or ends a block of code.
pub(crate) fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_know_their_headings_and_code_has_none() {
        let text = "# Title\n\n<!-- keywords: a, b -->\n\nIntro.\n\n## One\n```sh\n# a comment\n```\n### Deep\nDown.\n## Empty\n## Two\nEnd.";
        let page = Page { name: "p.md".into(), text: text.into() };
        let sections = split(&page);
        let found: Vec<(String, &str)> =
            sections.iter().map(|section| (section.headings.join("/"), section.text)).collect();
        assert_eq!(sections.iter().map(|section| section.keywords).collect::<Vec<_>>(), ["a, b", "", "", ""]);
        let expected = [
            ("Title", "Intro."),
            ("Title/One", "```sh\n# a comment\n```"),
            ("Title/One/Deep", "Down."),
            ("Title/Two", "End."),
        ];
        assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text)));
    }
}
