//! `cargo xtask bench turn`: our own time in a turn, compared with a bare recall and a direct call.

use anyhow::Result;
use serde::Deserialize;

use super::figures;
use super::report::{AtMost, Report};
use crate::command::{cargo, output_of};

/// The size of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Messages of the store
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
}

#[derive(Deserialize)]
struct Measured {
    messages: usize,
    senders: usize,
    /// Reading the clocks, which is part of all others.
    clock: Time,
    recall: Time,
    turn: Time,
    direct: Time,
    first_token_ms: f64,
    direct_first_token_ms: f64,
}

#[derive(Deserialize)]
struct Time {
    wall_ms: f64,
    cpu_ms: f64,
}

/// The limit of our own time, as a multiple of a bare recall.
const TIMES_RECALL: f64 = 3.0;
/// The first words may come later than directly by this share of the time that we may take.
const SHARE_OF_OWN: f64 = 0.1;

pub(crate) fn turn(options: &Options) -> Result<()> {
    let mut bench = cargo();
    bench
        .args(["bench", "--quiet", "--package", "kitbag"])
        .args(["--no-default-features", "--features", "providers,sqlite"])
        .args(["--bench", "turn", "--", &options.messages.to_string()]);
    eprintln!("measuring turns among {} messages", options.messages);
    let lines = output_of(&mut bench)?;
    let mut report = Report::default();
    for one in figures::<Measured>("turn", &lines)? {
        add(&one, &mut report);
    }
    report.show()
}

fn add(one: &Measured, report: &mut Report) {
    let shape = match one.senders {
        1 => "one sender".to_owned(),
        many => format!("{many} senders"),
    };
    let name = |what: &str| format!("{} messages, {shape}: {what}", one.messages);
    let recall = one.recall.cpu_ms - one.clock.cpu_ms;
    let own = one.turn.cpu_ms - one.direct.cpu_ms;
    report.note(&name("a bare recall, CPU ms"), recall);
    report.note(&name("our own time in a turn, CPU ms"), own);
    let what = name("the same, times the recall");
    report.add(&what, own / recall, AtMost(TIMES_RECALL));
    // With the time that the disk takes, which is another on every machine.
    report.note(&name("a bare recall, ms"), one.recall.wall_ms);
    let own = one.turn.wall_ms - one.direct.wall_ms;
    report.note(&name("our own time in a turn, ms"), own);
    let late = one.first_token_ms - one.direct_first_token_ms;
    report.note(&name("the first words come later by, ms"), late);
    let what = name("the same, share of three recalls");
    let share = late / (recall * TIMES_RECALL);
    report.add(&what, share, AtMost(SHARE_OF_OWN));
}
