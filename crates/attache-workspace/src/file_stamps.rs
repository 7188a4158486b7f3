//! Records which files a result was read from, so that a later check can tell whether one of them has changed.
//!
//! Readers call [`content`], [`presence`] or [`location`] before they read; [`record_stamps`] collects the stamps.
//! Missing files are recorded too: a new file is a change.

use std::cell::RefCell;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use attache_tool::FileStamp;

use crate::read_file;

/// The stamps of all files that a result depends on.
#[derive(Debug, Default)]
pub(crate) struct FileStamps {
    seen: Vec<(PathBuf, Stamp)>,
    unsettled: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Stamp {
    Nothing(ErrorKind),
    /// Whether something exists, with any content.
    Something,
    Content(FileStamp),
    /// The target of a path.
    Place(PathBuf),
}

thread_local! {
    static WATCHING: RefCell<Option<FileStamps>> = const { RefCell::new(None) };
}

/// Ends the recording, also on a panic.
struct RecordingGuard;

impl Drop for RecordingGuard {
    fn drop(&mut self) {
        WATCHING.set(None);
    }
}

/// Runs `look` on this thread, and returns the stamps of the files that it read.
pub(crate) fn record_stamps<T>(look: impl FnOnce() -> T) -> (T, FileStamps) {
    let watching = RecordingGuard;
    WATCHING.set(Some(FileStamps::default()));
    let found = look();
    let stamps = WATCHING.take().unwrap_or_default();
    drop(watching);
    (found, stamps)
}

impl FileStamps {
    /// Whether a later change can be detected. It cannot for a file that was changed just before it was read.
    pub(crate) fn are_stable(&self) -> bool {
        !self.unsettled
    }

    /// Whether nothing has changed.
    pub(crate) fn are_current(&self) -> bool {
        self.seen.iter().all(|(path, seen)| *seen == seen.again(path))
    }

    /// How many files have to be checked.
    pub(crate) fn len(&self) -> usize {
        self.seen.len()
    }

    fn note(&mut self, path: &Path, seen: Stamp) {
        let path = if seen == Stamp::Nothing(ErrorKind::NotFound) { highest_absent(path) } else { path };
        if let Stamp::Content(stamp) = &seen {
            self.unsettled |= stamp.is_fresh();
        }
        if !self.seen.iter().any(|(known, before)| known == path && *before == seen) {
            self.seen.push((path.to_owned(), seen));
        }
    }
}

/// Records the content of `path` before it is read; for a folder, its entries.
pub(crate) fn content(path: &Path) {
    note(path, Stamp::content);
}

/// Records whether `path` exists, before the check.
pub(crate) fn presence(path: &Path) {
    note(path, Stamp::presence);
}

/// Records the target of `path`, before it is resolved.
pub(crate) fn location(path: &Path) {
    note(path, Stamp::place);
}

fn note(path: &Path, look: impl FnOnce(&Path) -> Stamp) {
    WATCHING.with_borrow_mut(|watching| {
        if let Some(stamps) = watching {
            stamps.note(path, look(path));
        }
    });
}

impl Stamp {
    fn content(path: &Path) -> Self {
        fs::metadata(path).map_or_else(Self::nothing, |metadata| Self::Content(FileStamp::of(&metadata)))
    }

    fn presence(path: &Path) -> Self {
        fs::metadata(path).map_or_else(Self::nothing, |_| Self::Something)
    }

    fn place(path: &Path) -> Self {
        read_file::real_path(path).map_or_else(Self::nothing, Self::Place)
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is what a failed look gives")]
    fn nothing(error: std::io::Error) -> Self {
        Self::Nothing(error.kind())
    }

    /// Takes the same stamp again.
    fn again(&self, path: &Path) -> Self {
        match self {
            Self::Content(_) => Self::content(path),
            Self::Place(_) => Self::place(path),
            Self::Nothing(_) | Self::Something => Self::presence(path),
        }
    }
}

/// Everything below a missing folder is missing too, so one stamp is enough.
fn highest_absent(path: &Path) -> &Path {
    let absent = |path: &&Path| fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    path.ancestors().skip(1).take_while(absent).last().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Written long ago, so that its time stamp is reliable.
        fn write(&self, name: &str, text: &str) {
            let path = self.at(name);
            fs::write(&path, text).unwrap();
            let long_ago = SystemTime::now() - Duration::from_secs(20);
            File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
        }
    }

    fn seen(path: &Path) -> FileStamps {
        record_stamps(|| content(path)).1
    }

    #[test]
    fn what_stays_the_same_holds_and_what_changes_does_not() {
        let folder = Folder::new();
        folder.write("a", "one");
        let stamps = seen(&folder.at("a"));
        assert!(stamps.are_current());
        folder.write("a", "two");
        assert!(!stamps.are_current(), "the size is the same, and the time was set back");
        let stamps = seen(&folder.at("a"));
        fs::remove_file(folder.at("a")).unwrap();
        assert!(!stamps.are_current());
    }

    #[test]
    fn what_was_absent_may_appear_however_deep() {
        let folder = Folder::new();
        let stamps = seen(&folder.at("x/y/z"));
        assert_eq!(stamps.len(), 1);
        assert!(stamps.are_current());
        fs::create_dir(folder.at("x")).unwrap();
        assert!(!stamps.are_current(), "the file is not there yet, but has to be looked for again");
    }

    #[test]
    fn a_folder_changes_with_what_is_put_into_it() {
        let folder = Folder::new();
        let stamps = seen(folder.0.path());
        folder.write("new", "");
        assert!(!stamps.are_current());
        let present = record_stamps(|| presence(folder.0.path())).1;
        folder.write("newer", "");
        assert!(present.are_current(), "nobody asked what is in it");
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_a_change() {
        let folder = Folder::new();
        folder.write("one", "same");
        folder.write("two", "same");
        std::os::unix::fs::symlink("one", folder.at("link")).unwrap();
        let (content, place) = (seen(&folder.at("link")), record_stamps(|| location(&folder.at("link"))).1);
        assert!(content.are_current() && place.are_current());
        fs::remove_file(folder.at("link")).unwrap();
        std::os::unix::fs::symlink("two", folder.at("link")).unwrap();
        assert!(!content.are_current() && !place.are_current());
    }

    #[test]
    fn what_has_just_been_written_is_not_relied_on() {
        let folder = Folder::new();
        fs::write(folder.at("a"), "one").unwrap();
        assert!(!seen(&folder.at("a")).are_stable());
        assert!(seen(&folder.at("missing")).are_stable());
    }

    #[test]
    fn nothing_is_recorded_outside_a_recording() {
        let folder = Folder::new();
        content(&folder.at("a"));
        let (number, stamps) = record_stamps(|| 7);
        assert_eq!((number, stamps.len()), (7, 0));
        content(&folder.at("a"));
        assert_eq!(record_stamps(|| ()).1.len(), 0);
    }
}
