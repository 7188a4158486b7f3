//! Collects matches from several threads, with the same result in any order.
//!
//! Keeps only the first matches by path. Once there are enough, later paths are skipped, which saves most of the work
//! for a pattern that matches nearly everywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use attache_domain::IgnorePoison;

use super::lines::FileMatches;

pub(super) struct MatchCollector {
    most: usize,
    full: AtomicBool,
    kept: Mutex<KeptMatches>,
}

#[derive(Debug, Default)]
pub(super) struct KeptMatches {
    pub(super) files: BTreeMap<PathBuf, FileMatches>,
    pub(super) matches: usize,
    /// There may be matches that are not kept.
    pub(super) limited: bool,
}

impl MatchCollector {
    /// Keeps `most` matches, at least one.
    pub(super) fn new(most: usize) -> Self {
        Self { most, full: AtomicBool::new(false), kept: Mutex::default() }
    }

    /// Whether matches at or below this path would be dropped.
    pub(super) fn is_beyond(&self, path: &Path) -> bool {
        if !self.full.load(Ordering::Relaxed) {
            return false;
        }
        let mut kept = self.lock();
        let beyond = kept.files.last_key_value().is_some_and(|(last, _)| path > last.as_path());
        kept.limited |= beyond;
        beyond
    }

    pub(super) fn add(&self, path: &Path, found: FileMatches) {
        let mut kept = self.lock();
        kept.limited |= found.more;
        kept.matches += found.matches;
        kept.files.insert(path.to_owned(), found);
        while let Some(last) = kept.files.last_entry() {
            let matches = last.get().matches;
            if kept.matches - matches < self.most {
                break;
            }
            kept.files.pop_last();
            kept.matches -= matches;
            kept.limited = true;
        }
        if kept.matches >= self.most {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn finish(self) -> KeptMatches {
        let mut kept = self.kept.into_inner().ignore_poison();
        let surplus = kept.matches.saturating_sub(self.most);
        if surplus > 0 {
            if let Some(mut last) = kept.files.last_entry() {
                let matches = last.get().matches - surplus;
                last.get_mut().truncate(matches);
            }
            kept.matches = self.most;
            kept.limited = true;
        }
        kept
    }

    fn lock(&self) -> MutexGuard<'_, KeptMatches> {
        self.kept.lock().ignore_poison()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lines::{LineRole, MatchLine};
    use super::*;

    fn matches(count: usize) -> FileMatches {
        let line = |number| MatchLine { number, text: String::new(), role: LineRole::Match };
        FileMatches { lines: (1..=count as u64).map(line).collect(), matches: count, more: false }
    }

    #[test]
    fn folders_after_the_last_kept_match_are_beyond() {
        let found = MatchCollector::new(2);
        found.add(Path::new("/b/file"), matches(1));
        assert!(!found.is_beyond(Path::new("/z")));
        found.add(Path::new("/c/file"), matches(1));
        assert!(found.is_beyond(Path::new("/d")));
        assert!(found.is_beyond(Path::new("/c/g")));
        assert!(!found.is_beyond(Path::new("/c")));
        assert!(!found.is_beyond(Path::new("/a")));
    }

    proptest! {
        #[test]
        fn the_first_matches_by_path_are_kept_whatever_the_order(
            files in proptest::collection::btree_map("[a-c]{1,3}", 1_usize..5, 0..12), most in 1_usize..12, seed: u64,
        ) {
            let mut order: Vec<_> = files.iter().collect();
            order.sort_by_key(|(name, _)| name.bytes().fold(seed, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            }));
            let found = MatchCollector::new(most);
            for (name, count) in order {
                if !found.is_beyond(Path::new(name)) {
                    found.add(Path::new(name), matches(*count));
                }
            }
            let kept = found.finish();
            let all = files.iter().flat_map(|(name, count)| (1..=*count as u64).map(move |line| (name.as_str(), line)));
            let expected: Vec<_> = all.take(most).collect();
            let actual: Vec<_> = kept.files.iter()
                .flat_map(|(path, found)| found.lines.iter().map(|line| (path.to_str().unwrap(), line.number)))
                .collect();
            prop_assert_eq!(actual, expected);
            prop_assert_eq!(kept.matches, most.min(files.values().sum()));
            prop_assert!(kept.limited || files.values().sum::<usize>() <= most);
        }
    }
}
