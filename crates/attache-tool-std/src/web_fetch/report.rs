//! Reports the fetched pages to the model.

use attache_domain::Content;
use attache_net::Url;
use attache_tool::{ToolError, ToolErrorKind, ToolOutput};

use super::body::PageBody;
use super::fetch::FetchOutcome;
use super::share::share;
use attache_tool::untrusted;

/// Bytes of images and documents in one result.
const MAX_MEDIA: usize = 20 * 1024 * 1024;

/// All pages with together `budget` characters of text.
pub(super) fn report(
    fetched: Vec<(Url, Result<FetchOutcome, String>)>,
    budget: usize,
) -> Result<ToolOutput, ToolError> {
    let whole = fetched.len();
    let wrong: Vec<String> = fetched
        .iter()
        .filter_map(|(url, outcome)| Some(format!("{url}: {}", outcome.as_ref().err()?)))
        .collect();
    if wrong.len() == whole {
        let message = format!("nothing could be fetched:\n{}", wrong.join("\n"));
        return Err(ToolError::new(ToolErrorKind::WebFetchFallbackFailed, message));
    }
    let needs: Vec<usize> = fetched.iter().map(|(_, outcome)| needed(outcome)).collect();
    let mut report = Report::default();
    for ((url, outcome), share) in fetched.into_iter().zip(share(&needs, budget)) {
        report.add(&url, outcome, share);
    }
    report.end_text();
    let summary = format!("Fetched {} of {whole} URLs", whole - wrong.len());
    Ok(ToolOutput { content: report.content, summary, diff: None, files: Vec::new() })
}

fn needed(outcome: &Result<FetchOutcome, String>) -> usize {
    match outcome {
        Ok(FetchOutcome::Body(PageBody::Text { text, .. })) => text.chars().count(),
        _ => 0,
    }
}

#[derive(Default)]
struct Report {
    content: Vec<Content>,
    text: String,
    media: usize,
}

impl Report {
    fn add(&mut self, url: &Url, outcome: Result<FetchOutcome, String>, share: usize) {
        match outcome {
            Err(why) => self.paragraph(&format!("{url} could not be fetched: {why}")),
            Ok(FetchOutcome::Moved(onward)) => self.paragraph(&format!(
                "{url} leads to another place and was not followed; to go there, fetch {onward}"
            )),
            Ok(FetchOutcome::Failed { status, message }) => {
                self.paragraph(&format!("{url} answered with status {status}:\n{}", untrusted(&message)));
            }
            Ok(FetchOutcome::Body(PageBody::Text { text, cut })) => self.page(url, &text, cut, share),
            Ok(FetchOutcome::Body(PageBody::Media { size, .. })) if self.media + size > MAX_MEDIA => {
                self.paragraph(&format!("{url} was left out: the answer is full; fetch it on its own"));
            }
            Ok(FetchOutcome::Body(PageBody::Media { content, size })) => {
                self.media += size;
                self.paragraph(&format!("{url}:"));
                self.end_text();
                self.content.push(content);
            }
        }
    }

    fn page(&mut self, url: &Url, text: &str, cut: bool, share: usize) {
        if text.trim().is_empty() {
            return self.paragraph(&format!("{url} has no text that could be read without a browser"));
        }
        let end = text.char_indices().nth(share).map(|(end, _)| end);
        let shown = untrusted(&text[..end.unwrap_or(text.len())]);
        let note = match (end, cut) {
            (None, false) => "",
            _ => "\n(the rest of the page was left out: it is too long)",
        };
        self.paragraph(&format!("{url}:\n{shown}{note}"));
    }

    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.content.push(Content::Text(std::mem::take(&mut self.text)));
        }
    }
}
