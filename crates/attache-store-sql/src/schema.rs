//! Migrates a database to the schema of this program, step by step.
//!
//! A released step is never changed: its checksum is in the database and compared at every start. A database newer
//! than this program is refused.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::OpenError;

/// Marks the file as a database of this program, so that it never writes to another program's database ("atch").
const APPLICATION_ID: u32 = 0x6174_6368;

const STEPS: [&str; 3] = [
    include_str!("schema/0001_tasks.sql"),
    include_str!("schema/0002_checksums.sql"),
    include_str!("schema/0003_plain_indexes.sql"),
];

/// Applies the missing steps, all or none.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let found = verify(connection, path)?;
    if found < STEPS.len() as u32 {
        apply_steps(connection, found).map_err(|source| OpenError::sqlite(path, source))?;
    }
    Ok(())
}

/// Refuses a database that this program cannot read; changes nothing. Returns the number of applied steps.
pub(crate) fn verify(connection: &Connection, path: &Path) -> Result<u32, OpenError> {
    let failed = |source| OpenError::sqlite(path, source);
    let found = pragma(connection, "user_version").map_err(failed)?;
    let known = STEPS.len() as u32;
    check_owner(connection, path, found)?;
    if found > known {
        return Err(OpenError::Newer { path: path.to_owned(), found, known });
    }
    if let Some(step) = first_altered_step(connection, found).map_err(failed)? {
        return Err(OpenError::Altered { path: path.to_owned(), step });
    }
    Ok(found)
}

/// A database without our mark is accepted only if it is empty.
fn check_owner(connection: &Connection, path: &Path, version: u32) -> Result<(), OpenError> {
    let failed = |source| OpenError::sqlite(path, source);
    if pragma(connection, "application_id").map_err(failed)? == APPLICATION_ID {
        return Ok(());
    }
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    if version == 0 && tables.map_err(failed)? == 0 {
        return Ok(());
    }
    Err(OpenError::Foreign { path: path.to_owned() })
}

fn first_altered_step(connection: &Connection, taken: u32) -> rusqlite::Result<Option<u32>> {
    if taken == 0 {
        return Ok(None);
    }
    let mut statement = connection.prepare("SELECT checksum FROM schema_step WHERE number = ?1")?;
    for (number, step) in (1..=taken).zip(STEPS) {
        let kept: Option<String> = statement.query_map([number], |row| row.get(0))?.next().transpose()?;
        if kept.as_deref() != Some(checksum(step).as_str()) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

fn apply_steps(connection: &mut Connection, taken: u32) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_step (number INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT",
    )?;
    for (number, step) in (1..).zip(STEPS).skip(taken as usize) {
        transaction.execute_batch(step)?;
        transaction.execute("INSERT INTO schema_step VALUES (?1, ?2)", (number, checksum(step)))?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// FNV-1a with 64 bits: detects mistakes, not attacks.
fn checksum(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        connection
    }

    #[test]
    fn a_step_that_was_released_has_not_changed() {
        // Never edit these: add a step instead.
        assert_eq!(STEPS.map(checksum), ["58c58b27b8c8aef3", "a8e70c9ef532381f", "c5c5abdb25782ec6"]);
    }

    #[test]
    fn a_second_start_changes_nothing() {
        let mut connection = fresh();
        let changes = connection.total_changes();
        migrate(&mut connection, Path::new("test")).unwrap();
        assert_eq!(connection.total_changes(), changes);
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let mut connection = fresh();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let refused = migrate(&mut connection, Path::new("test"));
        assert!(matches!(refused, Err(OpenError::Newer { found: 99, known: 3, .. })), "{refused:?}");
    }

    #[test]
    fn an_altered_step_is_refused() {
        let mut connection = fresh();
        connection.execute("UPDATE schema_step SET checksum = 'other'", []).unwrap();
        let refused = migrate(&mut connection, Path::new("test"));
        assert!(matches!(refused, Err(OpenError::Altered { step: 1, .. })), "{refused:?}");
    }

    #[test]
    fn a_database_of_another_program_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE theirs (a)").unwrap();
        let refused = migrate(&mut connection, Path::new("test"));
        assert!(matches!(refused, Err(OpenError::Foreign { .. })), "{refused:?}");
        let tables: u32 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(tables, 1);
    }
}
