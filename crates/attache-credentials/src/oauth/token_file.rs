//! The file of tokens, in the layout of Gemini CLI: a list of entries, each with the agent's name.
//!
//! An entry belongs to one agent at one origin and to one client. Gemini CLI writes no origin: such an entry counts only for
//! the user's own agents, and gets the origin of the first that uses it.
//!
//! Writers take turns by a lock file and replace the file as a whole; a reader sees the old file or the new one. Entries and
//! members that are not known here are kept.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use attache_net::Secret;
use serde_json::{Value, json};

use super::token_set::TokenSet;
use crate::CredentialError;

/// Where tokens are kept between runs. Readable by the user only.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

/// Whose token it is: an entry of another server or another client does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenKey {
    pub(super) agent: String,
    /// None until it is known: a card that only known callers get may say it.
    pub(super) token_url: Option<String>,
    pub(super) client_id: String,
    pub(super) agent_origin: Option<String>,
    /// An entry without an origin counts, if the address of its token is known and the same.
    pub(super) takes_unnamed: bool,
}

/// An entry that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredToken {
    pub(super) tokens: TokenSet,
    /// The address that gave it.
    pub(super) token_url: String,
    /// The entry does not say which agent it is for.
    pub(super) is_unnamed: bool,
}

/// More than all tokens of a person.
const MAX_BYTES: u64 = 4 << 20;
/// A process that refreshes a token holds the lock for as long as the server takes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// Milliseconds since 1970 that are taken for a time.
const MAX_TIME: u64 = 1_000_000_000_000_000;
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

impl TokenFile {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn read(&self, key: &TokenKey) -> Result<Option<StoredToken>, CredentialError> {
        Ok(find(key, &self.entries()?))
    }

    /// The same in the text of a file.
    #[cfg(feature = "fuzz")]
    pub(super) fn read_text(key: &TokenKey, text: &str) -> Result<Option<StoredToken>, serde_json::Error> {
        Ok(find(key, &serde_json::from_str::<Vec<Value>>(text)?))
    }

    /// Removes the tokens of the agent at this origin, and with `unnamed` those whose origin is not known; false if there were
    /// none.
    pub async fn remove(
        &self,
        agent: &str,
        origin: Option<&str>,
        unnamed: bool,
    ) -> Result<bool, CredentialError> {
        let is_meant = |entry: &Value| {
            let of = &entry["agentOrigin"];
            entry["serverName"] == agent
                && ((of.is_null() && unnamed) || (of.as_str().is_some() && of.as_str() == origin))
        };
        if !self.entries()?.iter().any(is_meant) {
            return Ok(false);
        }
        self.lock().await?.retain(|entry| !is_meant(entry))?;
        Ok(true)
    }

    /// Waits for its turn.
    pub(super) async fn lock(&self) -> Result<LockedTokenFile, CredentialError> {
        let failed = |error: io::Error| self.failed("locked", &error);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let path = self.path.with_file_name(name);
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
        let file = file.map_err(failed)?;
        let until = tokio::time::Instant::now() + LOCK_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(LockedTokenFile { file: self.clone(), _lock: file }),
                Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
                Err(fs::TryLockError::WouldBlock) if tokio::time::Instant::now() >= until => {
                    let what = format!("{} is in use by another process", self.path.display());
                    return Err(CredentialError::unavailable(what));
                }
                Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(LOCK_INTERVAL).await,
            }
        }
    }

    fn entries(&self) -> Result<Vec<Value>, CredentialError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file,
        };
        let mut text = String::new();
        let read = file.and_then(|file| {
            keep_from_others(&file)?;
            file.take(MAX_BYTES).read_to_string(&mut text)
        });
        read.map_err(|error| self.failed("read", &error))?;
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        // The error of the parser is not shown: it may quote a token.
        serde_json::from_str(&text).map_err(|_| {
            let what =
                format!("{} is not a list of tokens; remove it and sign in again", self.path.display());
            CredentialError::unavailable(what)
        })
    }

    fn failed(&self, verb: &str, error: &io::Error) -> CredentialError {
        CredentialError::unavailable(format!(
            "the tokens in {} cannot be {verb}: {error}",
            self.path.display()
        ))
    }
}

/// The lock ends with it.
#[derive(Debug)]
pub(super) struct LockedTokenFile {
    file: TokenFile,
    _lock: File,
}

