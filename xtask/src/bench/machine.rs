//! The machine a table was made on, as far as a reader of the numbers needs it.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::process;

/// One line: processor, cores, memory, kernel and compiler. No name or place of the machine.
pub(super) fn facts(took: Duration) -> Result<String, String> {
    let cores = std::thread::available_parallelism().map_err(|error| format!("cores: {error}"))?;
    let processor = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory = line_of("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(String::new, |kibibytes| format!("{:.0} GiB, ", kibibytes / 1024.0 / 1024.0));
    let release =
        fs::read_to_string("/proc/sys/kernel/osrelease").map_err(|error| format!("kernel: {error}"))?;
    let kernel: String = release.split('.').take(2).collect::<Vec<_>>().join(".");
    let compiler = process::stdout_of(Command::new("rustc").arg("--version"))?;
    Ok(format!(
        "Measurement on {cores} cores ({processor}), {memory}Linux {kernel}, {}, in {:.0} s.\n",
        compiler.trim(),
        took.as_secs_f64()
    ))
}

/// What stands behind `name` and a colon in one of the kernel's lists.
fn line_of(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
