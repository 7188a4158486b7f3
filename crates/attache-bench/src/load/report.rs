//! The report of a mode: counts, percentiles, and the generator's own CPU.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

/// What the kernel counts CPU time in on every Linux this runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// Measures wall time and the process's CPU from its creation.
pub(super) struct Stopwatch {
    started: Instant,
    cpu: f64,
}

impl Stopwatch {
    pub(super) fn start() -> anyhow::Result<Self> {
        Ok(Self { cpu: own_cpu_seconds()?, started: Instant::now() })
    }

    /// Adds `elapsed_seconds` and `load_cpu_seconds` to an object.
    pub(super) fn stop(&self, mut report: Value) -> anyhow::Result<Value> {
        report["elapsed_seconds"] = json!(self.started.elapsed().as_secs_f64());
        report["load_cpu_seconds"] = json!(own_cpu_seconds()? - self.cpu);
        Ok(report)
    }
}

/// Percentiles of samples in microseconds; null when there are none.
pub(super) fn percentiles(mut samples: Vec<u32>) -> Value {
    samples.sort_unstable();
    let (Some(max), count) = (samples.last().copied(), samples.len()) else {
        return Value::Null;
    };
    let at = |share: f64| samples[((count as f64 * share).ceil() as usize).clamp(1, count) - 1];
    json!({ "p50_us": at(0.5), "p90_us": at(0.9), "p99_us": at(0.99), "max_us": max, "count": count })
}

/// Microseconds since `since`, as percentiles want them.
pub(super) fn micros_since(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX)
}

pub(super) fn print(report: &Value) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{report}")?;
    output.flush()?;
    Ok(())
}

/// User and system time of all threads, as the kernel counts it.
fn own_cpu_seconds() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("cannot read own CPU time")?;
    cpu_seconds_of(&stat).context("own CPU time has an unknown form")
}

/// The second field is the program's name in brackets, which may hold anything. The other fields are counted after it.
fn cpu_seconds_of(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_that_occurred() {
        let summary = percentiles((1..=200).rev().collect());
        assert_eq!(
            summary,
            json!({ "p50_us": 100, "p90_us": 180, "p99_us": 198, "max_us": 200, "count": 200 })
        );
        assert_eq!(percentiles(vec![7])["p99_us"], 7);
        assert_eq!(percentiles(Vec::new()), Value::Null);
    }

    #[test]
    fn cpu_time_is_read_behind_a_name_with_brackets_and_spaces() {
        let stat = "42 (a) b) S 1 42 42 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 3 0 1000 1 1";
        assert_eq!(cpu_seconds_of(stat), Some(1.75));
    }
}
