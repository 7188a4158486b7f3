//! Output too long for a model: it gets the beginning, the end, and where the whole is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// The folder of whole outputs, below the scratch folder.
const FOLDER: &str = "tool-outputs";
/// Output may hold what others should not see.
const OWNER_ONLY: u32 = 0o600;

/// `text` if it has at most `limit` characters, else a fifth of them from its beginning and the rest from its end.
pub(super) fn shorten(text: String, limit: usize, scratch: &Path) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text;
    }
    let (head, tail) = (limit / 5, limit - limit / 5);
    let start = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    let (head, tail) = (&text[..start(head)], &text[start(length - tail)..]);
    let missing = length - limit;
    let place = match save(&text, scratch) {
        Ok(path) => format!("the whole output is in {}", path.display()),
        Err(error) => format!("the whole output could not be saved: {error}"),
    };
    format!("{head}\n[... {missing} characters are left out here; {place} ...]\n{tail}")
}

fn save(text: &str, scratch: &Path) -> io::Result<PathBuf> {
    let folder = scratch.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("run_shell_command_{}.txt", Uuid::now_v7()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_as_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(shorten("äöü".into(), 3, scratch.path()), "äöü");
        assert!(!scratch.path().join(FOLDER).exists());
    }

    #[test]
    fn long_text_is_saved_whole_and_cut_in_its_middle() {
        let scratch = tempfile::tempdir().unwrap();
        let text: String = "0123456789ä".repeat(10);
        let short = shorten(text.clone(), 10, scratch.path());
        assert!(short.starts_with("01\n[... 100 characters are left out"), "{short}");
        assert!(short.ends_with("...]\n3456789ä"), "{short}");
        let saved = fs::read_dir(scratch.path().join(FOLDER)).unwrap().next().unwrap().unwrap().path();
        assert!(short.contains(saved.to_str().unwrap()));
        assert_eq!(fs::read_to_string(saved).unwrap(), text);
    }

    #[test]
    fn what_cannot_be_saved_is_said() {
        let short = shorten("x".repeat(20), 10, Path::new("/dev/null"));
        assert!(short.contains("could not be saved"), "{short}");
    }
}
