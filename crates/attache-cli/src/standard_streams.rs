//! Standard output and standard error of the commands. In tests of this crate, what they write can be read instead.

#[cfg(test)]
mod captured;

use std::fmt::Display;
use std::io::Write;

#[cfg(test)]
pub(crate) use captured::{Stderr, Stdout, stderr, stdout, take_captured};
#[cfg(not(test))]
pub(crate) use std::io::{Stderr, Stdout, stderr, stdout};

/// A line for people. It does not matter whether they still read it.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(stderr(), "{line}");
}
