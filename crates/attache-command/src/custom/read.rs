//! Reads an untrusted file: a regular file, of bounded size, inside its folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Bytes of one file. A prompt of this size would fill a model's window by itself.
const MAX_BYTES: usize = 256 * 1024;

/// The text of the file at `place`, a path without links, which lies inside `within`.
pub(crate) fn read(place: &Path, within: &Path) -> io::Result<String> {
    // A pipe is not waited for, and a link that has taken the file's place in the meantime is not followed.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(place)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file; put the file itself there"));
    }
    // A folder above may have become a link in the meantime: the kernel knows what was opened.
    let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    if !opened.starts_with(within) {
        return Err(io::Error::other("it was moved while it was read; try again"));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).map_or(u64::MAX, |most| most + 1);
    (&file).take(most).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes; make it shorter")));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| io::Error::other("it is not UTF-8 text; save it as UTF-8"))?;
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}
