//! Runs a program and measures it with its children: seconds, CPU seconds and peak memory.
//!
//! Python asks the system, which counts a child's memory from that of its parent on: the parent must
//! be small.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command::output_of;
use crate::statistics::median;

/// Time and memory of one run.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Run {
    pub(super) wall: f64,
    /// Seconds of all cores together.
    pub(super) cpu: f64,
    pub(super) megabytes: f64,
}

/// Runs it with stdout in the file, which must not stay empty: to write nothing is fast.
pub(super) fn run(command: &Command, stdout: &Path) -> Result<Run> {
    let name = command.get_program();
    let stderr = stdout.with_extension("err");
    // A child's peak memory includes what its parent had when it was started, and this process is large.
    let mut python = Command::new("python3");
    python.args(["-c", include_str!("measure.py")]);
    python.args([stdout, &stderr]).arg(name);
    python.args(command.get_args());
    for (variable, value) in command.get_envs() {
        // Variables of the command alone: the others are inherited by both.
        python.env(variable, value.unwrap_or_default());
    }
    let figures = output_of(&mut python)?;
    let ended: Ended =
        serde_json::from_str(&figures).with_context(|| format!("unexpected figures: {figures}"))?;
    // A program that fails at once would win every comparison.
    if ended.code != 0 || fs::metadata(stdout)?.len() == 0 {
        let stderr = fs::read_to_string(&stderr).unwrap_or_default();
        let last = stderr.trim_end().lines().last().unwrap_or("nothing");
        let name = Path::new(name).file_name().unwrap_or(name);
        let (name, code) = (name.to_string_lossy(), ended.code);
        bail!("{name} gave no answer (exit code {code}), and said: {last}");
    }
    Ok(ended.run)
}

#[derive(Deserialize)]
struct Ended {
    code: i32,
    #[serde(flatten)]
    run: Run,
}

/// The runs of one program in one state.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    pub(super) fn add(&mut self, run: Run) {
        self.0.push(run);
    }

    pub(super) fn wall(&self) -> f64 {
        self.median(|run| run.wall)
    }

    pub(super) fn cpu(&self) -> f64 {
        self.median(|run| run.cpu)
    }

    /// The most of all runs.
    pub(super) fn peak(&self) -> f64 {
        let runs = self.0.iter().map(|run| run.megabytes);
        runs.reduce(f64::max).unwrap_or(f64::NAN)
    }

    /// The middle one; no number when nothing was run, which misses every limit.
    fn median(&self, pick: fn(&Run) -> f64) -> f64 {
        median(self.0.iter().map(pick)).unwrap_or(f64::NAN)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Run> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&command, &folder.path().join("out"))
    }

    #[test]
    #[ignore = "needs Python: cargo xtask test"]
    fn a_run_is_measured_with_its_children() {
        let run =
            shell("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i'").unwrap();
        assert!(
            run.cpu > 0.0 && run.wall > 0.0 && run.megabytes > 0.1,
            "{run:?}"
        );
    }

    #[test]
    #[ignore = "needs Python: cargo xtask test"]
    fn no_answer_is_an_error() {
        let failed = shell("echo yes; echo it broke >&2; exit 3").unwrap_err();
        assert!(failed.to_string().ends_with("said: it broke"), "{failed}");
        assert!(shell("exit 0").is_err());
    }

    #[test]
    fn the_middle_run_counts() {
        let mut runs = Runs::default();
        assert!(runs.wall().is_nan());
        for wall in [9.0, 1.0, 2.0] {
            let (cpu, megabytes) = (wall * 2.0, wall * 3.0);
            runs.add(Run {
                wall,
                cpu,
                megabytes,
            });
        }
        assert_eq!((runs.wall(), runs.cpu(), runs.peak()), (2.0, 4.0, 27.0));
    }
}
