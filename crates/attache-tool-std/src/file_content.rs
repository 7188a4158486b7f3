//! What is in a file, in a form that a model can take in.

use std::io::{IoSliceMut, Read};
use std::path::Path;

use attache_domain::{Base64, Content};
use attache_tool::{ErrorKind, ToolError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::io::ReadWriteFlags;

use crate::media_type::media_type;
use crate::text_file::{Decoded, decode};
use crate::workspace::Place;

/// Larger files are not read.
pub(crate) const MOST_FILE_BYTES: u64 = 20 * 1024 * 1024;

/// Larger files are not read on the spot.
const MOST_AT_HAND: usize = 16 * 1024;

pub(crate) enum FileContent {
    Text {
        text: String,
        /// Some characters could not be read and were replaced.
        damaged: bool,
    },
    /// An image, a document, a sound or a film.
    Media(Content),
    Binary {
        size: usize,
    },
}

/// All bytes of a file, if it is not too large.
pub(crate) fn read_bytes(place: &Place) -> Result<Vec<u8>, ToolError> {
    let file = place.open_file()?;
    let mut bytes = Vec::new();
    // The size is found by reading: a file may grow, and some have none that can be asked for.
    let read = file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes);
    let path = place.path();
    read.map_err(|error| {
        let message = format!("{} could not be read: {error}", path.display());
        ToolError::new(ErrorKind::ReadContentFailure, message)
    })?;
    if bytes.len() as u64 > MOST_FILE_BYTES {
        let message = format!(
            "{} is larger than {} MB, which is the most that can be read; look for parts of it with grep_search",
            path.display(),
            MOST_FILE_BYTES / (1024 * 1024)
        );
        return Err(ToolError::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// A small file that is in memory already: read before another thread could begin. None when it would have to be waited
/// for, and when anything is the matter with it.
pub(crate) fn bytes_at_hand(place: &Place) -> Option<Vec<u8>> {
    let file = place.open_file().ok()?;
    let mut bytes = vec![0; MOST_AT_HAND];
    let mut length = 0;
    loop {
        let buffer = &mut [IoSliceMut::new(&mut bytes[length..])];
        let more = rustix::io::preadv2(&file, buffer, length as u64, ReadWriteFlags::NOWAIT).ok()?;
        length += more;
        match more {
            0 => break,
            _ if length == MOST_AT_HAND => return None,
            _ => {}
        }
    }
    bytes.truncate(length);
    bytes.shrink_to_fit();
    Some(bytes)
}

pub(crate) fn content_of(path: &Path, bytes: Vec<u8>) -> FileContent {
    if let Some(media_type) = media_type(path, &bytes) {
        return FileContent::Media(Content::Bytes {
            media_type: media_type.to_owned(),
            bytes: Base64(STANDARD.encode(&bytes)),
            name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        });
    }
    let size = bytes.len();
    match decode(bytes) {
        Decoded::Text(text) => FileContent::Text { text, damaged: false },
        Decoded::Damaged(text) => FileContent::Text { text, damaged: true },
        Decoded::Binary => FileContent::Binary { size },
    }
}
