//! The time that this process has used, by the clock and of all cores together.

use std::fs;
use std::time::Instant;

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
