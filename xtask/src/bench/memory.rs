//! `cargo xtask bench memory`: importing, recalling and building contexts, beside the bare databases.

use anyhow::Result;
use serde::Deserialize;

use super::report::{AtLeast, AtMost, Report};
use super::{figures, one_figure};
use crate::command::cargo;
use crate::postgres::Server;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many messages the store has, for each round
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    messages: Vec<usize>,
}

#[derive(Deserialize)]
struct Measured {
    database: String,
    messages: usize,
    recall_ms: f64,
    bare_query_ms: f64,
    context_ms: Option<f64>,
    import_per_second: Option<f64>,
    bare_inserts_per_second: Option<f64>,
    file_mb: Option<f64>,
}

#[derive(Deserialize)]
struct Concurrent {
    conversations: u32,
    turns_per_second: f64,
}

/// Recall may take so many times what FTS5 takes for its query.
const TIMES_FTS: f64 = 1.5;
/// A whole context may take so many times what recall takes.
const TIMES_RECALL: f64 = 2.0;
/// Importing is at least this share as fast as bare inserts.
const SHARE_OF_INSERTS: f64 = 0.5;

pub(crate) fn memory(options: &Options) -> Result<()> {
    let sizes: Vec<String> = options.messages.iter().map(usize::to_string).collect();
    let mut bench = cargo();
    bench
        .args(["bench", "--quiet", "--package", "kitbag", "--all-features"])
        .args(["--bench", "memory", "--"])
        .args(&sizes);
    let lines = Server::start()?.output(&mut bench)?;
    let mut report = Report::default();
    let measured: Vec<Measured> = figures("memory", &lines)?;
    let largest = measured.iter().map(|one| one.messages).max().unwrap_or(0);
    for one in &measured {
        add(one, largest, &mut report);
    }
    let concurrent: Concurrent = one_figure("concurrent", &lines)?;
    let conversations = concurrent.conversations;
    let what = format!("turns a second, {conversations} conversations at once");
    report.note(&what, concurrent.turns_per_second);
    report.show()
}

fn add(one: &Measured, largest: usize, report: &mut Report) {
    let name = |what: &str| format!("{}, {} messages: {what}", one.database, one.messages);
    report.note(&name("recall, CPU ms"), one.recall_ms);
    report.note(&name("the bare query, CPU ms"), one.bare_query_ms);
    let ratio = one.recall_ms / one.bare_query_ms;
    if one.database == "sqlite" && one.messages == largest {
        let what = name("recall, times FTS5's query");
        report.add(&what, ratio, AtMost(TIMES_FTS));
    } else {
        report.note(&name("recall, times the bare query"), ratio);
    }
    if let Some(context) = one.context_ms {
        let what = name("a whole context, times recall");
        report.add(&what, context / one.recall_ms, AtMost(TIMES_RECALL));
    }
    if let (Some(ours), Some(bare)) = (one.import_per_second, one.bare_inserts_per_second) {
        report.note(&name("imported messages a CPU second"), ours);
        let share = name("the same, share of bare inserts");
        if one.messages == largest {
            report.add(&share, ours / bare, AtLeast(SHARE_OF_INSERTS));
        } else {
            report.note(&share, ours / bare);
        }
    }
    if let Some(size) = one.file_mb {
        report.note(&name("file, MB"), size);
    }
}
