//! Stores the last acknowledged append beside the database.
//!
//! A database cannot detect by itself that it is an older copy, or that its write-ahead log was lost. So after each
//! commit with an append, the position and the checksum of the last batch are written into `PATH.mark`. At the next
//! start the database must contain exactly that batch, in the same file; otherwise its past has changed.
//!
//! The mark is not synced with each commit: it survives `kill -9`. After a power failure it may be as old as the
//! operating system's write-back delay, but never newer than what the database guarantees to keep.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use attache_domain::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use crate::error::is_corrupt;
use crate::file_identity::{FileIdentity, beside};
use crate::lock::open_private;

/// Two slots, written in turn, so that one of them is always complete.
const SLOTS: u64 = 2;
/// The distance of the slots, so that no sector contains both.
const SLOT_DISTANCE: u64 = 512;
const SLOT_BYTES: usize = 56;
const MAGIC: &[u8; 8] = b"attmark1";

/// The last acknowledged batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AcknowledgedBatch {
    pub(crate) place: i64,
    pub(crate) checksum: i64,
}

/// The content of the mark file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkSlot {
    generation: u64,
    inode: u64,
    pub(crate) batch: AcknowledgedBatch,
    /// When it was written, in milliseconds since 1970.
    at: i64,
}

/// The comparison of a database with its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkComparison {
    /// The same file, with the last acknowledged batch.
    Same,
    /// No readable mark: the database was restored or moved here, or never had one.
    Unmarked,
    /// Another file with the last acknowledged batch: a copy.
    Copied,
    /// The last acknowledged batch is missing.
    Lost(MarkSlot),
}

impl MarkComparison {
    /// Compares an open database with its mark.
    pub(crate) fn of(
        connection: &Connection,
        mark: Option<MarkSlot>,
        identity: FileIdentity,
    ) -> rusqlite::Result<Self> {
        let Some(mark) = mark else {
            let any = connection.query_row("SELECT 1 FROM batch LIMIT 1", [], |_| Ok(())).optional();
            return match any {
                Ok(None) => Ok(Self::Same),
                Ok(Some(())) => Ok(Self::Unmarked),
                Err(error) if is_corrupt(&error) => Ok(Self::Unmarked),
                Err(error) => Err(error),
            };
        };
        let find = "SELECT checksum FROM batch WHERE place = ?1";
        let found = connection.query_row(find, [mark.batch.place], |row| row.get::<_, Option<i64>>(0));
        match found.optional() {
            Ok(Some(Some(checksum))) if checksum == mark.batch.checksum => {
                Ok(if mark.inode == identity.inode { Self::Same } else { Self::Copied })
            }
            Ok(_) => Ok(Self::Lost(mark)),
            // A damaged page must not stop the whole server.
            Err(error) if is_corrupt(&error) => Ok(Self::Lost(mark)),
            Err(error) => Err(error),
        }
    }

    /// The warning for operators.
    pub(crate) fn warning(self) -> Option<String> {
        let Self::Lost(mark) = self else { return None };
        let at = Timestamp::from_millisecond(mark.at).map_or_else(|_| "?".into(), |at| at.to_string());
        Some(format!(
            "the database lacks tasks or events that were acknowledged up to {at}: its write-ahead log was lost or damaged, or \
             an older copy or a new file was put in its place"
        ))
    }
}

/// The mark of one database.
pub(crate) struct MarkFile {
    path: PathBuf,
    /// Opened at the first write.
    file: Option<File>,
    inode: u64,
    generation: u64,
    failed: bool,
}

impl MarkFile {
    pub(crate) fn path_for(database: &Path) -> PathBuf {
        beside(database, ".mark")
    }

    /// The mark of `database`, whose last entry was `last`.
    pub(crate) fn new(database: &Path, identity: FileIdentity, last: Option<MarkSlot>) -> Self {
        let generation = last.map_or(0, |mark| mark.generation);
        let path = Self::path_for(database);
        Self { path, file: None, inode: identity.inode, generation, failed: false }
    }

