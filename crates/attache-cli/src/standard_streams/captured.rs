//! Keeps what the commands of this thread write. Commands run in the thread that calls them.

use std::cell::RefCell;
use std::io::Write;
use std::mem::take;

thread_local! {
    static OUT: RefCell<Vec<u8>> = RefCell::default();
    static ERR: RefCell<Vec<u8>> = RefCell::default();
}

pub(crate) struct Stdout;
pub(crate) struct Stderr;

pub(crate) fn stdout() -> Stdout {
    Stdout
}

pub(crate) fn stderr() -> Stderr {
    Stderr
}

/// What was written to standard output and standard error since the last time.
pub(crate) fn take_captured() -> (String, String) {
    let text = |bytes: &RefCell<Vec<u8>>| String::from_utf8(take(&mut *bytes.borrow_mut())).unwrap();
    (OUT.with(text), ERR.with(text))
}

impl Stdout {
    pub(crate) fn lock(&self) -> Self {
        Self
    }
}

impl Stderr {
    pub(crate) fn lock(&self) -> Self {
        Self
    }

    pub(crate) fn is_terminal(&self) -> bool {
        false
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        OUT.with(|out| out.borrow_mut().write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        ERR.with(|err| err.borrow_mut().write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
