//! The reader threads.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};

use attache_store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::OpenError;
use crate::connection::open_reader;
use crate::queue::Queue;
use crate::reader::{Reader, SharedState};

/// A query for any free reader.
type ReadJob = Box<dyn FnOnce(&mut Reader<'_>) + Send>;

/// Dropping it answers all queued queries and waits for the threads.
pub(crate) struct Readers {
    jobs: Arc<Queue<ReadJob>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Returns when every reader is ready.
    pub(crate) fn start(path: &Path, count: usize, shared: &Arc<SharedState>) -> Result<Self, OpenError> {
        let mut readers = Self { jobs: Arc::new(Queue::new()), threads: Vec::new() };
        for number in 0..count.max(1) {
            let connection = open_reader(path).map_err(|source| OpenError::sqlite(path, source))?;
            let (ready, is_ready) = mpsc::sync_channel(1);
            let (questions, shared) = (readers.jobs.clone(), shared.clone());
            let thread = Builder::new()
                .name(format!("attache-sqlite-reader-{number}"))
                .spawn(move || serve(&connection, &questions, shared, &ready))
                .map_err(|source| OpenError::file(path, source))?;
            readers.threads.push(thread);
            match is_ready.recv() {
                Ok(result) => result.map_err(|source| OpenError::sqlite(path, source))?,
                Err(gone) => return Err(OpenError::file(path, gone)),
            }
        }
        Ok(readers)
    }

    /// Runs a query on a reader. The query runs even if the caller stops waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.jobs.push(Box::new(move |reader| {
            // The caller may have stopped waiting.
            if !answer.is_closed() {
                let _ = answer.send(question(reader));
            }
        }));
        answered.await.unwrap_or_else(|gone| Err(StoreError::unavailable(gone)))
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.jobs.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(
    connection: &Connection,
    questions: &Queue<ReadJob>,
    shared: Arc<SharedState>,
    ready: &mpsc::SyncSender<rusqlite::Result<()>>,
) {
    let mut reader = match Reader::prepare(connection, shared) {
        Ok(reader) => reader,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let _ = ready.send(Ok(()));
    while let Some(question) = questions.take() {
        question(&mut reader);
    }
}
