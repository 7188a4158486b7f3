//! The signatures that the card of an agent must have.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use attache_card::KeySet;
use attache_client::{SignatureCheck, SignaturePolicy};
use attache_config::Environment;
use attache_workspace::{AgentSignaturePolicy, AgentSignatures};
use jiff::Timestamp;

use crate::network::with_home;

/// A set of keys, or a card, is not larger than this.
const MAX_BYTES: u64 = 1 << 20;

/// What the settings say about one agent.
pub fn for_agent(
    signatures: Option<&AgentSignatures>,
    environment: Environment<'_>,
) -> anyhow::Result<SignatureCheck> {
    let Some(signatures) = signatures else { return Ok(SignatureCheck::default()) };
    let policy = match signatures.policy {
        AgentSignaturePolicy::Ignore => SignaturePolicy::Ignore,
        AgentSignaturePolicy::Warn => SignaturePolicy::Warn,
        AgentSignaturePolicy::Require => SignaturePolicy::Require,
    };
    let keys: Vec<PathBuf> = signatures.keys.iter().map(|path| with_home(path, environment)).collect();
    check(policy, &keys)
}

/// The keys in these files count.
pub(crate) fn check(policy: SignaturePolicy, paths: &[PathBuf]) -> anyhow::Result<SignatureCheck> {
    let mut keys = KeySet::default();
    for path in paths {
        let set = KeySet::parse(read(path)?.as_bytes())
            .map_err(|error| anyhow!("cannot use the keys in {}: {error}", path.display()))?;
        keys.extend(set);
    }
    Ok(SignatureCheck { keys, policy, now: Timestamp::now() })
}

/// The text of a small file.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let mut text = String::new();
    File::open(path)
        .with_context(cannot)?
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .with_context(cannot)?;
    if text.len() as u64 > MAX_BYTES {
        bail!("{} is larger than {} MiB", path.display(), MAX_BYTES >> 20);
    }
    Ok(text)
}
