//! Builds the file tree of a command, which contains only what the command may see.
//!
//! Everything is mounted below a new root at the path it has outside. Other paths do not exist, including the sockets
//! of system services.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use attache_tool::AccessLevel;
use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags, fstat, fstatvfs, mkdirat, openat, openat2,
    symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};
use rustix::process::{chdir, pivot_root};

use super::{InStep, StepError};
use crate::confinement_plan::ConfinementPlan;

/// A folder that exists everywhere. The new root is mounted there and moved away at once.
const MOUNT_POINT: &str = "/proc";
/// Where the old root is while the new one is built.
const OLD_ROOT: &str = "/.old";
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
/// Programs read the number of processors here.
const CPU_FOLDER: &str = "/sys/devices/system/cpu";
/// Small files in this folder are copied, which is faster than a mount.
const CONFIG_FOLDER: &str = "/etc";
const MAX_COPY_BYTES: u64 = 32 * 1024;

/// Starts the file tree with what every command sees: its processes, devices, and these read-only paths.
pub(super) fn begin(reads: &[PathBuf]) -> Result<RootBuilder, StepError> {
    let old_mounts = mount_points().in_step("listing mounts")?;
    enter_new_root(Path::new(MOUNT_POINT)).in_step("making a file tree")?;
    // First, because the paths of handles are in it.
    mount_proc().in_step("mounting /proc")?;
    let tree = RootBuilder {
        old_mounts,
        private_folders: Vec::new(),
        shown: RefCell::default(),
        bound: RefCell::default(),
    };
    mount_devices(&tree)?;
    tree.bind(Path::new(CPU_FOLDER), MountAccess::Read)?;
    for path in reads {
        tree.show(path)?;
    }
    Ok(tree)
}

/// Adds what the plan says, and closes the file tree.
pub(super) fn finish(mut tree: RootBuilder, plan: &ConfinementPlan) -> Result<(), StepError> {
    if let Some(path) = tree.shown.borrow().iter().find(|path| !plan.reads.contains(path)) {
        return Err(io::Error::other("the plan does not allow it"))
            .in_step(format!("showing {}", path.display()));
    }
    let home = plan.home.as_ref().map(|(_, place)| place.clone());
    tree.private_folders = [PathBuf::from("/tmp")].into_iter().chain(home).collect();
    if plan.level > AccessLevel::Look {
        mount_terminals().in_step("mounting /dev")?;
    }
    tree.bind_at(&plan.temporary, Path::new("/tmp"), MountAccess::Write)?;
    if let Some((source, place)) = &plan.home {
        tree.bind_at(source, place, MountAccess::Write)?;
    }
    for (place, target) in &plan.links {
        // If a link cannot be created, its path does not exist.
        let _ = make_link(place, target);
    }
    for path in &plan.reads {
        tree.show(path)?;
    }
    // The same folder at the path that the server uses.
    tree.bind(&plan.temporary, MountAccess::Write)?;
    let right = if plan.level == AccessLevel::Look { MountAccess::Read } else { MountAccess::Write };
    for path in &plan.writes {
        tree.bind(path, right)?;
    }
    if right == MountAccess::Write {
        protect(&tree, plan)?;
    }
    for path in &plan.hidden {
        hide(path).in_step(format!("hiding {}", path.display()))?;
    }
    detach_old_root().in_step("finishing the file tree")
}

/// Enters a new root that has the old one below it.
fn enter_new_root(mount_point: &Path) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", mount_point, "tmpfs", flags, c"mode=0755,size=16m")?;
    let old = mount_point.join(&OLD_ROOT[1..]);
    fs::create_dir(&old)?;
    pivot_root(mount_point, &old)?;
    chdir("/")?;
    for folder in ["/dev", "/proc", "/run", "/tmp", "/var", "/etc"] {
        fs::create_dir_all(folder)?;
    }
    symlink("/tmp", "/var/tmp")?;
    symlink("/run", "/var/run")
}

/// Removes the old root and makes the new one read-only.
fn detach_old_root() -> io::Result<()> {
    unmount(OLD_ROOT, UnmountFlags::DETACH)?;
    fs::remove_dir(OLD_ROOT)?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount_remount("/", flags, c"")?)
}

