//! The content of a file in a form for models.

use std::io::{IoSliceMut, Read};
use std::path::Path;

use attache_domain::{Base64, Content};
use attache_tool::{ToolError, ToolErrorKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::io::ReadWriteFlags;

use crate::media_type::media_type;
use crate::text_file::{DecodedText, decode};
use crate::workspace::WorkspacePath;

/// Larger files are not read.
pub(crate) const MAX_FILE_BYTES: u64 = 20 * 1024 * 1024;

/// Larger files are read on another thread.
const MAX_INLINE_BYTES: usize = 16 * 1024;

pub(crate) enum FileContent {
    Text {
        text: String,
        /// Some characters were invalid and are replaced.
        damaged: bool,
    },
    /// An image, a document, audio or video.
    Media(Content),
    Binary {
        size: usize,
    },
}

/// The bytes of a file that is not too large.
pub(crate) fn read_bytes(place: &WorkspacePath) -> Result<Vec<u8>, ToolError> {
    let file = place.open_file()?;
    let mut bytes = Vec::new();
    // Checks the size while reading: a file may grow, and special files report no size.
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    let path = place.path();
    read.map_err(|error| {
        let message = format!("{} could not be read: {error}", path.display());
        ToolError::new(ToolErrorKind::ReadContentFailure, message)
    })?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!(
            "{} is larger than {} MB, which is the most that can be read; look for parts of it with grep_search",
            path.display(),
            MAX_FILE_BYTES / (1024 * 1024)
        );
        return Err(ToolError::new(ToolErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads a small file that is in the page cache, which takes less time than another thread. None if the read would
/// block or fails.
pub(crate) fn small_file_bytes(place: &WorkspacePath) -> Option<Vec<u8>> {
    let file = place.open_file().ok()?;
    let mut bytes = vec![0; MAX_INLINE_BYTES];
    let mut length = 0;
    loop {
        let buffer = &mut [IoSliceMut::new(&mut bytes[length..])];
        let more = rustix::io::preadv2(&file, buffer, length as u64, ReadWriteFlags::NOWAIT).ok()?;
        length += more;
        match more {
            0 => break,
            _ if length == MAX_INLINE_BYTES => return None,
            _ => {}
        }
    }
    bytes.truncate(length);
    bytes.shrink_to_fit();
    Some(bytes)
}

pub(crate) fn classify(path: &Path, bytes: Vec<u8>) -> FileContent {
    if let Some(media_type) = media_type(path, &bytes) {
        return FileContent::Media(Content::Bytes {
            media_type: media_type.to_owned(),
            bytes: Base64(STANDARD.encode(&bytes)),
            name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        });
    }
    let size = bytes.len();
    match decode(bytes) {
        DecodedText::Text(text) => FileContent::Text { text, damaged: false },
        DecodedText::Damaged(text) => FileContent::Text { text, damaged: true },
        DecodedText::Binary => FileContent::Binary { size },
    }
}
