//! Checks a database without changing it.

use std::path::Path;

use rusqlite::Connection;

use super::check_tasks::check_tasks;
use super::{MaintenanceError, require_database};
use crate::connection::open_reader;
use crate::file_identity::FileIdentity;
use crate::lock::holder_of;
use crate::mark_file::{MarkComparison, read_mark};
use crate::reader::record_of;
use crate::{checksum, schema};

/// The check stops at this many faults of one kind.
const MAX_FAULTS: usize = 1000;

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckReport {
    pub tasks: u64,
    pub events: u64,
    pub snapshots: u64,
    pub records: u64,
    /// Rows that were written before there were checksums.
    pub without_checksum: u64,
    /// Faults, one sentence each.
    pub faults: Vec<String>,
    /// Notes that are no faults.
    pub notes: Vec<String>,
}

impl CheckReport {
    pub(super) fn fault(&mut self, fault: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.faults.len() >= MAX_FAULTS
    }
}

/// The database under check.
pub(super) struct CheckedDatabase<'c> {
    pub(super) connection: &'c Connection,
    /// The expression for a row's checksum: databases of earlier versions have none.
    pub(super) checksum: &'static str,
    /// Whether it keeps counts of its tasks; databases of earlier versions do not.
    pub(super) has_counts: bool,
}

/// Checks a consistent snapshot of the database at `path`. A server may go on writing meanwhile.
pub fn check(path: &Path) -> Result<CheckReport, MaintenanceError> {
    require_database(path)?;
    let failed = |source| MaintenanceError::sqlite(path, source);
    let identity = FileIdentity::at(path).map_err(|source| crate::OpenError::file(path, source))?;
    // Read before the database: the mark of a running server can then only be older than the database.
    let mark = path.canonicalize().ok().and_then(|real| read_mark(&real));
    let connection = open_reader(path).map_err(failed)?;
    connection.execute_batch("BEGIN").map_err(failed)?;
    let steps = schema::verify(&connection, path)?;
    let mut report = CheckReport::default();
    if let Some(by) = identity.and_then(holder_of) {
        report.notes.push(format!("it is in use by process {by}"));
    }
    check_structure(&connection, &mut report).map_err(failed)?;
    if steps == 0 {
        return Ok(report);
    }
    let checksum = if steps >= 2 { "checksum" } else { "NULL" };
    let checked = CheckedDatabase { connection: &connection, checksum, has_counts: steps >= 3 };
    type Check = fn(&CheckedDatabase<'_>, &mut CheckReport) -> rusqlite::Result<()>;
    let parts: [(&str, Check); 3] =
        [("tasks", check_tasks), ("snapshots", check_snapshots), ("records", check_records)];
    for (what, check) in parts {
        if let Err(error) = check(&checked, &mut report) {
            report.fault(format!("the {what} cannot be read to their end: {error}"));
        }
    }
    if steps >= 2
        && let Some(identity) = identity
    {
        match MarkComparison::of(&connection, mark, identity) {
            Ok(MarkComparison::Same) => {}
            Ok(MarkComparison::Unmarked | MarkComparison::Copied) => report.notes.push(
                "it is a copy, or has no mark beside it: the next start gives its log a new epoch".to_owned(),
            ),
            Ok(past @ MarkComparison::Lost(_)) => report.fault(past.warning().unwrap_or_default()),
            Err(error) => report.fault(format!("what the mark names cannot be looked for: {error}")),
        }
    }
    Ok(report)
}

/// The faults that SQLite itself finds: pages, indexes, types.
fn check_structure(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MAX_FAULTS})"))?;
    let mut rows = statement.query(())?;
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let found: String = row.get(0)?;
                if found != "ok" {
                    report.fault(format!("SQLite: {found}"));
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                report.fault(format!("SQLite: {error}"));
                return Ok(());
            }
        }
    }
}

fn check_snapshots(checked: &CheckedDatabase<'_>, report: &mut CheckReport) -> rusqlite::Result<()> {
    let sql = format!("SELECT place, bytes, {} FROM snapshot ORDER BY place", checked.checksum);
    let mut statement = checked.connection.prepare(&sql)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        report.snapshots += 1;
        let (place, kept) = (row.get(0)?, row.get::<_, Option<i64>>(2)?);
        report.without_checksum += u64::from(kept.is_none());
        let bytes = row.get_ref(1)?.as_bytes().unwrap_or_default();
        if let Err(error) = checksum::verify(kept, checksum::at_place(checksum::of_body(bytes), place)) {
            report.fault(format!("snapshot at place {place}: {error}"));
        }
    }
    Ok(())
}

fn check_records(checked: &CheckedDatabase<'_>, report: &mut CheckReport) -> rusqlite::Result<()> {
    let sql = format!("SELECT key, value, {}, space FROM record ORDER BY space, key", checked.checksum);
    let mut statement = checked.connection.prepare(&sql)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        report.records += 1;
        report.without_checksum += u64::from(row.get::<_, Option<i64>>(2)?.is_none());
        let space = String::from_utf8_lossy(row.get_ref(3)?.as_bytes().unwrap_or_default()).into_owned();
        if let Err(error) = record_of(row, &space) {
            report.fault(format!("record of {space}: {error}"));
        }
    }
    Ok(())
}
