//! Keeps what an agent said until it asked, in the scratch folder, while a person answers.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::OpenOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::agent_output::AgentOutput;
use crate::own_folder;

/// Below the scratch folder.
const FOLDER: &str = "agent-transcripts";
const OWNER_ONLY: u32 = 0o600;
/// An output as JSON; escapes make it longer than its text.
const MAX_BYTES: u64 = 16 << 20;

/// Replaces what was kept before. A crash leaves one of the two.
pub(crate) async fn keep(output: &AgentOutput, scratch: &Path, call: &str) -> io::Result<()> {
    own_folder::create(scratch, &[FOLDER]).await?;
    let path = path(scratch, call);
    let new = path.with_extension("new");
    let _ = tokio::fs::remove_file(&new).await;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&new).await?;
    file.write_all(&serde_json::to_vec(output)?).await?;
    file.sync_all().await?;
    tokio::fs::rename(&new, &path).await
}

pub(crate) async fn read(scratch: &Path, call: &str) -> io::Result<AgentOutput> {
    let mut bytes = Vec::new();
    let file = tokio::fs::File::open(path(scratch, call)).await?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).await?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn path(scratch: &Path, call: &str) -> PathBuf {
    scratch.join(FOLDER).join(format!("{call}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_output_is_read_as_it_was_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let mut output = AgentOutput::default();
        for question in ["Which?", "Really?"] {
            output.ask(question);
            keep(&output, scratch.path(), "c-1").await.unwrap();
        }
        let read = read(scratch.path(), "c-1").await.unwrap();
        assert_eq!(read.dialog(), output.dialog());
        assert!(super::read(scratch.path(), "c-2").await.is_err());
    }
}
