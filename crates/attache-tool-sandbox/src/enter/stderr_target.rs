//! Adds text to the output of a command without keeping the output open.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, fstat, open};

/// The file to which the command writes its errors, by device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StderrTarget {
    device: u64,
    inode: u64,
}

impl StderrTarget {
    /// The standard error of this process.
    pub(super) fn of_stderr() -> Option<Self> {
        let status = fstat(io::stderr()).ok()?;
        Some(Self { device: status.st_dev, inode: status.st_ino })
    }

    /// Opens the file through a process that still has it open. Never opens another file that the process has put
    /// there.
    pub(super) fn open(self, processes: &[i32]) -> Option<fs::File> {
        let handles =
            processes.iter().flat_map(|pid| [2, 1].map(|number| format!("/proc/{pid}/fd/{number}")));
        let outlet = handles.filter_map(|handle| self.open_if_same(&handle)).next()?;
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let path = PathBuf::from(format!("/proc/self/fd/{}", outlet.as_raw_fd()));
        fs::File::options().write(true).custom_flags(flags).open(path).ok()
    }

    fn open_if_same(self, handle: &str) -> Option<OwnedFd> {
        let there = fs::metadata(handle).ok()?;
        if (there.dev(), there.ino()) != (self.device, self.inode) {
            return None;
        }
        let opened = open(handle, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let status = fstat(&opened).ok()?;
        ((status.st_dev, status.st_ino) == (self.device, self.inode)).then_some(opened)
    }
}

/// Writes as much as fits; the reader may have stopped.
pub(super) fn write(outlet: &mut fs::File, text: &str) {
    let _ = outlet.write_all(text.as_bytes());
}
