//! `cargo xtask fuzz`: runs libFuzzer on every parser of foreign bytes.
//!
//! The targets are in the folder `fuzz`. They call the `fuzz` modules of the crates, which are behind the cargo feature
//! `fuzz`. The corpus of a target is kept under the target folder for the next run. An input that fails is shown with the
//! command that tries it again; it belongs into the tests of its crate.
//!
//! The `fuzz` modules also have tests with generated input. `--smoke` runs only these; `cargo xtask test` runs them
//! with `CI=true`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::process;
use crate::test::{Counts, counted};
use crate::workspace::Workspace;

const USAGE: &str = "usage: cargo xtask fuzz [NAME]... [--seconds N] [--list] [--smoke]";
const DEFAULT_SECONDS: u32 = 60;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    /// Only targets whose names contain one of these; empty: all.
    names: Vec<String>,
    /// For each target.
    seconds: u32,
    list: bool,
    smoke: bool,
}

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, String> {
    let options = Options::parse(arguments)?;
    let workspace = Workspace::load()?;
    if options.smoke {
        let counts = smoke(&workspace)?;
        println!("{counts}");
        return Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let folder = workspace.root.join("fuzz");
    let manifest = manifest(&workspace)?;
    let all = targets(&manifest);
    let chosen: Vec<&str> = all.iter().copied().filter(|name| options.wants(name)).collect();
    if chosen.is_empty() {
        return Err(format!("no target has such a name; there are: {}", all.join(", ")));
    }
    if options.list {
        println!("{}", chosen.join("\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let fuzzing = FuzzBuild { program: program(&workspace)?, kept: workspace.target.join("fuzz"), folder };
    // cargo-fuzz takes one name or none; with none cargo looks at the dependencies once and not once for each target.
    let built = fuzzing.build(if chosen.len() == all.len() { None } else { Some(&chosen) })?;
    let mut failed = Vec::new();
    for name in chosen {
        if !fuzzing.fuzz(&built, name, options.seconds)? {
            failed.push(name);
        }
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// Runs the tests of the `fuzz` modules.
pub(crate) fn smoke(workspace: &Workspace) -> Result<Counts, String> {
    let manifest = manifest(workspace)?;
    let mut command = workspace.cargo();
    command.args(["test", "--lib", "--features", "fuzz", "--no-fail-fast"]);
    for package in packages(&manifest) {
        command.args(["--package", package]);
    }
    counted(command.args(["--", "fuzz"]), Counts::of_libtest)
}

fn manifest(workspace: &Workspace) -> Result<String, String> {
    fs::read_to_string(workspace.root.join("fuzz/Cargo.toml"))
        .map_err(|error| format!("the manifest of the fuzz targets: {error}"))
}

/// The packages whose `fuzz` feature a manifest turns on.
fn packages(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().filter(|line| line.contains("features = [\"fuzz\"]"));
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

impl Options {
    fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let mut options = Self { names: Vec::new(), seconds: DEFAULT_SECONDS, list: false, smoke: false };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => options.list = true,
                "--smoke" => options.smoke = true,
                "--seconds" => match arguments.next().and_then(|text| text.parse().ok()) {
                    Some(seconds @ 1..) => options.seconds = seconds,
                    _ => return Err(format!("--seconds takes a number from 1 on\n\n{USAGE}")),
                },
                other if other.starts_with('-') => {
                    return Err(format!("there is no option `{other}`\n\n{USAGE}"));
                }
                _ => options.names.push(argument),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| name.contains(wanted.as_str()))
    }
}

/// The names of the programs in a manifest.
fn targets(manifest: &str) -> Vec<&str> {
    let programs = manifest.split("[[bin]]").skip(1);
    programs.filter_map(|text| text.split("name = \"").nth(1)?.split('"').next()).collect()
}

/// cargo-fuzz of the machine, or the one among the tests' own tools.
fn program(workspace: &Workspace) -> Result<PathBuf, String> {
    let ours = workspace.test_tools().join("cargo/bin/cargo-fuzz");
    let mut known = [PathBuf::from("cargo-fuzz"), ours].into_iter();
    known.find(|program| process::works(program, &["--version"])).ok_or_else(|| {
        "cargo-fuzz is not on this machine\n\ninstall it with: cargo install cargo-fuzz --locked".to_owned()
    })
}

struct FuzzBuild {
    program: PathBuf,
    /// The folder of the targets.
    folder: PathBuf,
    /// The folder of the build and the corpora.
    kept: PathBuf,
}

impl FuzzBuild {
    /// Builds the named targets, or all, and returns their folder. Without a sanitizer: our code has no unsafe blocks to
    /// check, and a stable compiler can build it.
    fn build(&self, names: Option<&[&str]>) -> Result<PathBuf, String> {
        println!("building (long, the first time)");
        let build = |name: Option<&str>| {
            let mut command = Command::new(&self.program);
            command.args(["build", "--sanitizer", "none", "--fuzz-dir"]).arg(&self.folder);
            command.arg("--target-dir").arg(self.kept.join("build")).args(name);
            command.current_dir(&self.folder).env("RUSTC_BOOTSTRAP", "1").env_remove("CARGO_TARGET_DIR");
            process::succeed(&mut command)
        };
        match names {
            None => build(None)?,
            Some(names) => names.iter().try_for_each(|name| build(Some(name)))?,
        }
        let about = process::stdout_of(Command::new("rustc").arg("-vV"))?;
        let host = about.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(self.kept.join("build").join(host.ok_or("rustc does not say what it builds for")?).join("release"))
    }

    /// Runs one target. Returns whether it found no failure.
    fn fuzz(&self, built: &Path, name: &str, seconds: u32) -> Result<bool, String> {
        println!("{name}: {seconds} s");
        let (corpus, found) = (self.kept.join("corpus").join(name), self.kept.join("found").join(name));
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let mut command = Command::new(built.join(name));
        command.arg(&corpus);
        // Named like the target, or like the first word of its name for all of a crate's targets.
        for seeds in [name, name.split('_').next().unwrap_or(name)] {
            let seeds = self.folder.join("seeds").join(seeds);
            if seeds.is_dir() {
                command.arg(seeds);
            }
        }
        command.arg(format!("-max_total_time={seconds}"));
        command.arg(format!("-artifact_prefix={}/", found.display()));
        command.args([
            "-max_len=16384",
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            "-verbosity=0",
        ]);
        let outcome = process::show(&mut command)?;
        if !outcome.success {
            println!("{name} failed; try it again with: {} INPUT", built.join(name).display());
        }
        Ok(outcome.success)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn names_pick_targets_and_none_picks_all() {
        let options = parse("wire --seconds 5 card").unwrap();
        assert!(options.wants("wire_rest") && options.wants("card") && !options.wants("std_edit"));
        assert_eq!(options.seconds, 5);
        assert!(parse("").unwrap().wants("std_edit"));
        assert!(parse("--seconds 0").is_err());
        assert!(parse("--fast").is_err());
    }

    #[test]
    fn every_package_with_fuzz_functions_is_smoke_tested() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap());
        let with_functions = crates.filter(|entry| entry.path().join("src/fuzz.rs").is_file());
        let mut expected: Vec<String> =
            with_functions.map(|entry| entry.file_name().into_string().unwrap()).collect();
        expected.sort();
        assert_eq!(packages(&manifest), expected);
    }

    #[test]
    fn every_target_is_a_program_with_a_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let mut listed: Vec<String> =
            targets(&manifest).into_iter().map(|name| format!("{name}.rs")).collect();
        listed.sort();
        let files = fs::read_dir(folder.join("targets")).unwrap();
        let mut there: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        there.sort();
        assert_eq!(listed, there);
    }
}
