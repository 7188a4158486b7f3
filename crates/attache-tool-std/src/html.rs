//! Converts HTML to text: headings, lists, links and tables as in Markdown. Scripts, styles and hidden elements are
//! dropped.
//!
//! Makes one pass. Time and memory are linear in the size of the page, at any nesting depth.

mod references;
mod text_writer;
mod tokens;

use attache_net::Url;

use references::decode;
use text_writer::TextWriter;
use tokens::{Token, Tokens, attribute};

/// The text of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageText {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// The page is longer.
    pub(crate) cut: bool,
}

/// The text of a page, up to about `limit` bytes. Relative links are resolved against `base`.
pub(crate) fn page_text(html: &str, base: &Url, limit: usize) -> PageText {
    let mut reader = HtmlReader::new(base, limit);
    for token in Tokens::of(html) {
        reader.take(token);
        if reader.page.is_full() {
            return reader.finish(true);
        }
    }
    reader.finish(false)
}

/// Longer addresses and titles are dropped or cut.
const MAX_ADDRESS: usize = 1_000;
const MAX_TITLE: usize = 300;
/// Deeper lists are indented no further.
const MAX_DEPTH: usize = 8;
/// No known element has a longer name.
const MAX_NAME: usize = 10;

/// Dropped with their content.
const SKIPPED_ELEMENTS: &[&str] =
    &["audio", "canvas", "datalist", "object", "select", "svg", "template", "video"];
/// Elements that often contain hidden text.
const HIDEABLE_ELEMENTS: &[&str] = &["article", "aside", "div", "section", "span"];

struct HtmlReader<'page> {
    page: TextWriter,
    base: &'page Url,
    title: Option<String>,
    /// The raw element around the next text.
    raw: Option<String>,
    /// The skipped element, and its nesting depth.
    skipped: Option<(String, usize)>,
    /// The open lists: the number of the next item, none for unordered lists.
    lists: Vec<Option<u64>>,
    /// Open lists beyond the maximum depth.
    uncounted: usize,
    link: Option<String>,
    cells: usize,
}

impl<'page> HtmlReader<'page> {
    fn new(base: &'page Url, limit: usize) -> Self {
        Self {
            page: TextWriter::new(limit),
            base,
            title: None,
            raw: None,
            skipped: None,
            lists: Vec::new(),
            uncounted: 0,
            link: None,
            cells: 0,
        }
    }

    fn take(&mut self, token: Token<'_>) {
        match token {
            Token::Text(text) => match self.raw.take().as_deref() {
                None if self.skipped.is_none() => self.page.write(&decode(text)),
                Some("title") if self.skipped.is_none() && self.title.is_none() => {
                    let words: Vec<&str> = text.split_whitespace().collect();
                    let title = words.join(" ");
                    let title = decode(&title);
                    let title: String = title.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect();
                    self.title = Some(title).filter(|title| !title.is_empty());
                }
                _ => {}
            },
            Token::Start { name, attributes } => {
                if let Some(name) = lower(name) {
                    self.open(&name, attributes);
                }
            }
            Token::End { name } => {
                self.raw = None;
                if let Some(name) = lower(name) {
                    self.close(&name);
                }
            }
        }
    }

    fn open(&mut self, name: &str, attributes: &str) {
        let closed = attributes.ends_with('/');
        if let Some((skipped, depth)) = &mut self.skipped {
            *depth += usize::from(skipped == name && !closed);
            return;
        }
        let hidden = || HIDEABLE_ELEMENTS.contains(&name) && attribute(attributes, "hidden").is_some();
        if !closed && (SKIPPED_ELEMENTS.contains(&name) || hidden()) {
            self.skipped = Some((name.to_owned(), 1));
            return;
        }
        let page = &mut self.page;
        match name {
            "title" | "script" | "style" | "noscript" | "iframe" | "noembed" | "noframes" | "xmp"
            | "textarea" => {
                self.raw = Some(name.to_owned());
            }
            "br" => page.break_line_again(),
            "hr" => {
                page.break_lines(2);
                page.mark("---");
                page.break_lines(2);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                page.break_lines(2);
                let level = usize::from(name.as_bytes()[1] - b'0');
                page.set_prefix(format!("{} ", "#".repeat(level)));
            }
            "ul" | "ol" | "menu" => self.open_list(name, attributes),
            "li" => self.open_item(),
            "tr" => {
                self.cells = 0;
                page.break_lines(1);
            }
            "td" | "th" => {
                if self.cells > 0 {
                    page.mark(" | ");
                }
                self.cells += 1;
            }
            "pre" => {
                page.break_lines(2);
                page.mark("```\n");
                page.preformatted = true;
            }
            "code" | "kbd" | "samp" if !page.preformatted => page.mark("`"),
            "a" => self.open_link(attributes),
            "img" => {
                if let Some(alt) = attribute(attributes, "alt").filter(|alt| !alt.trim().is_empty()) {
                    page.write(&format!("[image: {}]", decode(alt.trim())));
                }
            }
            _ => self.break_around(name),
        }
    }

