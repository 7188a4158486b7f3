//! Cuts text that is too long for a model to its beginning and end, and saves the whole text.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// The default number of characters of one text for a model.
pub(crate) const MAX_TEXT: usize = 40_000;

/// The folder of whole texts, below the scratch folder.
const FOLDER: &str = "tool-outputs";
/// The output may contain secrets.
const OWNER_ONLY: u32 = 0o600;

/// Returns `text` if it has at most `limit` characters. Otherwise returns a fifth of them from the beginning and the
/// rest from the end, and saves the whole text in the scratch folder for `read_file`. Blocks on the disk.
pub(crate) fn truncate(text: String, limit: usize, scratch: &Path, tool: &str) -> String {
    // A text has at most as many characters as bytes.
    let length = if text.len() <= limit { 0 } else { text.chars().count() };
    if length <= limit {
        return text;
    }
    let (head, tail) = (limit / 5, limit - limit / 5);
    let start = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    let (head, tail) = (&text[..start(head)], &text[start(length - tail)..]);
    let missing = length - limit;
    let place = match save(&text, scratch, tool) {
        Ok(path) => format!("the whole output is in {}", path.display()),
        Err(error) => format!("the whole output could not be saved: {error}"),
    };
    format!("{head}\n[... {missing} characters are left out here; {place} ...]\n{tail}")
}

fn save(text: &str, scratch: &Path, tool: &str) -> io::Result<PathBuf> {
    let folder = scratch.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}_{}.txt", file_name(tool), Uuid::now_v7()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

/// Tool names also come from MCP servers.
fn file_name(tool: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    tool.chars().map(plain).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_as_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(truncate("äöü".into(), 3, scratch.path(), "t"), "äöü");
        assert!(!scratch.path().join(FOLDER).exists());
    }

    #[test]
    fn long_text_is_saved_whole_and_cut_in_its_middle() {
        let scratch = tempfile::tempdir().unwrap();
        let text: String = "0123456789ä".repeat(10);
        let short = truncate(text.clone(), 10, scratch.path(), "mcp_../a b");
        assert!(short.starts_with("01\n[... 100 characters are left out"), "{short}");
        assert!(short.ends_with("...]\n3456789ä"), "{short}");
        let saved = fs::read_dir(scratch.path().join(FOLDER)).unwrap().next().unwrap().unwrap().path();
        assert!(saved.file_name().unwrap().to_str().unwrap().starts_with("mcp____a_b_"), "{saved:?}");
        assert!(short.contains(saved.to_str().unwrap()));
        assert_eq!(fs::read_to_string(saved).unwrap(), text);
    }

    #[test]
    fn what_cannot_be_saved_is_said() {
        let short = truncate("x".repeat(20), 10, Path::new("/dev/null"), "t");
        assert!(short.contains("could not be saved"), "{short}");
    }
}
