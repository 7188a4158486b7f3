//! The SQLite store keeps every promise of the seams.

use std::sync::Arc;

use attache_store_sql::{SqliteOptions, SqliteStore, Synchronous};

fn open(options: SqliteOptions) -> (Arc<SqliteStore>, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(&folder.path().join("tasks.db"), options).expect("opens");
    (Arc::new(store), folder)
}

attache_store::conformance_tests!(open(SqliteOptions::default()));

mod relaxed_with_one_reader {
    use super::{SqliteOptions, Synchronous, open};

    attache_store::conformance_tests!(open(SqliteOptions {
        synchronous: Synchronous::Off,
        readers: 0,
        ..SqliteOptions::default()
    }));
}
