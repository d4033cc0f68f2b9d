//! Processor time of a process, as Linux counts it.

use std::fs;
use std::time::Instant;

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

/// Seconds by the clock, and of all cores together.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// A point from which the time of this process is measured, with threads that end meanwhile.
pub(crate) struct Stopwatch {
    start: Instant,
    ticks: f64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            ticks: ticks(),
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        Spent {
            wall: self.start.elapsed().as_secs_f64(),
            // Linux counts ended threads in hundredths of a second alone.
            cpu: (ticks() - self.ticks) / 100.0,
        }
    }
}

/// Hundredths of a second that this process has used, in its own code and in the kernel.
fn ticks() -> f64 {
    let line = fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program, in parentheses, may hold spaces.
    let (_, fields) = line.rsplit_once(')').unwrap();
    let of_process = fields.split_whitespace().skip(11).take(2);
    of_process.map(|field| field.parse::<f64>().unwrap()).sum()
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
