//! A thread replaces folders and files with links to the outside as fast as it can while edits run.
//!
//! Without the protection of the paths an edit writes outside within a few hundred swaps. `ATTACHE_TEST_SWAPS=100000` runs
//! the long version, about a minute per test.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use attache_tool::{Preview, Proposal};
use attache_tool_std::{ReadDigests, WriteFile};
use serde_json::json;

use super::world::World;

/// The edits run at least this often, however fast the swaps are.
const MIN_ROUNDS: usize = 200;

fn swaps() -> usize {
    #[expect(clippy::disallowed_methods, reason = "the environment chooses the length of the run")]
    let requested = std::env::var("ATTACHE_TEST_SWAPS");
    requested.ok().map_or(4_000, |swaps| swaps.parse().expect("ATTACHE_TEST_SWAPS is a number"))
}

/// Replaces `place` with a link and restores it. An edit may run between any two steps.
fn swap(place: &Path, aside: &Path, target: &Path) {
    // An edit may have made a new folder while this one was moved away; that folder is inside, too.
    while std::fs::rename(place, aside).is_err() {
        let _ = std::fs::remove_dir_all(aside);
    }
    if symlink(target, place).is_ok() {
        std::fs::remove_file(place).unwrap();
    }
    while std::fs::rename(aside, place).is_err() {
        let _ = std::fs::remove_dir_all(place);
    }
}

/// The content of the file inside and outside, before and after: the digests are equal, so only the check of the path keeps
/// an edit inside.
const SAME: &str = "the same everywhere\n";

/// Edits that are proposed before the swaps begin and run while they go on.
struct Edits {
    over_existing: Proposal,
    new: Proposal,
}

impl Edits {
    async fn propose(world: &World) -> Self {
        let propose = async |path: &str| {
            let tool = WriteFile::new(Arc::new(ReadDigests::default()));
            world.propose(&tool, json!({ "file_path": path, "content": SAME })).await.unwrap()
        };
        Self { over_existing: propose("inner/file").await, new: propose("inner/new").await }
    }

    async fn run(&self, world: &World, number: usize) {
        // For a model that never read the file, so no edit is refused because the file has changed.
        let tool = WriteFile::new(Arc::new(ReadDigests::default()));
        let _ = world.run(&tool, self.over_existing.clone()).await;
        let _ = world.run(&tool, self.new_file(world, number)).await;
        let _ = world.call(&tool, json!({ "file_path": "inner/file", "content": SAME })).await;
    }

    fn new_file(&self, world: &World, number: usize) -> Proposal {
        let mut proposal = self.new.clone();
        let Preview::Edit { path, .. } = &mut proposal.shown else { panic!("an edit expected") };
        *path = world.at("inner").join(format!("new{number}"));
        proposal
    }
}

#[track_caller]
fn check(place: &str, target: PathBuf, world: &World) {
    std::fs::create_dir(world.at("inner")).unwrap();
    for file in [world.at("inner/file"), world.outside("file")] {
        std::fs::write(file, SAME).unwrap();
    }
    let outside = std::fs::metadata(world.outside("file")).unwrap();
    let (place, aside) = (world.at(place), world.at("aside"));
    let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let edits = runtime.block_on(Edits::propose(world));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut left = swaps();
            while left > 0 || rounds.load(Ordering::Relaxed) < MIN_ROUNDS {
                swap(&place, &aside, &target);
                left = left.saturating_sub(1);
            }
            over.store(true, Ordering::Relaxed);
        });
        while !over.load(Ordering::Relaxed) {
            let round = rounds.fetch_add(1, Ordering::Relaxed);
            runtime.block_on(edits.run(world, round));
        }
    });

    assert_eq!(names(&world.outside("")), ["file"], "nothing was made outside");
    let now = std::fs::metadata(world.outside("file")).unwrap();
    let identity = |file: &Metadata| (file.ino(), file.ctime(), file.ctime_nsec());
    assert_eq!(identity(&now), identity(&outside), "nothing was written outside");
    let edited = runtime.block_on(world.write("inner/file", "at last\n"));
    assert!(edited.is_ok(), "{edited:?}");
    assert_eq!(world.text("inner/file"), "at last\n");
    let leftovers =
        names(&world.at("inner")).into_iter().filter(|name| name.to_string_lossy().starts_with('.'));
    assert_eq!(leftovers.count(), 0, "nothing is left behind");
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn a_folder_that_becomes_a_link_never_leads_out() {
    let world = World::new();
    check("inner", world.outside(""), &world);
}

#[test]
fn a_folder_that_becomes_a_relative_link_never_leads_out() {
    check("inner", "../outside".into(), &World::new());
}

#[test]
fn a_file_that_becomes_a_link_never_leads_out() {
    let world = World::new();
    check("inner/file", world.outside("file"), &world);
}

#[test]
fn a_file_that_becomes_a_link_to_nothing_never_makes_anything_outside() {
    check("inner/file", "../../outside/new".into(), &World::new());
}
