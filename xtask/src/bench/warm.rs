//! `cargo xtask bench warm`: what a pack costs a process that packed the same tree before, beside ripgrep
//! counting the words of the same task.
//!
//! The release build serves MCP over stdio, as an agent starts it, with an empty cache. The first pack is
//! cold. After it the server works ahead, for which it has time while the agent's model reads and answers;
//! what that takes is shown. Then come other tasks, each of them once: each round starts a new process.
//!
//! The limit is one of CPU time, of all threads and children: other programs that run meanwhile leave it
//! nearly as it is, while they may double the time on the wall, which is only shown.

mod server;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::measure::Runs;
use super::pack::{Programs, Task, corpora};
use super::report::{AtMost, Report};
use crate::statistics::median;
use server::Server;

/// The size of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Processes to start
    #[arg(long, value_name = "N", default_value_t = 9)]
    rounds: usize,
    /// The budget of each pack, in tokens [default: that of the tool]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u32>,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
}

const TIMES_RIPGREP: f64 = 0.5;
const MEGABYTES: f64 = 300.0;

const FIRST: Task = Task {
    text: "QuerySet.bulk_create ignores batch_size when update_conflicts is set; fix bulk_create",
    words: "QuerySet bulk_create ignores batch_size update_conflicts fix",
};

const OTHERS: [Task; 5] = [
    Task {
        text: "admin changelist counts rows twice when a list_filter joins a ManyToManyField",
        words: "admin changelist counts twice list_filter ManyToManyField",
    },
    Task {
        text: "the session cookie is not renewed when SESSION_SAVE_EVERY_REQUEST is set and the response is an error",
        words: "session cookie renewed SESSION_SAVE_EVERY_REQUEST response error",
    },
    Task {
        text: "makemigrations writes a needless AlterField when a validator is a compiled regular expression",
        words: "makemigrations needless AlterField validator compiled regular",
    },
    Task {
        text: "template tag for blocktranslate drops trailing whitespace when trimmed is given",
        words: "template tag blocktranslate trailing whitespace trimmed",
    },
    Task {
        text: "ModelForm keeps the upload of a cleared FileField when validation fails",
        words: "ModelForm upload cleared FileField validation fails",
    },
];

/// Measures, shows the table, and fails when a limit is missed.
pub(crate) fn warm(options: &Options) -> Result<()> {
    let programs = Programs::fetched(options.kitbag.as_ref())?;
    let tree = corpora::django(&programs.folder)?;
    // The first search brings the files into memory.
    programs.search(&tree, &[], &FIRST)?;
    let (mut cold, mut searches) = (Runs::default(), Runs::default());
    let mut sides = OTHERS.map(|_| (Runs::default(), Runs::default()));
    let mut ahead = Vec::new();
    let (mut peak, mut is_seen) = (0.0_f64, true);
    for round in 0..options.rounds {
        eprintln!("round {} of {}", round + 1, options.rounds);
        let mut server = Server::start(&programs.kitbag, &programs.folder, &tree)?;
        searches.add(programs.search(&tree, &[], &FIRST)?);
        cold.add(server.pack(FIRST.text, options.budget)?.0);
        ahead.push(server.wait_until_idle()?);
        for (task, (search, pack)) in OTHERS.iter().zip(&mut sides) {
            search.add(programs.search(&tree, &[], task)?);
            pack.add(server.pack(task.text, options.budget)?.0);
            server.wait_until_idle()?;
        }
        is_seen &= edit_is_seen(&mut server, &tree, round)?;
        peak = peak.max(server.end()?);
    }

    let mut report = Report::default();
    for (task, (search, pack)) in OTHERS.iter().zip(&sides) {
        let what = format!("times ripgrep's CPU, `{}`", shortened(task.text));
        report.add(&what, pack.cpu() / search.cpu(), AtMost(TIMES_RIPGREP));
    }
    report.add("peak memory, MB", peak, AtMost(MEGABYTES));
    let missed = if is_seen { 0.0 } else { 1.0 };
    report.add(
        "edits between two packs that are missed",
        missed,
        AtMost(0.0),
    );
    report.note(
        "first pack, times ripgrep's CPU",
        cold.cpu() / searches.cpu(),
    );
    let ahead = median(ahead.into_iter()).unwrap_or(f64::NAN);
    report.note("work ahead after the first pack, CPU s", ahead);
    for (task, (search, pack)) in OTHERS.iter().zip(&sides) {
        let what = format!("times ripgrep's time, `{}`", shortened(task.text));
        report.note(&what, pack.wall() / search.wall());
    }
    let sides = sides.iter().zip(&OTHERS);
    let sides = sides.flat_map(|((search, pack), task)| {
        let task = shortened(task.text);
        [
            (format!("ripgrep, `{task}`"), search),
            (format!("pack, `{task}`"), pack),
        ]
    });
    let all = [
        ("ripgrep, first".to_owned(), &searches),
        ("pack, first".to_owned(), &cold),
    ];
    for (what, runs) in all.into_iter().chain(sides) {
        let (wall, cpu) = (runs.wall() * 1e3, runs.cpu() * 1e3);
        report.say(&what, &format!("{wall:7.1} ms {cpu:7.1} ms CPU"));
    }
    report.show()
}

/// Writes a word that no other file has into one, packs for that word, and tells if the prompt shows it.
/// The file gets its text back.
fn edit_is_seen(server: &mut Server, tree: &Path, round: usize) -> Result<bool> {
    let path = tree.join("django/utils/text.py");
    let before = fs::read_to_string(&path).context("Django has no django/utils/text.py")?;
    let word = format!("zyxomma{round}");
    fs::write(&path, format!("{before}\n\ndef {word}():\n    pass\n"))?;
    let packed = server.pack(&format!("what does {word} do?"), None);
    fs::write(&path, before)?;
    Ok(packed?.1.contains(&format!("def {word}():")))
}

fn shortened(task: &str) -> String {
    let words: Vec<&str> = task.split(' ').take(3).collect();
    words.join(" ")
}
