//! Reads untrusted files: with a size limit, no pipes or devices, and not through links that lead out of the required
//! folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::file_stamps;

/// The bytes, and whether the file has more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CappedBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: bool,
}

/// At most `limit` bytes of the file; `None` if it is missing. With `beneath`, a real path outside that folder is an
/// error.
pub(crate) fn read(path: &Path, limit: u64, beneath: Option<&Path>) -> io::Result<Option<CappedBytes>> {
    let file = match open(path, beneath) {
        Ok(file) => file,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    (&file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let cut = bytes.len() > limit;
    bytes.truncate(limit);
    Ok(Some(CappedBytes { bytes, cut }))
}

/// The whole file as text. More than `limit` bytes or invalid UTF-8 is an error.
pub(crate) fn read_text(path: &Path, limit: u64, beneath: Option<&Path>) -> io::Result<Option<String>> {
    let Some(CappedBytes { bytes, cut }) = read(path, limit, beneath)? else { return Ok(None) };
    if cut {
        return Err(io::Error::other(format!("it is longer than {limit} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))?;
    Ok(Some(text.strip_prefix('\u{FEFF}').map_or(text.clone(), str::to_owned)))
}

fn open(path: &Path, beneath: Option<&Path>) -> io::Result<File> {
    file_stamps::content(path);
    let path = fs::canonicalize(path)?;
    let stays = |place: &Path| beneath.is_none_or(|root| place.starts_with(root));
    if !stays(&path) {
        return Err(escapes_root(beneath));
    }
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(&path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    // Asks the kernel for the path of the open file: a folder may have been replaced with a link in between.
    if beneath.is_some() && !stays(&name_of(&file)?) {
        return Err(escapes_root(beneath));
    }
    Ok(file)
}

/// The real path, from the kernel: one call instead of one for each folder on the way.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    match named(path, OFlags::PATH) {
        // Without /proc, the path is resolved step by step.
        Err(error) if !is_absence(&error) => fs::canonicalize(path),
        found => found,
    }
}

/// The same for a folder that can be listed; `None` for anything else.
pub(crate) fn real_folder(path: &Path) -> Option<PathBuf> {
    named(path, OFlags::RDONLY | OFlags::DIRECTORY).ok()
}

fn named(path: &Path, flags: OFlags) -> io::Result<PathBuf> {
    let handle = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?;
    let real = name_of(&handle).map_err(io::Error::other)?;
    if real.is_absolute() { Ok(real) } else { Err(io::Error::other("it has no name here")) }
}

/// The kernel's path of an open file.
fn name_of(handle: &impl AsFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd()))
}

fn escapes_root(root: Option<&Path>) -> io::Error {
    io::Error::other(format!("it leads out of {}", root.unwrap_or(Path::new("")).display()))
}

pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_are_read_and_only_so_far() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "12345").unwrap();
        assert_eq!(
            read(&at("a"), 5, None).unwrap().unwrap(),
            CappedBytes { bytes: b"12345".into(), cut: false }
        );
        assert_eq!(
            read(&at("a"), 4, None).unwrap().unwrap(),
            CappedBytes { bytes: b"1234".into(), cut: true }
        );
        assert!(read_text(&at("a"), 4, None).unwrap_err().to_string().contains("longer than 4"));
        assert_eq!(read(&at("missing"), 4, None).unwrap(), None);
        assert_eq!(read(&at("a/below"), 4, None).unwrap(), None);
        assert!(read(folder.path(), 4, None).is_err(), "a folder");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(read(&at("pipe"), 4, None).is_err(), "a pipe would be waited for");
        fs::write(at("bytes"), [0xff, 0xfe]).unwrap();
        assert!(read_text(&at("bytes"), 4, None).unwrap_err().to_string().contains("UTF-8"));
        fs::write(at("marked"), "\u{FEFF}x").unwrap();
        assert_eq!(read_text(&at("marked"), 9, None).unwrap().unwrap(), "x");
    }

    #[test]
    fn a_link_may_stay_inside_but_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("inside"), "x").unwrap();
        fs::write(root.with_file_name("outside"), "secret").unwrap();
        std::os::unix::fs::symlink("inside", root.join("good")).unwrap();
        std::os::unix::fs::symlink("../outside", root.join("bad")).unwrap();
        assert!(read(&root.join("good"), 9, Some(&root)).unwrap().is_some());
        let error = read(&root.join("bad"), 9, Some(&root)).unwrap_err();
        assert!(error.to_string().contains("leads out of"), "{error}");
        assert!(read(&root.join("bad"), 9, None).unwrap().is_some());
    }
}
