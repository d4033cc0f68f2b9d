//! A line on the terminal that says what long work is at.
//!
//! It is shown once the work takes over half a second, and taken away when it ends. Nothing is
//! shown where nobody looks: in a pipe, in a build service, on a terminal that cannot erase. Drop it
//! before the result is printed.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::output;

/// Work that takes no longer needs no words.
const DELAY: Duration = Duration::from_millis(500);

/// Time between two updates of the clock.
const TICK: Duration = Duration::from_secs(1);

/// The line, for as long as the value lives; none by default.
#[derive(Default)]
pub(crate) struct Progress {
    stages: Option<Sender<String>>,
    painter: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins with a stage, such as `scanning`.
    pub(crate) fn start(stage: impl Into<String>) -> Self {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        if !io::stderr().is_terminal() || is_set("CI") || is_dumb || output::speaks_json() {
            return Self::default();
        }
        Self::paint(stage.into(), DELAY, output::show_progress)
    }

    /// Goes on to another stage.
    pub(crate) fn stage(&self, stage: impl Into<String>) {
        if let Some(stages) = &self.stages {
            // A painter that is gone has nothing to show any more.
            let _ = stages.send(stage.into());
        }
    }

    /// Gives lines to `show` after the delay, and none at the end if there was one.
    fn paint(
        stage: String,
        delay: Duration,
        show: impl FnMut(Option<&str>) + Send + 'static,
    ) -> Self {
        let (stages, next) = mpsc::channel();
        let painter = thread::Builder::new()
            .name("progress".into())
            .spawn(move || paint(stage, &next, delay, show));
        Self {
            stages: Some(stages),
            painter: painter.ok(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // The painter ends when no stage can follow.
        self.stages = None;
        if let Some(painter) = self.painter.take() {
            let _ = painter.join();
        }
    }
}

fn paint(
    mut stage: String,
    next: &Receiver<String>,
    delay: Duration,
    mut show: impl FnMut(Option<&str>),
) {
    let begun = Instant::now();
    let mut is_shown = false;
    loop {
        let wait = if is_shown {
            TICK
        } else {
            delay.saturating_sub(begun.elapsed())
        };
        match next.recv_timeout(wait) {
            Ok(next) => stage = next,
            Err(RecvTimeoutError::Timeout) => is_shown = true,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if is_shown {
            show(Some(&line(&stage, begun.elapsed())));
        }
    }
    if is_shown {
        show(None);
    }
}

/// A line that fits on a terminal of usual width: one that wraps could not be taken away.
fn line(stage: &str, time: Duration) -> String {
    let stage: String = output::one_line(stage).chars().take(60).collect();
    match time.as_secs() {
        0 => format!("{stage}…"),
        seconds => format!("{stage}… {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x01_the_stage_is_shown_and_taken_away() {
        let (send, shown) = mpsc::channel();
        let show = move |line: Option<&str>| {
            let _ = send.send(line.map(String::from));
        };
        let progress = Progress::paint("scanning".into(), Duration::ZERO, show);
        assert_eq!(shown.recv().unwrap().as_deref(), Some("scanning…"));
        progress.stage("parsing");
        let parsing = shown
            .iter()
            .find(|line| line.as_deref() != Some("scanning…"));
        assert!(parsing.unwrap().unwrap().starts_with("parsing…"));
        drop(progress);
        assert_eq!(shown.iter().last(), Some(None));
    }

    #[test]
    fn x01_short_work_shows_nothing() {
        let (send, shown) = mpsc::channel();
        let show = move |line: Option<&str>| {
            let _ = send.send(line.map(String::from));
        };
        let progress = Progress::paint("scanning".into(), Duration::from_secs(3_600), show);
        progress.stage("parsing");
        drop(progress);
        assert_eq!(shown.iter().next(), None);
        Progress::default().stage("nothing");
    }

    #[test]
    fn x01_a_line_stays_on_its_line() {
        let stage = format!("reading a\n\u{1b}[2J{}", "x".repeat(200));
        let line = line(&stage, Duration::from_secs(7));
        assert!(line.starts_with("reading a\\n\\u{1b}[2J"), "{line}");
        assert!(
            line.ends_with("x… 7 s") && line.chars().count() < 80,
            "{line}"
        );
    }
}
