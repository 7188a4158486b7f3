//! Caches parsed rule files, because every file access needs them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use attache_domain::IgnorePoison;
use attache_tool::FileStamp;
use ignore::gitignore::Gitignore;

use super::parse_rules;

/// Only the beginning of a larger rule file is read.
const MAX_RULES_BYTES: u64 = 1024 * 1024;

/// The cache is cleared when it has this many files.
const MAX_FILES: usize = 256;

struct CachedRules {
    folder: PathBuf,
    stamp: FileStamp,
    rules: Option<Arc<Gitignore>>,
}

/// By path of the rule file, for all conversations.
static CACHE: LazyLock<Mutex<HashMap<PathBuf, CachedRules>>> = LazyLock::new(Mutex::default);

/// The rules in `file` for the content of `folder`; none if there are none. As in git, invalid lines are skipped, and a
/// link is not followed.
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
    // A fresh file may change again without a new stamp.
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

    /// With an old modification time.
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
