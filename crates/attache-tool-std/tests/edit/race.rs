//! Someone exchanges folders and files for links to the outside as fast as they can, while edits go on.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use attache_tool::{Preview, Proposal};
use attache_tool_std::{ReadDigests, WriteFile};
use serde_json::json;

use super::world::World;

/// However fast the exchanging is, so many rounds of edits are tried meanwhile.
const LEAST_ROUNDS: usize = 100;

/// How often to exchange; a hurried run sets the variable to less.
fn swaps() -> usize {
    #[expect(clippy::disallowed_methods, reason = "a test may be asked for a shorter run")]
    let asked = std::env::var("ATTACHE_TEST_SWAPS");
    asked.ok().map_or(100_000, |swaps| swaps.parse().expect("ATTACHE_TEST_SWAPS is a number"))
}

/// Puts a link in the place of what is there, and puts it back. Edits may come in between at every step.
fn swap(place: &Path, aside: &Path, target: &Path) {
    // An edit that looked while the folder lay aside may have made one there: it is inside as well.
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

/// What the file has inside and outside, before and after: so no digest tells the one from the other, and nothing
/// but the path keeps an edit inside.
const SAME: &str = "the same everywhere\n";

/// Edits made in peace, to be run in the race as often as one likes.
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
        // As a model that never saw the file: nothing is refused for having changed.
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
            while left > 0 || rounds.load(Ordering::Relaxed) < LEAST_ROUNDS {
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
    let told_apart = |file: &Metadata| (file.ino(), file.ctime(), file.ctime_nsec());
    assert_eq!(told_apart(&now), told_apart(&outside), "nothing was written outside");
    let in_peace = runtime.block_on(world.write("inner/file", "at last\n"));
    assert!(in_peace.is_ok(), "{in_peace:?}");
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
