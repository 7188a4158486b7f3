//! The bearer token that callers must present, and where it may come from.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::ConfigError;
use crate::environment::Environment;

const VARIABLE: &str = "ATTACHE_TOKEN";
pub(crate) const FILE_VARIABLE: &str = "ATTACHE_TOKEN_FILE";

/// Shorter ones can be guessed.
const MIN_BYTES: usize = 16;

/// The mode bits that let others read or write.
const OTHERS_BITS: u32 = 0o066;

/// The file that the environment names. A variable that is set and empty is an error.
pub(crate) fn file_in(environment: Environment<'_>) -> Result<Option<PathBuf>, ConfigError> {
    match environment(FILE_VARIABLE) {
        Some(path) if path.is_empty() => Err(ConfigError::EmptyToken { origin: FILE_VARIABLE.into() }),
        path => Ok(path.map(PathBuf::from)),
    }
}

/// The token in `file`, or else in the environment. An empty one is an error, never "no token".
pub(crate) fn read(file: Option<&Path>, environment: Environment<'_>) -> Result<Option<String>, ConfigError> {
    let (value, origin) = match (file, environment(VARIABLE)) {
        (Some(path), _) => (read_file(path)?, format!("the token in {}", path.display())),
        (None, Some(value)) => (value, VARIABLE.to_owned()),
        (None, None) => return Ok(None),
    };
    let value = value.trim();
    if value.is_empty() {
        return Err(ConfigError::EmptyToken { origin });
    }
    // Never contains the value, even if it is invalid: it is a secret.
    match reason_to_refuse(value) {
        Some(expected) => Err(ConfigError::BadValue { origin, value: "(hidden)".into(), expected }),
        None => Ok(Some(value.to_owned())),
    }
}

/// The requirement for a token.
pub(crate) fn reason_to_refuse(token: &str) -> Option<String> {
    let is_good = token.len() >= MIN_BYTES && token.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_good).then(|| format!("at least {MIN_BYTES} printable characters without blanks"))
}

/// The text of a file that only its owner can access.
pub(crate) fn read_file(path: &Path) -> Result<String, ConfigError> {
    let unreadable =
        |source: io::Error| ConfigError::Unreadable { what: "token file", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(unreadable)?;
    // The mode of the opened file, so that it cannot be replaced in between.
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & OTHERS_BITS != 0 {
        return Err(ConfigError::ReadableToken { path: path.to_owned() });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}
