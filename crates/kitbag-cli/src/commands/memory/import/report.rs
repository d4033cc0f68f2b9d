//! The report of an import: the fate of every kind of record, and the bad records.

use std::collections::BTreeMap;

use kitbag::memory::{Fate, ImportTally, RecordKind};
use serde::Serialize;

use super::keep::ImportCounts;
use crate::failure::Failure;
use crate::output::{self, counted, grouped};

/// The most bad records that are named: in a file of another kind all of them are bad.
const NAMED: usize = 20;

/// The reason why something cannot be imported.
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) hint: Option<&'static str>,
    /// Nothing can be read after it.
    pub(super) is_final: bool,
}

impl Problem {
    /// A problem of one record.
    pub(super) fn new(what: String) -> Self {
        Self {
            what,
            hint: None,
            is_final: false,
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::new(problem.what).hint_if(problem.hint)
    }
}

/// The bad records that were skipped.
#[derive(Default, Serialize)]
pub(super) struct Skipped {
    count: u64,
    /// The first of them, in words.
    named: Vec<String>,
    #[serde(skip)]
    hint: Option<&'static str>,
}

impl Skipped {
    /// Counts a bad record, and names it.
    pub(super) fn add(&mut self, problem: Problem) {
        self.count += 1;
        if self.named.len() < NAMED {
            output::say(format_args!("skipped {}", problem.what));
            self.named.push(problem.what);
        }
        // Bad records of one file usually have one cause: the first hint is enough.
        self.hint = self.hint.or(problem.hint);
    }

    /// The failure of an import without a good record.
    pub(super) fn as_failure(&self) -> Option<Failure> {
        let records = counted(self.count, "bad record", "bad records");
        let failure = Failure::new(format_args!("the file has no usable record ({records})"));
        (self.count > 0).then(|| failure.hint_if(self.hint))
    }
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    kept: ImportCounts,
    /// Counts of records by kind, as they were read.
    read: BTreeMap<&'static str, u64>,
    converted: BTreeMap<&'static str, u64>,
    left_out: BTreeMap<&'static str, u64>,
    skipped: &'a Skipped,
}

/// Prints the fate of the records.
pub(super) fn tell(
    kept: ImportCounts,
    tally: &ImportTally,
    skipped: &Skipped,
    is_json: bool,
) -> Result<(), Failure> {
    if is_json {
        let of = |fate| {
            let counts = tally.of(fate);
            counts.map(|(kind, count)| (kind.name(), count)).collect()
        };
        return Ok(output::print_json(&Report {
            kept,
            read: of(Fate::Kept),
            converted: of(Fate::Converted),
            left_out: of(Fate::LeftOut),
            skipped,
        })?);
    }
    let mut told = format!("imported {}", counted(kept.messages, "message", "messages"));
    for (count, what) in [
        (kept.known, "already known"),
        (kept.changed, "changed"),
        (
            kept.forgotten,
            "forgotten and left out (`--forgotten` imports them)",
        ),
    ] {
        if count > 0 {
            told.push_str(&format!(", {} {what}", grouped(count)));
        }
    }
    output::say(told);
    // Only exports: for plain lines this would repeat the first line of the report.
    if tally.count(RecordKind::Conversations) > 0 {
        say_counts("read", tally, Fate::Kept);
    }
    say_counts("converted", tally, Fate::Converted);
    say_left_out(tally);
    if skipped.count > 0 {
        let records = counted(skipped.count, "bad record", "bad records");
        output::say(format_args!(
            "skipped {records}; `--strict` stops at the first"
        ));
    }
    if kept.nameless > 0 {
        let (nameless, have) = match kept.nameless {
            1 => ("one".to_owned(), "has"),
            several => (grouped(several), "have"),
        };
        output::say(format_args!(
            "{nameless} of them {have} no `ref`, and would be stored again by another import of this file"
        ));
    }
    Ok(())
}

/// Says which records were left out.
pub(super) fn say_left_out(tally: &ImportTally) {
    say_counts("left out", tally, Fate::LeftOut);
}

fn say_counts(what: &str, tally: &ImportTally, fate: Fate) {
    let counts = tally.of(fate).filter(|(_, count)| *count > 0);
    let counts = counts.map(|(kind, count)| {
        let (one, several) = kind.words();
        counted(count, one, several)
    });
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        output::say(format_args!("{what}: {}", counts.join(", ")));
    }
}
