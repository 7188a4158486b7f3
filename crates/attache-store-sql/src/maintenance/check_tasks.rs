//! Checks the logs of all tasks, and compares the listing with the logs.

use attache_domain::{Progress, Seq, TaskSummary};
use rusqlite::{Connection, Row, Statement};

use super::check::{CheckReport, CheckedDatabase};
use crate::reader::batch_of;
use crate::stored::{last_place, place, seq_at, summary_of};

/// The columns of `summary_of`, then: number, id, tenant, owner.
const TASKS: &str = "SELECT context, state, status_at, hidden, unfinished, task.number, id, tenant, owner
    FROM task LEFT JOIN scope ON scope.number = task.scope ORDER BY task.number";

const ORPHANS: &str =
    "SELECT DISTINCT place >> 28 FROM batch WHERE place >> 28 NOT IN (SELECT number FROM task)";

const DIFFERENT_COUNTS: &str = "WITH
    counted AS (SELECT scope, state, count(*) AS tasks FROM task WHERE hidden = 0 GROUP BY scope, state),
    kept AS (SELECT scope, state, tasks FROM task_count WHERE tasks <> 0)
    SELECT EXISTS (SELECT * FROM counted EXCEPT SELECT * FROM kept)
        OR EXISTS (SELECT * FROM kept EXCEPT SELECT * FROM counted)";

struct Statements<'c> {
    batches: Statement<'c>,
}

pub(super) fn check_tasks(checked: &CheckedDatabase<'_>, report: &mut CheckReport) -> rusqlite::Result<()> {
    let connection = checked.connection;
    let batches = format!(
        "SELECT place, body, {} FROM batch WHERE place > ?1 AND place <= ?2 ORDER BY place",
        checked.checksum
    );
    let mut statements = Statements { batches: connection.prepare(&batches)? };
    let mut tasks = connection.prepare(TASKS)?;
    let mut rows = tasks.query(())?;
    while let Some(row) = rows.next()?
        && !report.is_full()
    {
        report.tasks += 1;
        check_task(row, &mut statements, report)?;
    }
    if checked.has_counts {
        check_counts(connection, report)?;
    }
    let mut orphans = connection.prepare(ORPHANS)?;
    let mut rows = orphans.query(())?;
    while let Some(row) = rows.next()? {
        report.fault(format!("task number {} has events and no listing row", row.get::<_, i64>(0)?));
    }
    Ok(())
}

fn check_task(
    row: &Row<'_>,
    statements: &mut Statements<'_>,
    report: &mut CheckReport,
) -> rusqlite::Result<()> {
    let number: i64 = row.get(5)?;
    let name = match row.get::<_, String>(6) {
        Ok(id) => format!("task {id}"),
        Err(_) => format!("task number {number}"),
    };
    let Some(progress) = fold(number, &name, statements, report)? else { return Ok(()) };
    let (Ok(id), Ok(tenant), Ok(owner)) = (row.get(6), row.get(7), row.get(8)) else {
        report.fault(format!("{name}: its listing row, or the row of its owner, cannot be read"));
        return Ok(());
    };
    let (id, tenant, owner): (String, String, String) = (id, tenant, owner);
    if progress.task.as_str() != id || *progress.scope.tenant != *tenant || *progress.scope.owner != *owner {
        let of_log = &progress.task;
        report.fault(format!("{name}: its log is that of task {of_log}, or of another owner"));
    }
    match summary_of(row) {
        Ok(listed) => compare(&name, &TaskSummary::of(&progress), &listed, report),
        Err(error) => report.fault(format!("{name}: its listing row cannot be read: {error}")),
    }
    Ok(())
}

/// Reads the whole log of a task; `None` if that is not possible.
fn fold(
    number: i64,
    name: &str,
    statements: &mut Statements<'_>,
    report: &mut CheckReport,
) -> rusqlite::Result<Option<Progress>> {
    let mut rows = statements.batches.query((place(number, Seq::START), last_place(number)))?;
    let (mut progress, mut head, mut is_whole) = (None::<Progress>, Seq::START, true);
    while let Some(row) = rows.next()? {
        let place = row.get(0)?;
        report.without_checksum += u64::from(row.get::<_, Option<i64>>(2).is_ok_and(|kept| kept.is_none()));
        let events = match batch_of(row, place) {
            Ok(events) => events,
            Err(error) => {
                report.fault(format!("{name}: the events up to {}: {error}", seq_at(place)));
                (head, is_whole) = (seq_at(place), false);
                continue;
            }
        };
        report.events += events.len() as u64;
        for event in events {
            if event.seq != head.next() {
                report.fault(format!("{name}: the events after {head} and before {} are missing", event.seq));
                is_whole = false;
            }
            head = event.seq;
            match &mut progress {
                Some(progress) => progress.apply(&event),
                None => progress = Progress::open(&event),
            }
        }
    }
    if head == Seq::START {
        report.fault(format!("{name} has a listing row and no events"));
    } else if is_whole && progress.is_none() {
        report.fault(format!("{name}: its log does not begin with its opening"));
    }
    Ok(progress.filter(|_| is_whole))
}

/// Compares the listing row with the log, which is the truth.
fn compare(name: &str, of_log: &TaskSummary, listed: &TaskSummary, report: &mut CheckReport) {
    let same_time = of_log.status_at.as_millisecond() == listed.status_at.as_millisecond();
    let differences = [
        ("context", of_log.context != listed.context),
        ("state", of_log.state != listed.state),
        ("time of its status", !same_time),
        ("visibility", of_log.hidden != listed.hidden),
        ("need for work", of_log.unfinished != listed.unfinished),
    ];
    for (what, _) in differences.into_iter().filter(|(_, differs)| *differs) {
        report.fault(format!("{name}: its listing row has another {what} than its log"));
    }
}

/// Compares the counts of the listing with the tasks.
fn check_counts(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    if connection.query_row(DIFFERENT_COUNTS, [], |row| row.get(0))? {
        report.fault("the counts of the listing are not those of its tasks".to_owned());
    }
    Ok(())
}
