//! Processor time of a process, as Linux counts it.

use std::fs;

/// A point from which processor time is measured.
pub(crate) struct Cpu {
    process: String,
    start: f64,
}

impl Cpu {
    /// From now on, of this process.
    pub(crate) fn of_self() -> Self {
        Self::of("self".to_owned())
    }

    /// From now on, of another process.
    pub(crate) fn of(process: String) -> Self {
        let start = total(&process);
        Self { process, start }
    }

    /// The time since then, in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        total(&self.process) - self.start
    }
}

/// The sum over all threads, which the kernel counts in nanoseconds.
fn total(process: &str) -> f64 {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of_thread = |entry: fs::DirEntry| -> f64 {
        let path = entry.path().join("schedstat");
        let line = fs::read_to_string(path).unwrap_or_default();
        let nanoseconds = line.split(' ').next().unwrap_or_default();
        nanoseconds.parse::<f64>().unwrap_or(0.0) / 1e9
    };
    threads.flatten().map(of_thread).sum()
}
