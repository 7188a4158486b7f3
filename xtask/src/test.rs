//! `cargo xtask test`: installs what is missing, then runs all checks and tests.
//!
//! One failing step does not hide the others. The last line on standard output is always
//! `N passed, N failed, N skipped`. With `CI=true` a skip fails the run, and the tests of the `fuzz` modules run, too.

mod counts;
mod options;
mod steps;

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use crate::interop::{self, Client, Framework, Install, PEERS};
use crate::setup::{self, Tools};
use crate::workspace::Workspace;
use crate::{conformance, fuzz};
pub(crate) use counts::Counts;
use counts::FAILED;
use options::{Options, TestScope};
pub(crate) use steps::counted;

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, String> {
    let options = Options::parse(arguments)?;
    // A build may replace this program by a new one.
    let program = env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let mut workspace = Workspace::load()?;
    if options.extent != TestScope::NamedTests {
        workspace = workspace.with_lints();
    }
    let mut suite = Suite::default();
    suite.run(&program, &workspace, &options);
    Ok(suite.finish(&options))
}

/// The steps run so far.
#[derive(Default)]
struct Suite {
    counts: Counts,
}

impl Suite {
    fn run(&mut self, program: &Path, workspace: &Workspace, options: &Options) {
        let needs_peers = matches!(options.extent, TestScope::Everything | TestScope::Peers);
        let peers = if needs_peers { PEERS } else { &[] };
        let quick = |framework: &&Framework| needs_peers && framework.install == Install::Quick;
        let frameworks: Vec<&Framework> = interop::frameworks().filter(quick).collect();
        let of_frameworks = frameworks.iter().map(|framework| framework.client);
        let clients: Vec<Client> = peers.iter().map(interop::Peer::client).chain(of_frameworks).collect();
        // Packages are mostly waited for, so they are installed beside the builds.
        let (built, (tools, counts)) = thread::scope(|scope| {
            let installation = scope.spawn(|| setup::prepare(workspace, &clients));
            let built = self.check_and_build(workspace, options);
            (built, installation.join().expect("installing does not panic"))
        });
        self.step("tool set-up", || Ok(counts));
        if !built {
            // Every later step would only repeat the compiler's message.
            return;
        }
        match options.extent {
            TestScope::NamedTests => self.rust_tests(workspace, &tools, options),
            TestScope::Quick => self.all_rust_tests(workspace, &tools, options),
            TestScope::Peers => self.peers(workspace, &frameworks),
            // Both kinds of tests wait much of the time, so they run beside each other.
            TestScope::Everything => thread::scope(|scope| {
                let peers = scope.spawn(|| steps::run_peers(program, workspace));
                self.all_rust_tests(workspace, &tools, options);
                self.step("conformance and other people's clients", || {
                    peers.join().expect("recording a run does not panic")
                });
            }),
        }
    }

    fn rust_tests(&mut self, workspace: &Workspace, tools: &Tools, options: &Options) {
        self.step("tests", || steps::tests(workspace, tools, &options.names));
    }

    fn all_rust_tests(&mut self, workspace: &Workspace, tools: &Tools, options: &Options) {
        self.rust_tests(workspace, tools, options);
        self.step("doc tests", || steps::doc_tests(workspace));
        // Builds most crates a second time, with another feature.
        if options.in_ci && options.extent == TestScope::Everything {
            self.step("fuzz smoke", || fuzz::smoke(workspace));
        }
    }

    /// The conformance suite and the SDK clients and frameworks of other people, against the real binary.
    fn peers(&mut self, workspace: &Workspace, frameworks: &[&Framework]) {
        self.step("conformance", || conformance::check(workspace));
        let mut cases = Vec::new();
        let mut all_well = true;
        for peer in PEERS {
            let name = format!("interop with {}", peer.name);
            all_well &= self.step(&name, || interop::run(workspace, peer, &mut cases));
        }
        for framework in frameworks {
            let name = format!("interop with {}", framework.client.name);
            all_well &= self.step(&name, || interop::run_framework(workspace, framework));
        }
        // Failures are reported already.
        if all_well {
            let check = || interop::check_table(&workspace.root, &cases).map(|()| Counts::success());
            self.step("interop table", check);
        }
    }

    /// What needs the Rust toolchain alone; true when everything was built.
    fn check_and_build(&mut self, workspace: &Workspace, options: &Options) -> bool {
        match options.extent {
            TestScope::NamedTests => return self.step("build", || steps::build(workspace)),
            TestScope::Peers => return self.step("build and clippy", || steps::lint_and_build(workspace)),
            TestScope::Everything | TestScope::Quick => {}
        }
        self.step("toolchain", setup::components);
        self.step("format", || steps::format(workspace));
        self.step("tidy", || steps::tidy(workspace));
        if setup::has_deny() {
            self.step("cargo-deny", || steps::deny(workspace));
        }
        self.step("build and clippy", || steps::lint_and_build(workspace))
    }

    /// Runs one step under a heading; true when nothing failed. A message is one failed check.
    fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Counts, String>) -> bool {
        println!("\n== {name}");
        let start = Instant::now();
        let counts = work().unwrap_or_else(|message| {
            eprintln!("error: {message}");
            Counts::failure(name)
        });
        println!("-- {name}: {counts} in {:.1} s", start.elapsed().as_secs_f64());
        let passed = counts.failed == 0;
        self.counts.add(counts);
        passed
    }

    fn finish(self, options: &Options) -> ExitCode {
        println!();
        for failure in &self.counts.failures {
            println!("{FAILED}{failure}");
        }
        if options.in_ci && self.counts.skipped > 0 {
            println!("in CI a skipped test fails the run");
        }
        println!("{}", self.counts);
        if passes(&self.counts, options.in_ci) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn passes(counts: &Counts, skips_fail: bool) -> bool {
    counts.failed == 0 && !(skips_fail && counts.skipped > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_fails_the_run_in_ci_only() {
        let skipped = Counts { passed: 3, skipped: 1, ..Counts::default() };
        assert!(passes(&skipped, false));
        assert!(!passes(&skipped, true));
        assert!(passes(&Counts::success(), true));
        assert!(!passes(&Counts::failure("format"), false));
    }

    #[test]
    fn a_step_that_only_has_a_message_is_one_failed_check() {
        let mut suite = Suite::default();
        assert!(suite.step("good", || Ok(Counts::success())));
        assert!(!suite.step("bad", || Err("no".into())));
        assert_eq!(suite.counts.to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(suite.counts.failures, ["bad"]);
    }
}
