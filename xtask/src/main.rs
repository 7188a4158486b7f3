//! Developer commands: `cargo xtask tidy`, `cargo xtask test`, `cargo xtask bench`.
//!
//! Standard library and serde_json only, so that the first command on a fresh machine starts within
//! seconds. Everything it installs goes under the target folder.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to the person who ran it")]

mod bench;
mod conformance;
mod fuzz;
mod interop;
mod process;
mod setup;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  tidy              check dependency arrows and the written invariants
  test              install what the tests need, then run every check and every test
  test --quick      the same without the interop and conformance suites
  test --peers      only these suites
  test NAME...      only the Rust tests whose names contain one of the NAMEs
  interop           only the interop suite; with names, only those clients; --all adds the frameworks that take long
                    to install; --write runs all of them and renews docs/interop.md
  conformance       check attache, or the server at a URL, against A2A; --subjects checks the SDKs' servers too
  bench ...         measure; see docs/benchmarks.md
  fuzz [NAME]...    give parsers arbitrary bytes; --seconds N for each, --list for their names";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_str() {
        "tidy" => tidy::run(),
        "test" => test::run(rest),
        "bench" => bench::run(rest),
        "fuzz" => fuzz::run(rest),
        "conformance" => conformance::command(rest),
        "interop" => interop::command(rest),
        "" | "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        unknown => Err(format!("there is no command `{unknown}`\n\n{USAGE}")),
    };
    outcome.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::from(2)
    })
}
