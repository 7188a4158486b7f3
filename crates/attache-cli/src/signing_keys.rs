//! The keys that sign cards.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, anyhow};
use attache_card::{KeySet, SigningKey};
use attache_config::Settings;
use attache_net::Url;
use jiff::Timestamp;

use crate::report::with_hint;

/// A key is not longer than this.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// The keys of the settings.
pub fn configured(settings: &Settings) -> anyhow::Result<Vec<SigningKey>> {
    settings.card.signing_keys.iter().map(|path| read_key(path)).collect()
}

/// The public halves of the keys.
pub fn public(keys: &[SigningKey]) -> KeySet {
    KeySet::of(keys.iter().map(|key| key.public().clone()))
}

/// Reads a private key. Only its owner may be able to read the file, and the key must be valid now.
pub fn read_key(path: &Path) -> anyhow::Result<SigningKey> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read the key {shown}"))?;
    let mode = file.metadata().with_context(|| format!("cannot read the key {shown}"))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(with_hint(
            anyhow!("others may read the private key {shown} (its mode is {:o})", mode & 0o777),
            format!("chmod 600 {shown}"),
        ));
    }
    let mut text = String::new();
    file.take(MAX_KEY_BYTES)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read the key {shown}"))?;
    let key = SigningKey::read(&text).map_err(|error| {
        with_hint(anyhow!("cannot use the key {shown}: {error}"), "attache keys new --out FILE makes a key")
    })?;
    match key.public().lifetime.refusal(Timestamp::now()) {
        None => Ok(key),
        Some(why) => Err(with_hint(
            anyhow!("cannot sign with the key {shown}: {why}"),
            "make another one with attache keys new, and name it instead",
        )),
    }
}

/// Keys come over https, this machine apart.
pub fn may_be_fetched(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    match url.scheme() {
        "https" => url.has_host(),
        "http" => is_local(&url),
        _ => false,
    }
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