    /// Items of a list have no empty lines between them.
    fn break_around(&mut self, name: &str) {
        let limit = if self.lists.is_empty() { 2 } else { 1 };
        self.page.break_lines(breaks_around(name).min(limit));
    }

    fn close(&mut self, name: &str) {
        if let Some((skipped, depth)) = &mut self.skipped {
            if skipped == name {
                *depth -= 1;
                if *depth == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        let page = &mut self.page;
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                page.drop_prefix();
                page.break_lines(2);
            }
            "ul" | "ol" | "menu" => {
                if self.uncounted > 0 {
                    self.uncounted -= 1;
                } else {
                    self.lists.pop();
                }
                page.break_lines(if self.lists.is_empty() { 2 } else { 1 });
            }
            "li" => {
                page.drop_prefix();
                page.break_lines(1);
            }
            "pre" if page.preformatted => {
                page.preformatted = false;
                page.close_mark("\n```");
                page.break_lines(2);
            }
            "code" | "kbd" | "samp" if !page.preformatted => page.close_mark("`"),
            "a" => self.close_link(),
            _ => self.break_around(name),
        }
    }

    fn open_list(&mut self, name: &str, attributes: &str) {
        self.page.break_lines(if self.lists.is_empty() { 2 } else { 1 });
        if self.lists.len() == MAX_DEPTH {
            self.uncounted += 1;
            return;
        }
        let start = attribute(attributes, "start").and_then(|start| start.parse().ok()).unwrap_or(1);
        self.lists.push((name == "ol").then_some(start));
    }

    fn open_item(&mut self) {
        self.page.drop_prefix();
        self.page.break_lines(1);
        let indentation = "  ".repeat(self.lists.len().saturating_sub(1));
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}.", *number - 1)
            }
            _ => "-".to_owned(),
        };
        self.page.set_prefix(format!("{indentation}{mark} "));
    }

    fn open_link(&mut self, attributes: &str) {
        self.close_link();
        let Some(address) = attribute(attributes, "href").map(|href| decode(href.trim())) else { return };
        if address.is_empty() || address.starts_with('#') || address.len() > MAX_ADDRESS {
            return;
        }
        // Drops `javascript:`, `data:` and other URLs that are no addresses.
        let Ok(whole) = self.base.join(&address) else { return };
        if matches!(whole.scheme(), "http" | "https" | "mailto") && whole.as_str().len() <= MAX_ADDRESS * 2 {
            self.page.open_link();
            self.link = Some(whole.into());
        }
    }

    fn close_link(&mut self) {
        if let Some(address) = self.link.take() {
            self.page.close_link(&address);
        }
    }

    fn finish(mut self, cut: bool) -> PageText {
        self.close_link();
        if self.page.preformatted {
            self.page.close_mark("\n```");
        }
        PageText { title: self.title, text: self.page.finish(), cut }
    }
}

/// The number of line ends around an element.
fn breaks_around(name: &str) -> u8 {
    match name {
        "address" | "article" | "aside" | "blockquote" | "details" | "dl" | "fieldset" | "figure"
        | "footer" | "form" | "header" | "main" | "nav" | "p" | "pre" | "section" | "table" => 2,
        "body" | "caption" | "center" | "dd" | "div" | "dt" | "figcaption" | "legend" | "li" | "option"
        | "summary" | "tbody" | "thead" | "tr" => 1,
        _ => 0,
    }
}

/// The name in lower case; none if it is too long for a known element.
fn lower(name: &str) -> Option<String> {
    (name.len() <= MAX_NAME).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests;
