use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use super::*;
use crate::read_digests::digest_of;

/// A workspace of two roots beside a folder that is no part of it.
struct World {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    for name in ["root/inner", "second", "scratch", "outside"] {
        std::fs::create_dir_all(place.join(name)).unwrap();
    }
    std::fs::write(place.join("root/file"), "inside").unwrap();
    std::fs::write(place.join("outside/secret"), "secret").unwrap();
    let workspace = Workspace {
        roots: vec![place.join("root"), place.join("second")],
        scratch: place.join("scratch"),
        environment: Vec::new(),
        ignore: Default::default(),
    };
    World { folder, workspace }
}

impl World {
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn place(&self, path: &str) -> WorkspacePath {
        locate(&self.workspace, path).unwrap()
    }

    fn content(&self, path: &str) -> Result<String, ToolErrorKind> {
        let mut content = String::new();
        let place = locate(&self.workspace, path).map_err(|error| error.kind)?;
        place.open_file().map_err(|error| error.kind)?.read_to_string(&mut content).unwrap();
        Ok(content)
    }
}

#[track_caller]
fn check(path: &str, expected: Result<&str, ToolErrorKind>) {
    let workspace = Workspace {
        roots: vec!["/project/one".into(), "/project/two".into()],
        scratch: "/tmp/scratch".into(),
        environment: Vec::new(),
        ignore: Default::default(),
    };
    let found = locate(&workspace, path).map(|place| place.path()).map_err(|error| error.kind);
    assert_eq!(found, expected.map(PathBuf::from), "{path:?}");
}

#[test]
fn paths_are_understood_in_words() {
    check("a/b", Ok("/project/one/a/b"));
    check(".", Ok("/project/one"));
    check("./a/../b/", Ok("/project/one/b"));
    check("a/../../one/b", Err(ToolErrorKind::PathNotInWorkspace));
    check("..", Err(ToolErrorKind::PathNotInWorkspace));
    check("/project/two/a", Ok("/project/two/a"));
    check("/project/two", Ok("/project/two"));
    check("/project/twofold/a", Err(ToolErrorKind::PathNotInWorkspace));
    check("/project/two/../three", Err(ToolErrorKind::PathNotInWorkspace));
    check("/project/x/../two/a", Ok("/project/two/a"));
    check("/tmp/scratch/output", Ok("/tmp/scratch/output"));
    check("/etc/passwd", Err(ToolErrorKind::PathNotInWorkspace));
    check("", Err(ToolErrorKind::InvalidToolParams));
    check("a\0b", Err(ToolErrorKind::InvalidToolParams));
}

#[test]
fn what_has_no_name_in_text_is_refused_though_a_link_has_one() {
    let world = world();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    std::fs::create_dir(world.at("root").join(name)).unwrap();
    symlink(name, world.at("root/link")).unwrap();
    for resolved in [
        world.place("link").resolve(),
        world.place("link").resolve_for_writing(),
        world.place("link/new").resolve_for_writing(),
    ] {
        let refused = resolved.unwrap_err();
        assert_eq!(refused.kind, ToolErrorKind::ReadContentFailure);
        assert!(refused.message.contains("is not text in UTF-8"), "{refused}");
    }
}

#[test]
fn a_refusal_names_the_roots() {
    let world = world();
    let refused = locate(&world.workspace, "/etc/passwd").unwrap_err();
    for root in &world.workspace.roots {
        assert!(refused.message.contains(root.to_str().unwrap()), "{refused}");
    }
}

#[test]
fn links_are_followed_inside_and_never_out() {
    let world = world();
    let link = |target: &str, name: &str| symlink(target, world.at("root").join(name)).unwrap();
    link("../file", "inner/up");
    link("inner", "folder");
    link("../outside/secret", "out");
    link("../outside", "out_folder");
    link(world.at("outside/secret").to_str().unwrap(), "absolute");
    link("/proc/self/root/etc/passwd", "magic");
    link("self", "self");

    assert_eq!(world.content("inner/up").as_deref(), Ok("inside"));
    assert_eq!(world.content("folder/up").as_deref(), Ok("inside"));
    assert_eq!(world.place("folder/up").resolve(), Ok(world.at("root/file")));
    for out in ["out", "out_folder/secret", "absolute", "magic", "self"] {
        assert_eq!(world.content(out), Err(ToolErrorKind::PathNotInWorkspace), "{out}");
        assert_eq!(world.place(out).resolve().unwrap_err().kind, ToolErrorKind::PathNotInWorkspace, "{out}");
        let written = world.place(out).replace(Some(&digest_of(b"secret")), b"overwritten");
        assert_eq!(written.unwrap_err().kind, ToolErrorKind::PathNotInWorkspace, "{out}");
    }
    let directory = world.place("out_folder").open_directory();
    assert_eq!(directory.unwrap_err().kind, ToolErrorKind::PathNotInWorkspace);
    assert_eq!(std::fs::read(world.at("outside/secret")).unwrap(), b"secret");
}

#[test]
fn nothing_is_made_through_a_link_that_leads_nowhere() {
    let world = world();
    symlink("../outside/new", world.at("root/dangling")).unwrap();
    symlink("missing", world.at("root/inside")).unwrap();
    for path in ["dangling", "dangling/below", "inside", "inside/below"] {
        let refused = world.place(path).replace(None, b"new").unwrap_err();
        assert_eq!(refused.kind, ToolErrorKind::PathNotInWorkspace, "{path}");
    }
    assert!(!world.at("outside/new").exists());
    assert!(!world.at("root/missing").exists());
}

