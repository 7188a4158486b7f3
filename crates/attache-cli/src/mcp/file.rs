//! A settings file on disk.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use attache_document::JsonDocument;

use super::arguments::Scope;
use crate::report::with_hint;

const FOLDER: &str = ".gemini";
const NAME: &str = "settings.json";
/// A settings file is small; whatever is larger is something else.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Settings hold keys.
const OWNER_ONLY: u32 = 0o600;

pub(super) struct SettingsFile {
    base: PathBuf,
    path: PathBuf,
    scope: Scope,
}

impl SettingsFile {
    pub(super) fn of(base: &Path, scope: Scope) -> Self {
        Self { base: base.to_owned(), path: base.join(FOLDER).join(NAME), scope }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds; an empty document when there is none.
    pub(super) fn read(&self) -> anyhow::Result<JsonDocument> {
        let shown = self.path.display();
        let mut text = String::new();
        match fs::File::open(&self.path) {
            Ok(file) => {
                if !file
                    .metadata()
                    .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES)
                {
                    bail!("{shown} is not a file of at most {MAX_FILE_BYTES} bytes");
                }
                file.take(MAX_FILE_BYTES)
                    .read_to_string(&mut text)
                    .with_context(|| format!("cannot read {shown}"))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
        }
        JsonDocument::parse(&text).map_err(|error| {
            let error = anyhow::Error::new(error).context(format!("cannot use {shown}"));
            with_hint(error, "mend the file first; nothing was changed")
        })
    }

    /// Replaces the file as a whole: whoever reads it sees the old text or the new one.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        let shown = self.path.display();
        let folder = self.base.join(FOLDER);
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        // A link is followed, so that it stays one.
        let target = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        self.check_place(&target)?;
        replace(&target, text).with_context(|| format!("cannot write {shown}"))
    }

    /// A project may come from anywhere; its links do not lead our writing out of it.
    fn check_place(&self, target: &Path) -> anyhow::Result<()> {
        if self.scope == Scope::User {
            return Ok(());
        }
        let base = self.base.canonicalize().context("cannot find the current folder")?;
        let folder = target.parent().and_then(|folder| folder.canonicalize().ok());
        if !folder.is_some_and(|folder| folder.starts_with(&base)) {
            bail!("{} leads out of this project, so it is not written", self.path.display());
        }
        Ok(())
    }
}

fn replace(target: &Path, text: &str) -> io::Result<()> {
    let permissions =
        fs::metadata(target).map_or(Permissions::from_mode(OWNER_ONLY), |known| known.permissions());
    let temporary = target.with_file_name(format!(".{NAME}.{}.new", std::process::id()));
    let _ = fs::remove_file(&temporary);
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        file.sync_all()?;
        fs::rename(&temporary, target)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
