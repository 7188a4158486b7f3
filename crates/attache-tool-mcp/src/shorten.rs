//! Text too long for a model: it gets the beginning, the end, and where the whole is.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

/// Characters that a model gets of one result.
pub(crate) const MAX_CHARACTERS: usize = 40_000;

/// The folder of whole outputs, below the scratch folder.
const FOLDER: &str = "tool-outputs";
/// Output may hold what others should not see.
const OWNER_ONLY: u32 = 0o600;

/// `text` if it has at most `limit` characters, else a fifth of them from its beginning and the rest from its end.
pub(crate) async fn shorten(text: String, limit: usize, scratch: &Path) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text;
    }
    let place = match save(&text, scratch).await {
        Ok(path) => format!("the whole is in {}", path.display()),
        Err(error) => format!("the whole could not be saved: {error}"),
    };
    let head = limit / 5;
    let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    let (beginning, end) = (&text[..at(head)], &text[at(length - (limit - head))..]);
    format!("{beginning}\n[... {} characters are left out here; {place} ...]\n{end}", length - limit)
}

async fn save(text: &str, scratch: &Path) -> io::Result<PathBuf> {
    let folder = scratch.join(FOLDER);
    tokio::fs::create_dir_all(&folder).await?;
    let path = folder.join(format!("mcp_{}.txt", Uuid::now_v7()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path).await?;
    file.write_all(text.as_bytes()).await?;
    file.flush().await?;
    Ok(path)
}

/// The beginning of `text`, for a place that holds `most` bytes.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_text_is_saved_whole_and_cut_in_its_middle() {
        let scratch = tempfile::tempdir().unwrap();
        let text = "0123456789ä".repeat(10);
        let short = shorten(text.clone(), 10, scratch.path()).await;
        assert!(short.starts_with("01\n[... 100 characters are left out"), "{short}");
        assert!(short.ends_with("...]\n3456789ä"), "{short}");
        let saved = std::fs::read_dir(scratch.path().join(FOLDER)).unwrap().next().unwrap().unwrap().path();
        assert!(short.contains(saved.to_str().unwrap()));
        assert_eq!(std::fs::read_to_string(saved).unwrap(), text);
    }

    #[tokio::test]
    async fn short_text_stays_and_what_cannot_be_saved_is_said() {
        assert_eq!(shorten("äöü".into(), 3, Path::new("/dev/null")).await, "äöü");
        let short = shorten("x".repeat(20), 10, Path::new("/dev/null")).await;
        assert!(short.contains("could not be saved"), "{short}");
    }

    #[test]
    fn a_cut_keeps_characters_whole() {
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!(cut("äöü", 5), "äö…");
        assert_eq!(cut("äöü", 0), "…");
    }
}