#[test]
fn a_link_that_stays_inside_is_written_at_its_target() {
    let world = world();
    symlink("../file", world.at("root/inner/link")).unwrap();
    world.place("inner/link").replace(Some(&digest_of(b"inside")), b"new").unwrap();
    assert!(world.at("root/inner/link").is_symlink());
    assert_eq!(std::fs::read(world.at("root/file")).unwrap(), b"new");
}

#[test]
fn a_resolved_path_is_not_written_once_a_link_stands_in_it() {
    let world = world();
    std::fs::write(world.at("root/inner/file"), "inside").unwrap();
    let place = locate_resolved(&world.workspace, &world.at("root/inner/file")).unwrap();
    std::fs::rename(world.at("root/inner"), world.at("root/moved")).unwrap();
    symlink("moved", world.at("root/inner")).unwrap();
    let refused = place.replace(Some(&digest_of(b"inside")), b"new").unwrap_err();
    assert_eq!(refused.kind, ToolErrorKind::PathNotInWorkspace);
    assert_eq!(std::fs::read(world.at("root/moved/file")).unwrap(), b"inside");
}

#[test]
fn without_the_kernels_help_no_link_is_followed_at_all() {
    let world = world();
    symlink("inner", world.at("root/folder")).unwrap();
    symlink("file", world.at("root/link")).unwrap();
    std::fs::write(world.at("root/inner/deep"), "deep").unwrap();
    let root = beneath::open_root(&world.at("root")).unwrap();
    let open = |below: &str, flags| beneath::open_by_steps(&root, Path::new(below), flags).map(drop);
    assert_eq!(open("inner/deep", OFlags::RDONLY), Ok(()));
    assert_eq!(open("", OFlags::RDONLY | OFlags::DIRECTORY), Ok(()));
    assert_eq!(open("link", OFlags::RDONLY), Err(Errno::LOOP));
    assert_eq!(open("link", OFlags::PATH), Err(Errno::LOOP));
    assert_eq!(open("folder", OFlags::RDONLY | OFlags::DIRECTORY), Err(Errno::LOOP));
    assert_eq!(open("folder/deep", OFlags::RDONLY), Err(Errno::LOOP));
    assert_eq!(open("../outside", OFlags::RDONLY), Err(Errno::XDEV));
    assert_eq!(open("file/below", OFlags::RDONLY), Err(Errno::NOTDIR));
    assert_eq!(open("missing", OFlags::RDONLY), Err(Errno::NOENT));
}

#[test]
fn only_plain_files_are_opened() {
    let world = world();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("root/pipe"),
        FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(world.content("pipe"), Err(ToolErrorKind::ReadContentFailure));
    assert_eq!(world.content("inner"), Err(ToolErrorKind::TargetIsDirectory));
    assert_eq!(world.content("missing"), Err(ToolErrorKind::FileNotFound));
    assert_eq!(world.content("file/below"), Err(ToolErrorKind::PathIsNotADirectory));
    assert_eq!(world.place("inner").replace(None, b"").unwrap_err().kind, ToolErrorKind::TargetIsDirectory);
    assert_eq!(world.place(".").replace(None, b"").unwrap_err().kind, ToolErrorKind::TargetIsDirectory);
}

#[test]
fn writing_needs_the_file_to_be_as_expected() {
    let world = world();
    let refused = |expected: Option<&str>, path: &str| {
        world.place(path).replace(expected, b"new").unwrap_err().kind == ToolErrorKind::EditPreparationFailure
    };
    assert!(refused(None, "file"));
    assert!(refused(Some(&digest_of(b"other")), "file"));
    assert!(refused(Some(&digest_of(b"inside")), "missing"));
    let below = locate_resolved(&world.workspace, &world.at("root/gone/file")).unwrap();
    assert_eq!(below.replace(Some("digest"), b"").unwrap_err().kind, ToolErrorKind::EditPreparationFailure);
    let left: Vec<_> =
        std::fs::read_dir(world.at("root")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left behind: {left:?}");
}

#[test]
fn missing_folders_are_made() {
    let world = world();
    let place = world.place("inner/a/b/c");
    assert_eq!(place.resolve_for_writing(), Ok(world.at("root/inner/a/b/c")));
    assert!(!world.at("root/inner/a").exists(), "resolving touches nothing");
    place.replace(None, b"new").unwrap();
    assert_eq!(std::fs::read(world.at("root/inner/a/b/c")).unwrap(), b"new");
}

#[test]
fn the_scratch_folder_is_for_reading_only() {
    let world = world();
    std::fs::write(world.at("scratch/output"), "long").unwrap();
    let path = world.at("scratch/output");
    assert_eq!(world.content(path.to_str().unwrap()).as_deref(), Ok("long"));
    let refused = world.place(path.to_str().unwrap()).replace(Some(&digest_of(b"long")), b"").unwrap_err();
    assert_eq!(refused.kind, ToolErrorKind::PathNotInWorkspace);
}

#[test]
fn nothing_outside_is_read_while_a_folder_is_exchanged_for_a_link() {
    const SWAPS: usize = 2000;

    let world = world();
    std::fs::write(world.at("root/inner/secret"), "inside").unwrap();
    let (inner, aside, outside) = (world.at("root/inner"), world.at("root/aside"), world.at("outside"));
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..SWAPS {
                std::fs::rename(&inner, &aside).unwrap();
                symlink(&outside, &inner).unwrap();
                std::fs::remove_file(&inner).unwrap();
                std::fs::rename(&aside, &inner).unwrap();
            }
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !over.load(std::sync::atomic::Ordering::Relaxed) {
            if let Ok(content) = world.content("inner/secret") {
                assert_eq!(content, "inside");
            }
            if let Ok(path) = world.place("inner/secret").resolve() {
                assert!(path.starts_with(world.at("root")), "{}", path.display());
            }
        }
    });
    assert_eq!(world.content("inner/secret").as_deref(), Ok("inside"));
}
