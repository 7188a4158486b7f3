//! Reads the rows of the listing on readable pages, and skips damaged pages.

use rusqlite::{Connection, Row};

use crate::error::is_corrupt;
use crate::stored::task_at;

/// Passes every readable row of `sql` to `take`, and returns the maximum number of skipped rows. `sql` selects the
/// tasks with a number above its one parameter, ordered by number, which is the first column.
pub(crate) fn each_readable(
    connection: &Connection,
    sql: &str,
    after: i64,
    mut take: impl FnMut(&Row<'_>),
) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare(sql)?;
    let (mut last, mut passed_over, mut end) = (after, 0, None);
    loop {
        let mut rows = statement.query([last])?;
        let error = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    last = row.get(0)?;
                    take(row);
                }
                Ok(None) => return Ok(passed_over),
                Err(error) => break error,
            }
        };
        if !is_corrupt(&error) {
            return Err(error);
        }
        // The next row lies on a damaged page; a higher number may be beyond it.
        let end = match end {
            Some(end) => end,
            None => *end.insert(last_number(connection).ok_or(error)?),
        };
        if last >= end {
            return Ok(passed_over);
        }
        (last, passed_over) = (last + 1, passed_over + 1);
    }
}

/// A lower bound of the highest task number, if it can be read.
fn last_number(connection: &Connection) -> Option<i64> {
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).ok();
    let listed = ask("SELECT coalesce(max(number), 0) FROM task");
    let logged = ask("SELECT coalesce(max(place), 0) FROM batch").map(task_at);
    listed.max(logged)
}