fn mount_devices(tree: &RootBuilder) -> Result<(), StepError> {
    for name in DEVICES {
        tree.bind(&Path::new("/dev").join(name), MountAccess::Device)?;
    }
    for (place, target) in DEVICE_LINKS {
        symlink(target, place).in_step("linking devices")?;
    }
    Ok(())
}

/// Terminals and shared memory, which commands that only look do not need.
fn mount_terminals() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    fs::create_dir("/dev/pts")?;
    mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=620")?;
    symlink("pts/ptmx", "/dev/ptmx")?;
    fs::create_dir("/dev/shm")?;
    Ok(mount("tmpfs", "/dev/shm", "tmpfs", flags | MountFlags::NODEV, c"mode=1777,size=256m")?)
}

/// Shows only the processes of the new process namespace.
fn mount_proc() -> io::Result<()> {
    Ok(mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?)
}

/// Makes protected paths inside writable folders read-only. The folders above them become mounts as well. Otherwise a
/// command could rename such a folder with everything mounted below it and create another one.
fn protect(tree: &RootBuilder, plan: &ConfinementPlan) -> Result<(), StepError> {
    let mut above: Vec<&Path> = Vec::new();
    for path in plan.protected.iter().chain(&plan.hidden) {
        let Some(root) = plan.writes.iter().filter(|root| path.starts_with(root)).max() else { continue };
        let between = path.ancestors().skip(1).take_while(|folder| *folder != root);
        above.extend(between);
    }
    above.sort_unstable();
    above.dedup();
    for folder in above {
        tree.bind(folder, MountAccess::Write)?;
    }
    for path in &plan.protected {
        tree.bind(path, MountAccess::Read)?;
    }
    Ok(())
}

/// Covers the path with an empty file or folder.
fn hide(path: &Path) -> io::Result<()> {
    let Some(handle) = open(path)? else { return Ok(()) };
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    match file_type(&handle)? {
        FileType::Directory => {
            Ok(mount("tmpfs", handle_path(&handle), "tmpfs", flags, c"mode=0755,size=4k")?)
        }
        FileType::RegularFile => Ok(mount_bind_recursive("/dev/null", handle_path(&handle))?),
        _ => Ok(()),
    }
}

/// Copies a small file into the new tree. False: the file must be mounted.
fn copy(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = openat2(CWD, in_old_root(path), flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) else {
        return false;
    };
    let file = fs::File::from(file);
    if !file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_COPY_BYTES) {
        return false;
    }
    let mut content = Vec::new();
    let is_read = file.take(MAX_COPY_BYTES + 1).read_to_end(&mut content).is_ok();
    // The new tree has nothing at this path yet, and no link leads there.
    is_read
        && content.len() as u64 <= MAX_COPY_BYTES
        && path.parent().is_some_and(|folder| open_or_create(folder, true).is_ok())
        && fs::write(path, content).is_ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MountAccess {
    Read,
    Write,
    Device,
}

pub(super) struct RootBuilder {
    /// The mount points of the old tree.
    old_mounts: Vec<PathBuf>,
    /// Writable folders of the conversation: `/tmp` and the home.
    private_folders: Vec<PathBuf>,
    /// The readable paths so far.
    shown: RefCell<Vec<PathBuf>>,
    /// The paths mounted so far.
    bound: RefCell<Vec<PathBuf>>,
}

impl RootBuilder {
    /// Makes a path readable, once.
    fn show(&self, path: &Path) -> Result<(), StepError> {
        if self.shown.borrow().iter().any(|shown| shown == path) {
            return Ok(());
        }
        if !(path.starts_with(CONFIG_FOLDER) && copy(path)) {
            self.bind(path, MountAccess::Read)?;
        }
        self.shown.borrow_mut().push(path.to_owned());
        Ok(())
    }

    fn bind(&self, path: &Path, right: MountAccess) -> Result<(), StepError> {
        self.bind_at(path, path, right)
    }

    /// Mounts the old tree's `source` at `place`. Skips a source that does not exist. Refuses links in both paths,
    /// because an earlier command may have created them.
    fn bind_at(&self, source: &Path, place: &Path, right: MountAccess) -> Result<(), StepError> {
        let what = || format!("mounting {}", place.display());
        let Some(outside) = open(&in_old_root(source)).in_step(what())? else { return Ok(()) };
        let is_folder = file_type(&outside).in_step(what())? == FileType::Directory;
        self.cover(place).in_step(what())?;
        let target = open_or_create(place, is_folder).in_step(what())?;
        mount_bind_recursive(handle_path(&outside), handle_path(&target)).in_step(what())?;
        self.bound.borrow_mut().push(place.to_owned());
        if right == MountAccess::Device {
            return Ok(());
        }
        set_mount_flags(place, right).in_step(what())?;
        let below = self.old_mounts.iter().filter_map(|mount| mount.strip_prefix(source).ok());
        for below in below.filter(|below| !below.as_os_str().is_empty()) {
            // Skips mounts that are gone or covered.
            set_mount_flags(&place.join(below), right).in_step(what())?;
        }
        Ok(())
    }
}

