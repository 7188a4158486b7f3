//! The implementation of the store traits: passes writes to the writer and queries to the readers.

use std::path::Path;
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::{Builder, JoinHandle};

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey, TaskSummary};
use attache_store::{
    Append, EventLog, IndexCounts, IndexPage, ListQuery, LogRead, Record, RecordChange, Records, Snapshot,
    StoreError, StoreStatus, TaskIndex,
};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::connection::{open_writer, prepare_folder};
use crate::file_watch::FileWatch;
use crate::lock::DatabaseLock;
use crate::maintenance::refuse_interrupted;
use crate::mark_file::{MarkComparison, MarkFile, read_mark};
use crate::reader::{Reader, SharedState};
use crate::readers::Readers;
use crate::stored::{encode, fits};
use crate::writer::{AppendBody, DatabaseFiles, MAX_QUEUED, Write, WriteReply, WriteRequest, Writer};
use crate::{OpenError, SqliteOptions, checksum, schema};

/// The longest batch that SQLite accepts, with a margin.
const MAX_BODY_BYTES: usize = 500_000_000;

/// The log, the listing and the records in one SQLite file.
///
/// Writes wait in a queue of 1024 requests; when it is full, callers wait. Dropping the store completes all queued
/// writes, moves everything into the main file and ends the threads, which can take a moment.
///
/// ```no_run
/// # fn main() -> Result<(), attache_store_sql::OpenError> {
/// use attache_store_sql::{SqliteOptions, SqliteStore};
///
/// let store = SqliteStore::open("tasks.db".as_ref(), SqliteOptions::default())?;
/// let stores = attache_store::Stores::of(std::sync::Arc::new(store));
/// # Ok(()) }
/// ```
pub struct SqliteStore {
    // Dropped in this order: the writer's connection is the last one, which cleans up.
    readers: Readers,
    writer: WriterThread,
    shared: Arc<SharedState>,
    past: MarkComparison,
    _lock: DatabaseLock,
}

impl SqliteStore {
    /// Opens the database at `path`, or creates it and its folder.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        prepare_folder(path)?;
        refuse_interrupted(path)?;
        let lock = DatabaseLock::take(path, options.lock_timeout)?;
        let failed = |source| OpenError::sqlite(path, source);
        let mut connection = open_writer(path, options).map_err(failed)?;
        schema::migrate(&mut connection, path)?;
        // The files beside the database are named after the file that symbolic links lead to.
        let real = path.canonicalize().map_err(|source| OpenError::file(path, source))?;
        let mark = read_mark(&real);
        let past = MarkComparison::of(&connection, mark, lock.identity()).map_err(failed)?;
        log_comparison(past, path);
        let shared = Arc::new(SharedState::default());
        let readers = Readers::start(path, options.readers, &shared)?;
        let watch = FileWatch::new(path, &real, lock.identity());
        let files = DatabaseFiles::new(watch, MarkFile::new(&real, lock.identity(), mark));
        let writer = WriterThread::start(path, connection, files, shared.clone())?;
        Ok(Self { readers, writer, shared, past, _lock: lock })
    }

    async fn write(&self, change: WriteRequest) -> Result<WriteReply, StoreError> {
        let (answer, answered) = oneshot::channel();
        let sent = match &self.writer.inbox {
            Some(inbox) => inbox.send(Write { change, answer }).await.is_ok(),
            None => false,
        };
        if !sent {
            return Err(StoreError::unavailable("the writer has ended"));
        }
        answered.await.unwrap_or_else(|gone| Err(StoreError::unavailable(gone)))
    }
}

#[async_trait]
impl EventLog for SqliteStore {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        let Append { key, expected, events, summary } = append;
        let Some(last) = events.last().map(|event| event.seq) else {
            return Err(StoreError::unavailable("an append without events"));
        };
        debug_assert_eq!(last.0, expected.0 + events.len() as u64, "events are numbered without a hole");
        // Encoded here, not in the writer, so that callers encode in parallel.
        let body = encode(&events).map_err(StoreError::unavailable)?;
        if !fits(last) || body.len() > MAX_BODY_BYTES {
            return Err(StoreError::unavailable("the log of a task cannot grow that large"));
        }
        let body_checksum = checksum::of_body(body.as_bytes());
        let append = AppendBody { key, expected, last, body, body_checksum, summary };
        self.write(WriteRequest::Append(append)).await.map(drop)
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        let key = key.clone();
        self.readers.run(move |reader| reader.events(&key, after, limit)).await
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        let keys = keys.to_vec();
        let read = move |reader: &mut Reader<'_>| {
            let each = keys.iter().map(|key| match reader.events_of_listed(key, limit) {
                Err(error @ StoreError::Corrupt { .. }) => Ok(Err(error)),
                read => read.map(Ok),
            });
            each.collect()
        };
        self.readers.run(read).await
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.write(WriteRequest::Snapshot { key: key.clone(), snapshot }).await.map(drop)
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        let key = key.clone();
        self.readers.run(move |reader| reader.snapshot(&key, at_most)).await
    }

    fn status(&self) -> StoreStatus {
        StoreStatus {
            past_changed: self.past != MarkComparison::Same,
            warnings: self.past.warning().into_iter().collect(),
            unreadable_rows: self.shared.unreadable.count(),
        }
    }
}

