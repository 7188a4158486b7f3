//! Expands imports: `@./other.md` in a context file stands for the content of the other file.

use std::path::{Path, PathBuf};

use super::budget::Budget;
use crate::file_stamps;

const MAX_LEVELS: usize = 5;
const MAX_PATH_BYTES: usize = 1024;

/// A file whose imports are expanded, and the files that led to it.
pub(super) struct Import<'a> {
    root: &'a Path,
    chain: Vec<PathBuf>,
}

impl<'a> Import<'a> {
    pub(super) fn new(root: &'a Path, file: &Path) -> Self {
        Self { root, chain: vec![file.to_owned()] }
    }

    /// Replaces imports by the files' content. An import that fails leaves a comment with the reason.
    pub(super) fn expand(&mut self, text: &str, budget: &mut Budget) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut fence: Option<&str> = None;
        for line in text.split_inclusive('\n') {
            let marker = fence_of(line);
            match (fence, marker) {
                (None, Some(marker)) => fence = Some(marker),
                (Some(open), Some(marker)) if marker.starts_with(open) => fence = None,
                (None, None) => {
                    self.line(line, budget, &mut whole);
                    continue;
                }
                _ => {}
            }
            whole.push_str(line);
        }
        whole
    }

    fn line(&mut self, line: &str, budget: &mut Budget, whole: &mut String) {
        let mut rest = line;
        let mut after_blank = true;
        while let Some(letter) = rest.chars().next() {
            let taken = match letter {
                '`' => code_span(rest),
                '@' if after_blank => match reference(rest) {
                    Some(path) => {
                        whole.push_str(&self.imported(path, budget));
                        rest = &rest[1 + path.len()..];
                        after_blank = false;
                        continue;
                    }
                    None => 1,
                },
                letter => letter.len_utf8(),
            };
            whole.push_str(&rest[..taken]);
            rest = &rest[taken..];
            after_blank = letter.is_whitespace() || letter == '(';
        }
    }

    fn imported(&mut self, path: &str, budget: &mut Budget) -> String {
        let shown = path.replace("--", "- -");
        match self.content(path, budget) {
            Ok(text) => {
                let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
                format!("<!-- from {shown} -->\n{text}{end}<!-- end of {shown} -->")
            }
            Err(why) => format!("<!-- {shown} is left out: {why} -->"),
        }
    }

    fn content(&mut self, path: &str, budget: &mut Budget) -> Result<String, String> {
        let folder = self.chain.last().and_then(|file| file.parent()).unwrap_or(self.root);
        let path = folder.join(path);
        file_stamps::content(&path);
        let real = path.canonicalize().map_err(|_| "there is no such file")?;
        if !real.starts_with(self.root) {
            return Err("it is outside of the project".to_owned());
        }
        if self.chain.contains(&real) {
            return Err("it would contain itself".to_owned());
        }
        if self.chain.len() > MAX_LEVELS {
            return Err(format!("imports go at most {MAX_LEVELS} levels deep"));
        }
        let text = budget.take(&real, self.root)?;
        self.chain.push(real);
        let text = self.expand(&text, budget);
        self.chain.pop();
        Ok(text)
    }
}

/// The marks that open or close a block of code.
fn fence_of(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(' ');
    if line.len() - bare.len() > 3 {
        return None;
    }
    let mark = bare.chars().next().filter(|mark| "`~".contains(*mark))?;
    let length = bare.len() - bare.trim_start_matches(mark).len();
    // A closing fence may be longer than the opening one, so only the opening length is compared.
    (length >= 3 && !(mark == '`' && bare[length..].contains('`'))).then(|| &bare[..length])
}

/// The length of the code span that begins here. Backticks without a counterpart are plain text.
fn code_span(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches('`').len();
    let mut at = marks;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == marks {
            return start + length;
        }
        at = start + length;
    }
    marks
}

/// The path after an `@`, without the punctuation of the sentence.
fn reference(text: &str) -> Option<&str> {
    let word = text[1..].split(char::is_whitespace).next()?;
    let path = word.trim_end_matches([',', ';', ':', ')', '!', '?', '"', '\'', '.']);
    let rooted = ["./", "../", "/"].iter().any(|start| path.starts_with(start) && path.len() > start.len());
    (rooted && path.len() <= MAX_PATH_BYTES).then_some(path)
}
