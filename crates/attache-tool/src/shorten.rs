//! Text that is too long for a model: it gets the beginning, the end, and where the whole is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Characters that a model gets of one result, unless the settings say otherwise.
pub const MAX_OUTPUT_CHARACTERS: usize = 40_000;

/// The folder of whole outputs, below the scratch folder.
const FOLDER: &str = "tool-outputs";
/// Output may hold what others should not see.
const OWNER_ONLY: u32 = 0o600;
/// Characters of a file's name. A tool's name may come from an MCP server.
const MAX_NAME: usize = 120;

/// `text` if it has at most `limit` characters. Otherwise a fifth of them from its beginning and the rest from its end; the
/// whole is saved as `name` below the scratch folder, where `read_file` finds it.
pub async fn shorten(text: String, limit: usize, scratch: &Path, name: String) -> String {
    // A text has at most as many characters as bytes.
    if text.len() <= limit {
        return text;
    }
    let scratch = scratch.to_owned();
    let shortened = tokio::task::spawn_blocking(move || shorten_blocking(text, limit, &scratch, &name));
    shortened.await.unwrap_or_else(|_| "(lost: it could not be shortened)".into())
}

/// The same for a thread that may block on the disk.
pub fn shorten_blocking(text: String, limit: usize, scratch: &Path, name: &str) -> String {
    let length = if text.len() <= limit { 0 } else { text.chars().count() };
    if length <= limit {
        return text;
    }
    let place = match save(&text, scratch, name) {
        Ok(path) => format!("the whole output is in {}", path.display()),
        Err(error) => format!("the whole output could not be saved: {error}"),
    };
    let (head, missing) = (limit / 5, length - limit);
    let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    let (beginning, end) = (&text[..at(head)], &text[at(head + missing)..]);
    format!("{beginning}\n[... {missing} characters are left out here; {place} ...]\n{end}")
}

fn save(text: &str, scratch: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = scratch.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = name.chars().map(plain).take(MAX_NAME).collect();
    let path = folder.join(format!("{name}.txt"));
    // Only a call that runs again after a restart finds its own file there.
    let _ = fs::remove_file(&path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn short_text_stays_as_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(shorten("äöü".into(), 3, scratch.path(), "t".into()).await, "äöü");
        assert!(!scratch.path().join(FOLDER).exists());
    }

    #[tokio::test]
    async fn long_text_is_saved_whole_and_cut_in_its_middle() {
        let scratch = tempfile::tempdir().unwrap();
        let text: String = "0123456789ä".repeat(10);
        let saved = scratch.path().join(FOLDER).join("mcp____a_b_1-2.txt");
        // The second time as after a restart.
        for _ in 0..2 {
            let short = shorten(text.clone(), 10, scratch.path(), "mcp_../a b_1-2".into()).await;
            assert!(short.starts_with("01\n[... 100 characters are left out"), "{short}");
            assert!(short.ends_with("...]\n3456789ä"), "{short}");
            assert!(short.contains(saved.to_str().unwrap()), "{short}");
            assert_eq!(fs::read_to_string(&saved).unwrap(), text);
        }
    }

    #[test]
    fn what_cannot_be_saved_is_said() {
        let short = shorten_blocking("x".repeat(20), 10, Path::new("/dev/null"), "t");
        assert!(short.contains("could not be saved"), "{short}");
    }
}