    /// Called after a commit, before it is acknowledged.
    pub(crate) fn write(&mut self, witness: AcknowledgedBatch) {
        self.generation += 1;
        let at = Timestamp::now().as_millisecond();
        let mark = MarkSlot { generation: self.generation, inode: self.inode, batch: witness, at };
        if let Err(error) = self.write_slot(mark)
            && !std::mem::replace(&mut self.failed, true)
        {
            let path = self.path.display();
            tracing::warn!(%error, "{path} cannot be written; the next start will not know whether anything was lost");
        }
    }

    /// Syncs the mark at a regular end.
    pub(crate) fn sync(&self) {
        if let Some(file) = &self.file
            && let Err(error) = file.sync_all()
        {
            tracing::warn!(%error, "{} was not synced", self.path.display());
        }
    }

    fn write_slot(&mut self, mark: MarkSlot) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(open_private(&self.path)?),
        };
        file.write_all_at(&encode(mark), mark.generation % SLOTS * SLOT_DISTANCE)
    }
}

/// The newest complete mark of `database`.
pub(crate) fn read_mark(database: &Path) -> Option<MarkSlot> {
    let bytes = std::fs::read(MarkFile::path_for(database)).ok()?;
    let slots = (0..SLOTS as usize).filter_map(|slot| bytes.get(slot * SLOT_DISTANCE as usize..));
    slots.filter_map(decode).max_by_key(|mark| mark.generation)
}

fn encode(mark: MarkSlot) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..16].copy_from_slice(&mark.generation.to_le_bytes());
    bytes[16..24].copy_from_slice(&mark.inode.to_le_bytes());
    bytes[24..32].copy_from_slice(&mark.batch.place.to_le_bytes());
    bytes[32..40].copy_from_slice(&mark.batch.checksum.to_le_bytes());
    bytes[40..48].copy_from_slice(&mark.at.to_le_bytes());
    let checksum = u64::from(crc32fast::hash(&bytes[..48]));
    bytes[48..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<MarkSlot> {
    let bytes = bytes.get(..SLOT_BYTES)?;
    let number = |start: usize| -> Option<[u8; 8]> { bytes.get(start..start + 8)?.try_into().ok() };
    let checksum = u64::from(crc32fast::hash(&bytes[..48]));
    if !bytes.starts_with(MAGIC) || u64::from_le_bytes(number(48)?) != checksum {
        return None;
    }
    let (place, kept) = (i64::from_le_bytes(number(24)?), i64::from_le_bytes(number(32)?));
    Some(MarkSlot {
        generation: u64::from_le_bytes(number(8)?),
        inode: u64::from_le_bytes(number(16)?),
        batch: AcknowledgedBatch { place, checksum: kept },
        at: i64::from_le_bytes(number(40)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_whole_slot_counts() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("tasks.db");
        std::fs::write(&database, "").unwrap();
        let identity = FileIdentity::at(&database).unwrap().unwrap();
        assert_eq!(read_mark(&database), None);
        let mut file = MarkFile::new(&database, identity, None);
        for place in 1..=5 {
            file.write(AcknowledgedBatch { place, checksum: place * 10 });
            let mark = read_mark(&database).unwrap();
            assert_eq!(mark.batch, AcknowledgedBatch { place, checksum: place * 10 });
        }
        // Another start goes on counting.
        let mut file = MarkFile::new(&database, identity, read_mark(&database));
        file.write(AcknowledgedBatch { place: 6, checksum: 60 });
        assert_eq!(read_mark(&database).unwrap().batch.place, 6);
        // The newest slot is torn: the one before it counts.
        let path = MarkFile::path_for(&database);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read_mark(&database).unwrap().batch.place, 5);
        bytes[512 + 20] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read_mark(&database), None);
    }
}