impl LockedTokenFile {
    pub(super) fn write(
        &self,
        key: &TokenKey,
        tokens: &TokenSet,
        now: SystemTime,
    ) -> Result<(), CredentialError> {
        let mut entries = self.file.entries()?;
        let known = entries.iter().position(|entry| key.owns(entry));
        let entry = known.map_or_else(|| json!({}), |place| entries.remove(place));
        entries.retain(|entry| !key.owns(entry));
        entries.push(key.entry(entry, tokens, now));
        self.replace(&entries)
    }

    pub(super) fn remove(&self, key: &TokenKey) -> Result<(), CredentialError> {
        self.retain(|entry| !key.owns(entry))
    }

    fn retain(&self, keep: impl Fn(&Value) -> bool) -> Result<(), CredentialError> {
        let mut entries = self.file.entries()?;
        entries.retain(keep);
        self.replace(&entries)
    }

    fn replace(&self, entries: &[Value]) -> Result<(), CredentialError> {
        let text = serde_json::to_string_pretty(entries).unwrap_or_default();
        replace(&self.file.path, &text).map_err(|error| self.file.failed("written", &error))
    }
}

/// A file that others may read, such as one that was copied, becomes the user's only.
fn keep_from_others(file: &File) -> io::Result<()> {
    match file.metadata()?.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => file.set_permissions(Permissions::from_mode(0o600)).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("others may read the file, and that cannot be changed: {error}"),
            )
        }),
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays one.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    // A leftover of a process that died while it wrote. Under the lock, no other process uses it.
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| fs::rename(&new, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&new);
    }
    renamed
}

impl TokenKey {
    fn fits(&self, entry: &Value) -> bool {
        self.owns(entry) && self.token_url.as_ref().is_none_or(|url| entry["tokenUrl"] == *url)
    }

    /// Whether it is of this agent and this client, wherever its token comes from.
    fn owns(&self, entry: &Value) -> bool {
        let of = &entry["agentOrigin"];
        let is_unnamed = || {
            self.takes_unnamed
                && of.is_null()
                && self.token_url.as_ref().is_some_and(|url| entry["tokenUrl"] == *url)
        };
        let is_named = of.as_str().is_some() && of.as_str() == self.agent_origin.as_deref();
        entry["serverName"] == self.agent && entry["clientId"] == self.client_id && (is_named || is_unnamed())
    }

    fn entry(&self, mut entry: Value, tokens: &TokenSet, now: SystemTime) -> Value {
        if !entry.is_object() {
            entry = json!({});
        }
        let mut token = json!({"accessToken": tokens.access.expose(), "tokenType": "Bearer"});
        if let Some(refresh) = &tokens.refresh {
            token["refreshToken"] = json!(refresh.expose());
        }
        if let Some(expires) = tokens.expires {
            token["expiresAt"] = json!(milliseconds(expires));
        }
        if let Some(scope) = &tokens.scope {
            token["scope"] = json!(scope);
        }
        entry["serverName"] = json!(self.agent);
        entry["token"] = token;
        entry["clientId"] = json!(self.client_id);
        entry["tokenUrl"] = json!(self.token_url);
        entry["agentOrigin"] = json!(self.agent_origin);
        entry["updatedAt"] = json!(milliseconds(now));
        entry
    }
}

fn find(key: &TokenKey, entries: &[Value]) -> Option<StoredToken> {
    entries.iter().find(|entry| key.fits(entry)).and_then(stored)
}

fn stored(entry: &Value) -> Option<StoredToken> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let token = &entry["token"];
    let expires = token["expiresAt"].as_f64().filter(|time| *time >= 0.0 && *time < MAX_TIME as f64);
    let expires = expires.map(|time| UNIX_EPOCH + Duration::from_millis(time as u64));
    let granted =
        entry["updatedAt"].as_u64().map(|time| UNIX_EPOCH + Duration::from_millis(time.min(MAX_TIME)));
    let tokens = TokenSet {
        access: Secret::new(text(&token["accessToken"])?),
        refresh: text(&token["refreshToken"]).map(Secret::new),
        expires,
        lifetime: expires.zip(granted).and_then(|(expires, granted)| expires.duration_since(granted).ok()),
        scope: text(&token["scope"]),
    };
    let token_url = text(&entry["tokenUrl"]).unwrap_or_default();
    Some(StoredToken { tokens, token_url, is_unnamed: entry["agentOrigin"].is_null() })
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "token_file_tests.rs"]
mod tests;
