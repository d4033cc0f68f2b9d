//! `cargo xtask bench pack`: how fast a code base is packed, in ratios to other programs.
//!
//! Everything is measured in one run on the same files, which are in memory, one program after the
//! other and over again; the middle run counts. Cold is with an empty cache, warm with what a pack for
//! another task left in it.

mod case;
pub(super) mod corpora;
mod peers;
mod programs;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::report::Report;
use case::{Case, Limits, Measured};

pub(super) use case::Task;
pub(super) use programs::Programs;

const KERNEL_MEGABYTES: f64 = 600.0;

/// The size of the measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Measures this code base alone
    #[arg(long)]
    only: Option<Corpus>,
    /// Compares with ripgrep alone
    #[arg(long)]
    no_peers: bool,
    /// Runs of each program
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Corpus {
    Django,
    Linux,
}

/// Measures, shows the table, and fails when a limit is missed.
pub(super) fn pack(options: &Options) -> Result<()> {
    let programs = Programs::fetched(options.kitbag.as_ref())?;
    let mut measured = Vec::new();
    if options.only != Some(Corpus::Linux) {
        measured.push(django(&programs, options)?);
    }
    if options.only != Some(Corpus::Django) {
        measured.extend(linux(&programs, options)?);
    }

    let mut report = Report::default();
    for case in &measured {
        case.ratios(&mut report);
    }
    for case in &measured {
        case.figures(&mut report);
    }
    report.show()
}

fn django(programs: &Programs, options: &Options) -> Result<Measured> {
    let case = Case {
        name: "Django",
        tree: corpora::django(&programs.folder)?,
        asked: Task {
            text: "QuerySet.bulk_create ignores batch_size when update_conflicts is set; fix bulk_create",
            words: "QuerySet bulk_create ignores batch_size update_conflicts fix",
        },
        then: Task {
            text: "admin changelist counts rows twice when a list_filter joins a ManyToManyField",
            words: "admin changelist counts twice list_filter ManyToManyField",
        },
        limits: Limits {
            cold: 8.0,
            warm: 4.0,
            megabytes: None,
        },
        search: &[],
    };
    let mut measured = programs.measure(case, options.rounds)?;
    if !options.no_peers {
        measured.peers = programs.measure_peers(&measured.case, options.rounds);
    }
    Ok(measured)
}

fn linux(programs: &Programs, options: &Options) -> Result<[Measured; 2]> {
    let repository = corpora::linux_repository(&programs.folder)?;
    let plain = corpora::linux_plain(&programs.folder, &repository)?;
    let case = |name, tree, search| Case {
        name,
        tree,
        asked: Task {
            text: "ext4 stalls: the journal commit waits for writeback while fsync holds the inode lock",
            words: "ext4 stalls journal writeback fsync inode",
        },
        then: Task {
            text: "usb hub: port reset fails after resume when the xhci controller lost power",
            words: "usb hub reset resume xhci controller",
        },
        limits: Limits {
            cold: 4.0,
            warm: 2.0,
            megabytes: Some(KERNEL_MEGABYTES),
        },
        search,
    };
    // Ripgrep asks no index which files are tracked: it would find an empty tree.
    let repository = case("Linux in git", repository, &["--no-ignore"]);
    let plain = case("Linux", plain, &[]);
    Ok([
        programs.measure(repository, options.rounds)?,
        programs.measure(plain, options.rounds)?,
    ])
}