impl RootBuilder {
    /// Covers the first folder on the way to a mount inside a private folder with an empty file system. Another command
    /// of the conversation could otherwise replace the folders on the way.
    fn cover(&self, place: &Path) -> io::Result<()> {
        let Some(own) =
            self.private_folders.iter().filter(|own| place.starts_with(own) && place != **own).max()
        else {
            return Ok(());
        };
        let below = place.strip_prefix(own).unwrap_or(place);
        let mut names = below.components();
        let (Some(first), Some(_)) = (names.next(), names.next()) else { return Ok(()) };
        let first = own.join(first);
        let between = |bound: &PathBuf| place.starts_with(bound) && bound.starts_with(own) && bound != own;
        if self.bound.borrow().iter().any(between) {
            return Ok(());
        }
        let folder = open_or_create(&first, true)?;
        mount(
            "tmpfs",
            handle_path(&folder),
            "tmpfs",
            MountFlags::NOSUID | MountFlags::NODEV,
            c"mode=0755,size=64m",
        )?;
        self.bound.borrow_mut().push(first);
        Ok(())
    }
}

/// Sets the flags of a mount and keeps those it has. Skips a path that does not exist.
fn set_mount_flags(place: &Path, right: MountAccess) -> io::Result<()> {
    let Some(handle) = open(place)? else { return Ok(()) };
    let has = fstatvfs(&handle)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
    for (known, flag) in [
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        flags.set(flag, has.contains(known));
    }
    flags.set(MountFlags::RDONLY, right == MountAccess::Read || has.contains(StatVfsMountFlags::RDONLY));
    Ok(mount_remount(handle_path(&handle), flags, c"")?)
}

/// Opens a path without following links. None if it does not exist.
fn open(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(handle) => Ok(Some(handle)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder or file without following links, and creates it if it is missing.
fn open_or_create(path: &Path, is_folder: bool) -> io::Result<OwnedFd> {
    if let Some(handle) = open(path)? {
        return Ok(handle);
    }
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let (parent, last) = path.parent().zip(path.file_name()).ok_or_else(gone)?;
    let parent = open_or_create(parent, true)?;
    let made = if is_folder {
        mkdirat(&parent, last, Mode::from_raw_mode(0o755))
    } else {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&parent, last, flags, Mode::from_raw_mode(0o644)).map(drop)
    };
    match made {
        // Another command of the conversation may have created it at this moment.
        Ok(()) | Err(Errno::EXIST) => open(path)?.ok_or_else(gone),
        Err(error) => Err(error.into()),
    }
}

fn file_type(handle: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(handle)?.st_mode))
}

/// A path to exactly the file of the handle.
fn handle_path(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

/// The current path of a path of the old root.
fn in_old_root(path: &Path) -> PathBuf {
    Path::new(OLD_ROOT).join(path.strip_prefix("/").unwrap_or(path))
}

fn make_link(place: &Path, target: &Path) -> io::Result<()> {
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let (parent, last) = place.parent().zip(place.file_name()).ok_or_else(gone)?;
    Ok(symlinkat(target, open_or_create(parent, true)?, last)?)
}

/// All mount points: the fifth word of each line, with some characters escaped.
fn mount_points() -> io::Result<Vec<PathBuf>> {
    let list = fs::read("/proc/self/mountinfo")?;
    let lines = list.split(|byte| *byte == b'\n');
    let points = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    Ok(points.map(|point| PathBuf::from(unescape(point))).collect())
}

fn unescape(text: &[u8]) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStrExt;
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let value = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 8).ok());
        plain.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[3..] } else { after };
    }
    OsStr::from_bytes(&plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_unescaped() {
        assert_eq!(unescape(br"/a\040b\134c\012d\0"), OsStr::new("/a b\\c\nd\\0"));
    }
}
