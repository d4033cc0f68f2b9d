//! `kitbag ask`, killed at random moments: no message is lost that reached the upstream, none is there
//! twice, and the store goes on.

use std::env;
use std::io::Write as _;
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

const NEW_CHAT: [&str; 6] = [
    "--store",
    "sqlite:memory.db",
    "chat",
    "--config",
    "served.yaml",
    "--new",
];

/// Says of a conversation what a model that learns would.
fn learning(request: &str) -> Reply {
    let text = match request {
        facts if facts.contains("lasting facts") => r#"{\"facts\": []}"#,
        summary if summary.contains("Summarise") => {
            "The bees of the hive like the roof of the house by the river."
        }
        _ => "In Porto.",
    };
    Reply::stream(&upstream::ANTHROPIC.replace("In Porto.", text))
}

#[test]
fn o09_chats_that_are_killed_while_they_learn_lose_and_double_nothing() {
    let upstream = Upstream::answering(learning);
    let folder = served(&upstream, "anthropic");
    let mut random = Random(11);
    let mut whole = Duration::ZERO;
    // Two messages and what is learned from them take longer than one.
    let rounds = rounds().div_ceil(2);
    for number in 0..rounds {
        let begun = Instant::now();
        let mut command = folder.command(&NEW_CHAT);
        command.env("NO_PROXY", "127.0.0.1");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let said = format!(
            "{}\n{}\n/new\n",
            chat_message(number, 0),
            chat_message(number, 1)
        );
        child
            .stdin
            .take()
            .unwrap()
            .write_all(said.as_bytes())
            .unwrap();
        if number > 0 {
            thread::sleep(whole.mul_f64(random.share() * 1.2));
            let _ = child.kill();
        }
        let is_whole = child.wait().unwrap().success();
        if number == 0 {
            whole = begun.elapsed();
            assert!(is_whole);
        }
    }
    let sent = upstream.bodies();
    let learned = sent
        .iter()
        .filter(|body| body.contains("Summarise"))
        .count();
    eprintln!("{rounds} rounds: {learned} came to ask for a summary");
    let memory = |args: &[&str]| {
        let args = [&["--store", "sqlite:memory.db", "memory"], args].concat();
        folder.run(&args).success()
    };
    memory(&["check"]);
    let exported = memory(&["export"]);
    for number in 0..rounds {
        for place in 0..2 {
            let message = chat_message(number, place);
            let json = serde_json::to_string(&message).unwrap();
            let is_it = |line: &&str| line.contains(&json) && line.contains(r#""role":"user""#);
            let kept = exported.lines().filter(is_it).count();
            // The last message of a request is the one that it asks about.
            let is_sent = sent.iter().any(|body| body.contains(&message));
            assert!(
                kept <= 1 && (kept == 1 || !is_sent),
                "{message} is there {kept} times"
            );
        }
    }
    // Whatever was killed, the next chat goes on and learns.
    let mut command = folder.command(&NEW_CHAT);
    command.env("NO_PROXY", "127.0.0.1");
    let said = format!("{}\n/new\n", chat_message(rounds, 0));
    let last = crate::run::finish(command, Some(said.as_bytes()));
    assert!(last.stderr.contains("learned: a summary"), "{last:?}");
    assert_eq!(last.code, Some(0), "{last:?}");
}

/// Long enough for a summary to be worth its price.
fn chat_message(number: usize, place: usize) -> String {
    let told =
        "The bees of this hive like the roof of the house by the river more than the garden. ";
    format!(
        "Chat {number}, message {place}. {}",
        told.repeat(12).trim_end()
    )
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
