//! A file tree that holds only what the command may see.
//!
//! Everything is mounted below a new root at the path it has outside. Paths that are not mounted do not exist, which
//! holds for the sockets of the system's services too.

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

use super::{During, StepError};
use crate::plan::Plan;

/// Where the old root is while the new one is built.
const OLD_ROOT: &str = "/.old";
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
/// What programs read to learn how many processors there are.
const CPU_FOLDER: &str = "/sys/devices/system/cpu";
/// Where small files are copied: that takes less time than a mount.
const CONFIG_FOLDER: &str = "/etc";
const MAX_COPY_BYTES: u64 = 32 * 1024;

pub(super) fn build(plan: &Plan) -> Result<(), StepError> {
    let inner = mount_points().during("listing mounts")?;
    enter_new_root(&plan.temporary).during("making a file tree")?;
    // First, because handles are named by it.
    mount_proc().during("mounting /proc")?;
    let home = plan.home.as_ref().map(|(_, place)| place.clone());
    let own = [PathBuf::from("/tmp")].into_iter().chain(home).collect();
    let tree = RootBuilder { old_mounts: inner, private_folders: own, bound: RefCell::default() };
    mount_devices(&tree, plan.level)?;
    tree.bind_at(&plan.temporary, Path::new("/tmp"), MountAccess::Write)?;
    if let Some((source, place)) = &plan.home {
        tree.bind_at(source, place, MountAccess::Write)?;
    }
    for (place, target) in &plan.links {
        // One that cannot be made is a path that does not exist.
        let _ = make_link(place, target);
    }
    for path in plan.reads.iter().chain([&PathBuf::from(CPU_FOLDER)]) {
        if !(path.starts_with(CONFIG_FOLDER) && copy(path)) {
            tree.bind(path, MountAccess::Read)?;
        }
    }
    // The same folder by the name that the server knows it by.
    tree.bind(&plan.temporary, MountAccess::Write)?;
    let right = if plan.level == AccessLevel::Look { MountAccess::Read } else { MountAccess::Write };
    for path in &plan.writes {
        tree.bind(path, right)?;
    }
    if right == MountAccess::Write {
        protect(&tree, plan)?;
    }
    for path in &plan.hidden {
        hide(path).during(format!("hiding {}", path.display()))?;
    }
    detach_old_root().during("finishing the file tree")
}

/// A new root, with the old one below it.
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

/// The old root disappears, and nothing can be added to the new one.
fn detach_old_root() -> io::Result<()> {
    unmount(OLD_ROOT, UnmountFlags::DETACH)?;
    fs::remove_dir(OLD_ROOT)?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount_remount("/", flags, c"")?)
}

/// Commands that only look need no terminals and no shared memory of their own.
fn mount_devices(tree: &RootBuilder, level: AccessLevel) -> Result<(), StepError> {
    for name in DEVICES {
        tree.bind(&Path::new("/dev").join(name), MountAccess::Device)?;
    }
    for (place, target) in DEVICE_LINKS {
        symlink(target, place).during("linking devices")?;
    }
    if level == AccessLevel::Look {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let mounted = fs::create_dir("/dev/pts")
        .and_then(|()| fs::create_dir("/dev/shm"))
        .and_then(|()| {
            Ok(mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=620")?)
        })
        .and_then(|()| {
            Ok(mount("tmpfs", "/dev/shm", "tmpfs", flags | MountFlags::NODEV, c"mode=1777,size=256m")?)
        })
        .and_then(|()| symlink("pts/ptmx", "/dev/ptmx"));
    mounted.during("mounting /dev")
}

/// Only those of the new process namespace.
fn mount_proc() -> io::Result<()> {
    Ok(mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?)
}

/// Keeps paths inside of writable folders as they are. The folders above them become mounts as well, for a folder could
/// otherwise be renamed and replaced with all that is mounted below it.
fn protect(tree: &RootBuilder, plan: &Plan) -> Result<(), StepError> {
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

/// Covers what is at the path with nothing.
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

/// Puts a copy of a small file in its place. False: it has to be mounted.
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
    // The new tree holds nothing at this place yet, and no link leads there.
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

struct RootBuilder {
    /// The mounts of the old tree.
    old_mounts: Vec<PathBuf>,
    /// Folders of the conversation that commands write: `/tmp` and the home.
    private_folders: Vec<PathBuf>,
    /// What is mounted so far.
    bound: RefCell<Vec<PathBuf>>,
}

impl RootBuilder {
    fn bind(&self, path: &Path, right: MountAccess) -> Result<(), StepError> {
        self.bind_at(path, path, right)
    }

    /// Shows what is at `source` outside at `place`. What does not exist is left out. Neither path may lead through a
    /// link: a command before this one may have put it there.
    fn bind_at(&self, source: &Path, place: &Path, right: MountAccess) -> Result<(), StepError> {
        let what = || format!("mounting {}", place.display());
        let Some(outside) = open(&in_old_root(source)).during(what())? else { return Ok(()) };
        let is_folder = file_type(&outside).during(what())? == FileType::Directory;
        self.cover(place).during(what())?;
        let target = open_or_create(place, is_folder).during(what())?;
        mount_bind_recursive(handle_path(&outside), handle_path(&target)).during(what())?;
        self.bound.borrow_mut().push(place.to_owned());
        if right == MountAccess::Device {
            return Ok(());
        }
        set_mount_flags(place, right).during(what())?;
        let below = self.old_mounts.iter().filter_map(|mount| mount.strip_prefix(source).ok());
        for below in below.filter(|below| !below.as_os_str().is_empty()) {
            // Some have gone meanwhile, or are covered by another.
            set_mount_flags(&place.join(below), right).during(what())?;
        }
        Ok(())
    }
}

impl RootBuilder {
    /// Folders on the way to a mount must not be the conversation's own: another command of it, which sees them as
    /// ordinary folders, could exchange them. The first of them becomes an empty file system of this command.
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

/// Sets the flags of a mount; those it has may not be taken away. What does not exist is passed over.
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

/// A handle of what is at the path, reached through no link; none when there is nothing.
fn open(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(handle) => Ok(Some(handle)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A handle of the folder or file at the path, which is made if it is missing; through no link.
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
        // Another command of the conversation, which shares the folder, has made it in this moment.
        Ok(()) | Err(Errno::EXIST) => open(path)?.ok_or_else(gone),
        Err(error) => Err(error.into()),
    }
}

fn file_type(handle: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(handle)?.st_mode))
}

/// A path that stands for exactly what the handle is of.
fn handle_path(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

/// Where a path of the old root is now.
fn in_old_root(path: &Path) -> PathBuf {
    Path::new(OLD_ROOT).join(path.strip_prefix("/").unwrap_or(path))
}

fn make_link(place: &Path, target: &Path) -> io::Result<()> {
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let (parent, last) = place.parent().zip(place.file_name()).ok_or_else(gone)?;
    Ok(symlinkat(target, open_or_create(parent, true)?, last)?)
}

/// All mount points, as the kernel lists them: the fifth word of each line, with some characters escaped.
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