#[async_trait]
impl TaskIndex for SqliteStore {
    async fn list(&self, query: &ListQuery) -> Result<IndexPage, StoreError> {
        let query = query.clone();
        self.readers.run(move |reader| reader.list(&query)).await
    }

    async fn summary(&self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError> {
        let key = key.clone();
        self.readers.run(move |reader| reader.summary(&key)).await
    }

    async fn unfinished(&self) -> Result<Vec<TaskKey>, StoreError> {
        self.readers.run(|reader| reader.unfinished()).await
    }

    async fn counts(&self) -> Result<IndexCounts, StoreError> {
        self.readers.run(|reader| reader.counts()).await
    }
}

#[async_trait]
impl Records for SqliteStore {
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let (space, key) = (space.to_owned(), key.to_owned());
        self.readers.run(move |reader| reader.record(&space, &key)).await
    }

    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let change = WriteRequest::Record { space: space.to_owned(), key: key.to_owned(), value };
        match self.write(change).await? {
            WriteReply::Record(value) => Ok(value),
            WriteReply::Done => Err(StoreError::unavailable("the writer answered another question")),
        }
    }

    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError> {
        self.write(WriteRequest::Records(changes)).await.map(drop)
    }

    async fn list_prefix(
        &self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let (space, prefix, after) = (space.to_owned(), prefix.to_owned(), after.map(str::to_owned));
        self.readers.run(move |reader| reader.records(&space, &prefix, after.as_deref(), limit)).await
    }
}

/// Logs that the past of the database has changed.
fn log_comparison(past: MarkComparison, path: &Path) {
    let path = path.display();
    match past {
        MarkComparison::Same => {}
        MarkComparison::Unmarked => {
            tracing::info!("{path} has no mark beside it; earlier cursors are not resumed")
        }
        MarkComparison::Copied => tracing::info!("{path} is a copy; earlier cursors are not resumed"),
        MarkComparison::Lost(_) => tracing::error!("{path}: {}", past.warning().unwrap_or_default()),
    }
}

/// Dropping it completes all queued writes.
struct WriterThread {
    inbox: Option<mpsc::Sender<Write>>,
    thread: Option<JoinHandle<()>>,
}

impl WriterThread {
    fn start(
        path: &Path,
        connection: Connection,
        files: DatabaseFiles,
        shared: Arc<SharedState>,
    ) -> Result<Self, OpenError> {
        let (inbox, requests) = mpsc::channel(MAX_QUEUED);
        let (ready, is_ready) = std_mpsc::sync_channel(1);
        let thread = Builder::new()
            .name("attache-sqlite-writer".to_owned())
            .spawn(move || run_writer(connection, files, requests, shared, &ready))
            .map_err(|source| OpenError::file(path, source))?;
        match is_ready.recv() {
            Ok(Ok(())) => Ok(Self { inbox: Some(inbox), thread: Some(thread) }),
            Ok(Err(source)) => Err(OpenError::sqlite(path, source)),
            Err(gone) => Err(OpenError::file(path, gone)),
        }
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        drop(self.inbox.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run_writer(
    connection: Connection,
    files: DatabaseFiles,
    requests: mpsc::Receiver<Write>,
    shared: Arc<SharedState>,
    ready: &std_mpsc::SyncSender<rusqlite::Result<()>>,
) {
    let may_close = match Writer::prepare(&connection, shared) {
        Ok(writer) => {
            let _ = ready.send(Ok(()));
            writer.with_files(files).serve(requests)
        }
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    if !may_close {
        // Closing would remove the write-ahead log by name, which may now belong to another database.
        std::mem::forget(connection);
        return;
    }
    // The last connection to close moves the write-ahead log into the database and removes it.
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "the database was not closed cleanly; the next start repairs it");
    }
}
