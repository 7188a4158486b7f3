//! The threads of the async runtime.

use std::thread;

use tokio::runtime::{Builder, Runtime};

/// `workers`, or by default one for each core but one.
///
/// Workers hand each other work and wake each other up for it, which costs more than it gains where they have no core to
/// themselves: the thread that writes the log, the tools and the programs they start need one too. With two cores, a second
/// worker made every message a third dearer, and with the log on disk fewer were answered (docs/benchmarks.md).
pub(crate) fn start(workers: Option<usize>) -> std::io::Result<Runtime> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.unwrap_or(cores.saturating_sub(1)).max(1);
    Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}
