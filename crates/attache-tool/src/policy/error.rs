//! The error of a rule file.

/// Names the file, the line and the key, and says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {}{message}", key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default())]
pub struct PolicyError {
    pub file: String,
    /// Counted from one.
    pub line: usize,
    pub key: Option<String>,
    pub message: String,
}
