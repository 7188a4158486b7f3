//! Waits for what a test is about.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use attache_testkit::ServerLaunch;
pub(crate) use attache_testkit::agent_client::{
    artifact, check, drop_in, frames, is_final, is_question, lines, message_in, open, reaches, replay, task,
};
pub(crate) use attache_testkit::model_requests::{asked, outputs, told};
pub(crate) use attache_testkit::model_server::gemini::{batch, silent, stuck};
pub(crate) use attache_testkit::waiting::{eventually, lives};

use crate::agent_world::work;

/// Tells whether a command lives, whichever namespace its processes are in: one that runs `exec 9>NAME.alive; echo started >&9`
/// keeps the pipe open.
pub(crate) struct Pipe(File);

impl Pipe {
    pub(crate) fn of(launch: &ServerLaunch, name: &str) -> Self {
        let path = work(launch).join(format!("{name}.alive"));
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let nonblocking = 0o4000;
        Self(File::options().read(true).custom_flags(nonblocking).open(path).unwrap())
    }

    pub(crate) fn has_started(&self) -> bool {
        (&self.0).read(&mut [0; 64]).is_ok_and(|count| count > 0)
    }

    /// All have closed it, which only their end does.
    pub(crate) fn is_over(&self) -> bool {
        match (&self.0).read(&mut [0; 64]) {
            Ok(count) => count == 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }
}
