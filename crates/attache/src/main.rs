//! attache: a coding agent that lives on the network.
//!
//! The binary: command line, wiring, logging, exit codes. The only place that reads the environment and the
//! current folder, prints, or exits.

mod cli;
mod logging;
mod report;
mod serve;
mod toolbox;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The system's huge pages would make two megabytes resident wherever a few bytes are used. First, because
    // it counts for memory touched from now on; a system without them has nothing to switch off.
    let _ = nix::sys::prctl::set_thp_disable(true);
    let result = match Cli::parse().command {
        Command::Serve(arguments) => serve::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}
