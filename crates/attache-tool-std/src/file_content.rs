//! What is in a file, in a form that a model can take in.

use std::io::Read;
use std::path::Path;

use attache_domain::{Base64, Content};
use attache_tool::{ErrorKind, ToolError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::media_type::media_type;
use crate::text_file::{Decoded, decode};
use crate::workspace::Place;

/// Larger files are not read.
pub(crate) const MOST_FILE_BYTES: u64 = 20 * 1024 * 1024;

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
