//! Files of rules that were read before. To understand one takes long, and every look at a file asks for them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use attache_domain::IgnorePoison;
use attache_tool::FileStamp;
use ignore::gitignore::Gitignore;

use super::parse_rules;

/// A longer file of rules is read only so far.
const MAX_RULES_BYTES: u64 = 1024 * 1024;

/// So many files are remembered; with one more, all are forgotten.
const MAX_FILES: usize = 256;

struct CachedRules {
    folder: PathBuf,
    stamp: FileStamp,
    rules: Option<Arc<Gitignore>>,
}

/// By the file. The same for every conversation.
static CACHE: LazyLock<Mutex<HashMap<PathBuf, CachedRules>>> = LazyLock::new(Mutex::default);

/// The rules in `file`, which speak of what is in `folder`; none when there are none. As with git, lines that are no
/// rules are passed over, and rules behind a link do not count.
pub(super) fn rules(folder: &Path, file: &Path) -> Option<Arc<Gitignore>> {
    let metadata = fs::symlink_metadata(file).ok().filter(|metadata| metadata.is_file())?;
    let stamp = FileStamp::of(&metadata);
    let all = || CACHE.lock().ignore_poison();
    if let Some(known) = all().get(file).filter(|known| known.stamp == stamp && known.folder == folder) {
        return known.rules.clone();
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
    let rules = parse_rules(folder, &bytes).map(Arc::new);
    // What has just been written may be written again, and nobody could tell.
    if !stamp.is_fresh() {
        let known = CachedRules { folder: folder.to_owned(), stamp, rules: rules.clone() };
        let mut all = all();
        if all.len() >= MAX_FILES {
            all.clear();
        }
        all.insert(file.to_owned(), known);
    }
    rules
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Long ago, so that its time says something.
    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(20);
        File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }

    fn hides(folder: &Path, file: &Path, name: &str) -> bool {
        rules(folder, file).is_some_and(|rules| rules.matched(folder.join(name), false).is_ignore())
    }

    #[test]
    fn rules_that_change_count_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".gitignore");
        write(&file, "*.one");
        std::thread::sleep(Duration::from_millis(60));
        assert!(hides(folder.path(), &file, "a.one") && !hides(folder.path(), &file, "a.two"));
        let known = rules(folder.path(), &file).unwrap();
        assert!(Arc::ptr_eq(&known, &rules(folder.path(), &file).unwrap()), "they were read once");
        write(&file, "*.two");
        assert!(!hides(folder.path(), &file, "a.one") && hides(folder.path(), &file, "a.two"));
        fs::remove_file(&file).unwrap();
        assert!(!hides(folder.path(), &file, "a.two"));
    }

    #[test]
    fn the_same_file_may_speak_of_several_folders() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("rules"), folder.path().join("other"));
        write(&file, "/here");
        std::thread::sleep(Duration::from_millis(60));
        assert!(hides(folder.path(), &file, "here"));
        assert!(hides(&other, &file, "here") && hides(folder.path(), &file, "here"));
    }
}
