//! One process at a time, whatever the database is called.

use std::path::Path;
use std::time::{Duration, Instant};

use attache_store::conformance::Sample;
use attache_store_sql::{OpenError, SqliteOptions, SqliteStore};

fn open(path: &Path) -> Result<SqliteStore, OpenError> {
    let options = SqliteOptions { lock_timeout: Duration::from_millis(10), ..SqliteOptions::default() };
    SqliteStore::open(path, options)
}

#[track_caller]
fn check_in_use(path: &Path) {
    match open(path) {
        Ok(_) => panic!("{} was opened a second time", path.display()),
        Err(OpenError::InUse { by, .. }) => {
            let by = by.expect("the process is known");
            assert!(by.starts_with(&format!("{}, ", std::process::id())), "{by}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_second_store_is_refused_by_every_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let first = open(&path).unwrap();
    let (symbolic, hard) = (folder.path().join("symbolic.db"), folder.path().join("hard.db"));
    std::os::unix::fs::symlink(&path, &symbolic).unwrap();
    std::fs::hard_link(&path, &hard).unwrap();
    let below = folder.path().join("other");
    std::os::unix::fs::symlink(folder.path(), &below).unwrap();
    for name in [&path, &symbolic, &hard, &below.join("tasks.db")] {
        check_in_use(name);
    }
    // Refusing has not disturbed the first.
    Sample::new("a").put(&first).await;
    drop(first);
    let second = open(&symbolic).unwrap();
    check_in_use(&path);
    drop(second);
    open(&path).unwrap();
}

#[test]
fn a_removed_lock_file_lets_no_process_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let _first = open(&path).unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap().path();
        if entry != path && !entry.to_str().unwrap().ends_with("-wal") {
            std::fs::remove_file(entry).unwrap();
        }
    }
    check_in_use(&path);
}

#[test]
fn a_lock_that_is_given_up_in_time_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let first = open(&path).unwrap();
    let begun = Instant::now();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(first);
    });
    let options = SqliteOptions { lock_timeout: Duration::from_secs(60), ..SqliteOptions::default() };
    SqliteStore::open(&path, options).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(50));
    closing.join().unwrap();
}

/// What `kill -9` may leave for a moment: a child process that has the descriptors of its parent.
#[test]
fn the_lock_of_another_process_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    drop(open(&path).unwrap());
    let script = format!("exec 9<>'{}'; flock -x 9; echo locked; read -r _", path.display());
    let mut holder = std::process::Command::new("sh")
        .args(["-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = holder.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    assert_eq!(line, "locked\n", "flock(1) is part of util-linux");
    let Err(refused) = open(&path) else { panic!("opened beside another process") };
    assert!(refused.to_string().contains("tasks.db is in use by another process ("), "{refused}");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    open(&path).unwrap();
}
