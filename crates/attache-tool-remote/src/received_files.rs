//! Saves the files that an agent sent, where they can neither replace nor leave anything.
//!
//! Each call has a folder of its own below the conversation's scratch folder. The names are ours as far as the agent's are
//! not plain.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;

use crate::agent_output::ReceivedFile;
use crate::own_folder;

/// Below the scratch folder.
const FOLDER: &str = "agent-files";
/// Bytes of a name; longer ones lose their middle.
const MAX_NAME: usize = 80;
/// Files of one call with the same name.
const MAX_SAME_NAME: u32 = 100;
/// Files may hold what others should not see.
const OWNER_ONLY: u32 = 0o600;

/// A line about each file for the model: where it is now, or why it is not.
pub(crate) async fn save<'f>(
    files: impl Iterator<Item = &'f ReceivedFile>,
    scratch: &Path,
    call: &str,
) -> Vec<String> {
    let mut lines = Vec::new();
    for file in files {
        let name = safe_name(file.name.as_deref().unwrap_or_default());
        lines.push(match save_one(file, scratch, call, &name).await {
            Ok((path, size)) => format!("{name}: saved as {} ({size} bytes)", path.display()),
            Err(why) => format!("{name}: could not be saved: {why}"),
        });
    }
    lines
}

async fn save_one(
    file: &ReceivedFile,
    scratch: &Path,
    call: &str,
    name: &str,
) -> Result<(PathBuf, usize), String> {
    let text = file.bytes.0.trim_end_matches('=');
    let decoded = STANDARD.decode(&file.bytes.0).or_else(|_| STANDARD_NO_PAD.decode(text));
    let bytes = decoded.map_err(|_| "it is not base64".to_owned())?;
    let written = async {
        let folder = own_folder::create(scratch, &[FOLDER, call]).await?;
        write_new(&bytes, &folder, name).await
    };
    Ok((written.await.map_err(|error| error.to_string())?, bytes.len()))
}

/// Writes beside what is there. The same content under the same name is one file: after a restart it may come again.
async fn write_new(bytes: &[u8], folder: &Path, name: &str) -> io::Result<PathBuf> {
    for number in 0..MAX_SAME_NAME {
        let path = folder.join(numbered(name, number));
        match OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path).await {
            Ok(mut file) => {
                file.write_all(bytes).await?;
                file.flush().await?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let same = tokio::fs::symlink_metadata(&path).await.is_ok_and(|it| it.is_file())
                    && tokio::fs::read(&path).await.is_ok_and(|known| known == bytes);
                if same {
                    return Ok(path);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many files have this name"))
}

fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (0, _) => name.to_owned(),
        (_, Some((stem, extension))) if !stem.is_empty() => format!("{stem}-{number}.{extension}"),
        _ => format!("{name}-{number}"),
    }
}

/// The last part of the name in plain characters, without a dot in front.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let plain: String = last.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let plain = plain.trim_start_matches(['.', '-']);
    if plain.trim_matches(['_', '.']).is_empty() {
        return "file".to_owned();
    }
    if plain.len() <= MAX_NAME {
        return plain.to_owned();
    }
    format!("{}_{}", &plain[..MAX_NAME / 2], &plain[plain.len() - (MAX_NAME / 2 - 1)..])
}

#[cfg(test)]
mod tests {
    use attache_client::Base64;

    use super::*;

    fn file(name: &str, text: &str) -> ReceivedFile {
        let bytes = Base64(STANDARD.encode(text));
        ReceivedFile { name: Some(name.to_owned()), media_type: None, bytes }
    }

    #[test]
    fn a_name_is_plain_and_leads_nowhere() {
        for (given, expected) in [
            ("notes.md", "notes.md"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("..", "file"),
            ("/", "file"),
            ("", "file"),
            (".bashrc", "bashrc"),
            ("--help", "help"),
            ("a b\n\u{202e}c.txt", "a_b__c.txt"),
            ("é", "file"),
        ] {
            assert_eq!(safe_name(given), expected, "{given:?}");
        }
        let long = safe_name(&format!("{}.tar.gz", "x".repeat(500)));
        assert!(long.len() <= MAX_NAME && long.ends_with(".tar.gz"), "{long}");
    }

    #[tokio::test]
    async fn a_file_replaces_none_and_follows_no_link() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join(FOLDER).join("call");
        std::fs::create_dir_all(&folder).unwrap();
        let outside = scratch.path().join("outside");
        std::fs::write(&outside, "one").unwrap();
        std::os::unix::fs::symlink(&outside, folder.join("a.txt")).unwrap();
        let files = [file("a.txt", "one"), file("x/a.txt", "two"), file("a.txt", "one")];
        let lines = save(files.iter(), scratch.path(), "call").await;
        let saved = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!((saved("a-1.txt").as_str(), saved("a-2.txt").as_str()), ("one", "two"), "{lines:?}");
        assert!(lines[2].contains("a-1.txt (3 bytes)"), "what is there is not saved again: {lines:?}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "one");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[tokio::test]
    async fn nothing_is_saved_where_a_link_leads() {
        let (scratch, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), scratch.path().join(FOLDER)).unwrap();
        let lines = save([file("a.txt", "one")].iter(), scratch.path(), "call").await;
        assert!(lines[0].starts_with("a.txt: could not be saved: "), "{lines:?}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_is_not_base64_is_told() {
        let scratch = tempfile::tempdir().unwrap();
        let wrong = ReceivedFile { name: None, media_type: None, bytes: Base64("***".into()) };
        let lines = save([&wrong].into_iter(), scratch.path(), "call").await;
        assert_eq!(lines, ["file: could not be saved: it is not base64"]);
    }
}
