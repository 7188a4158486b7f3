//! Nothing but the confined side, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == attache_tool_sandbox::ENTER => attache_tool_sandbox::enter(arguments),
        _ => ExitCode::from(2),
    }
}
