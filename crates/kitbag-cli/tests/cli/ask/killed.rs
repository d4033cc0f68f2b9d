//! `kitbag ask`, killed at random moments: no message is lost that reached the upstream, none is there
//! twice, and the store goes on.

use std::env;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::key::assert_key_is_nowhere;
use super::upstream::{self, Reply, Upstream};
use super::{ask_served, served};
use crate::run::Folder;

/// A round is a process that is started and killed.
fn rounds() -> usize {
    match env::var("KITBAG_CRASH_ROUNDS") {
        Ok(rounds) => rounds.parse().unwrap(),
        Err(_) => 40,
    }
}

#[test]
fn o08_asks_that_are_killed_at_random_lose_and_double_nothing() {
    let upstream = Upstream::answering(|_| Reply::stream(upstream::ANTHROPIC));
    let folder = served(&upstream, "anthropic");
    let begun = Instant::now();
    let first = ask_served(&folder, "Where are the bees?", &[]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let whole = begun.elapsed();
    let mut random = Random(7);
    let mut rounds: Vec<Round> = (0..rounds()).map(Round::new).collect();
    for round in &mut rounds {
        // Some come to their end.
        let moment = whole.mul_f64(random.share() * 1.2);
        round.is_whole = round.run(&folder, moment);
    }
    let sent = upstream.bodies();
    for round in &mut rounds {
        round.is_sent = sent.iter().any(|body| body.contains(&round.message()));
    }
    let report = |is: &dyn Fn(&Round) -> bool| rounds.iter().filter(|round| is(round)).count();
    let (whole, sent) = (report(&|one| one.is_whole), report(&|one| one.is_sent));
    eprintln!(
        "{} rounds: {sent} reached the upstream, {whole} ended",
        rounds.len()
    );
    assert!(
        sent > 0 && whole < rounds.len(),
        "the moments do not spread: {sent}, {whole}"
    );
    judge(&folder, &rounds);

    // Nobody waits for a lease that a killed process left behind.
    let held = rounds.iter().find(|round| round.is_sent && !round.is_whole);
    let conversation = held.unwrap_or(&rounds[0]).conversation();
    let again = ask_served(&folder, "And now?", &["--conversation", &conversation]);
    assert_key_is_nowhere(&folder, &again);
    assert!(!again.stderr.contains("waiting"), "{again:?}");
    assert_eq!(again.success(), "In Porto.\n");
}

fn judge(folder: &Folder, rounds: &[Round]) {
    let memory = |command: &str| {
        let args = ["--store", "sqlite:memory.db", "memory", command];
        folder.run(&args).success()
    };
    memory("check");
    let messages: Vec<Value> = memory("export")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for round in rounds {
        let of_round = |role: &str| {
            let said =
                |one: &&Value| one["conversation"] == round.conversation() && one["role"] == role;
            messages.iter().filter(said).count()
        };
        let (asked, answered) = (of_round("user"), of_round("assistant"));
        let number = round.number;
        assert!(
            asked <= 1 && answered <= asked,
            "round {number}: {asked}, {answered}"
        );
        assert!(
            asked == 1 || !round.is_sent,
            "the message of round {number} is lost"
        );
        assert!(
            answered == 1 || !round.is_whole,
            "the answer of round {number} is lost"
        );
    }
}

struct Round {
    number: usize,
    /// Whether its message reached the upstream.
    is_sent: bool,
    /// Whether it ended before it was killed.
    is_whole: bool,
}

impl Round {
    fn new(number: usize) -> Self {
        Self {
            number,
            is_sent: false,
            is_whole: false,
        }
    }

    fn message(&self) -> String {
        format!("Round {}: where are the bees?", self.number)
    }

    /// One of its own, so that each round begins alike.
    fn conversation(&self) -> String {
        format!("round-{}", self.number)
    }

    /// Tells whether it came to its end.
    fn run(&self, folder: &Folder, moment: Duration) -> bool {
        let (message, conversation) = (self.message(), self.conversation());
        let args = [
            "--store",
            "sqlite:memory.db",
            "ask",
            &message,
            "--config",
            "served.yaml",
        ];
        let args = [&args[..], &["--conversation", &conversation]].concat();
        let mut command = folder.command(&args);
        command.env("NO_PROXY", "127.0.0.1");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(moment);
        let _ = child.kill();
        child.wait().unwrap().success()
    }
}

/// The same moments in every run, as far as clocks go.
struct Random(u64);

impl Random {
    /// A number from 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}
