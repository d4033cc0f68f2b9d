//! `cargo xtask bench memory`: importing, recalling and building contexts, compared with the bare databases.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use serde::Deserialize;

use super::measure::run;
use super::report::{AtLeast, AtMost, Report};
use super::{figures, one_figure};
use crate::command::{cargo, output_of};
use crate::metadata::Metadata;
use crate::postgres::Server;
use crate::release;

/// The size of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Messages of the store, a number for each round
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    messages: Vec<usize>,
    /// Most messages of a store on PostgreSQL, where filling a larger one takes minutes
    #[arg(long, default_value_t = 100_000)]
    postgres_messages: usize,
    /// Size of the export that the program imports, in megabytes; 0 leaves it out
    #[arg(long, default_value_t = 500)]
    export: usize,
    /// Binary of kitbag [default: a release build, made first]
    #[arg(long)]
    kitbag: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Measured {
    database: String,
    messages: usize,
    senders: usize,
    recall_ms: f64,
    unknown_ms: f64,
    bare_query_ms: f64,
    history_ms: f64,
    #[serde(flatten)]
    file: Option<InFile>,
}

/// Figures of SQLite alone.
#[derive(Deserialize)]
struct InFile {
    context_ms: f64,
    import_s: f64,
    import_cpu_s: f64,
    bare_inserts_cpu_s: f64,
    bare_index_s: f64,
    bare_index_cpu_s: f64,
    check_mb: f64,
    file_mb: f64,
    bare_file_mb: f64,
}

#[derive(Deserialize)]
struct Concurrent {
    conversations: u32,
    turns_per_second: f64,
}

/// The limit of a recall, as a multiple of the database's own text search.
const TIMES_SEARCH: f64 = 1.0;
/// Words that nobody said may take this share of what the search takes for known ones.
const UNKNOWN_SHARE: f64 = 0.1;
/// The limit of listing as many conversations, as a multiple of the smallest store's time.
const TIMES_SMALLEST: f64 = 1.5;
/// The limit of a whole context, as a multiple of a recall.
const TIMES_RECALL: f64 = 2.0;
/// Importing is at least this share as fast, by the clock, as inserting the same messages into a table and
/// FTS5's index over it, which can be searched too. Bare inserts of the store's own rows, analysed before, are no
/// such peer.
const SHARE_OF_INDEXED_INSERTS: f64 = 0.5;
/// The limit of a check, in megabytes.
const CHECK_MEGABYTES: f64 = 200.0;
/// The limit of the file, as a multiple of FTS5's with its table.
const TIMES_FTS_SIZE: f64 = 1.2;

pub(crate) fn memory(options: &Options) -> Result<()> {
    let sizes: Vec<String> = options.messages.iter().map(usize::to_string).collect();
    let mut bench = bench();
    bench.args(&sizes);
    bench.arg(format!("postgres={}", options.postgres_messages));
    let lines = Server::start()?.output(&mut bench)?;
    let mut report = Report::default();
    if options.export > 0 {
        import_export(options, &mut report)?;
    }
    let measured: Vec<Measured> = figures("memory", &lines)?;
    for one in &measured {
        // A store with one sender and one with many differ in more than their size.
        let alike = measured.iter().filter(|other| one.is_shaped_like(other));
        let smallest = alike.min_by_key(|other| other.messages).unwrap_or(one);
        add(one, smallest, &mut report);
    }
    let concurrent: Concurrent = one_figure("concurrent", &lines)?;
    let conversations = concurrent.conversations;
    let what = format!("turns a second, {conversations} conversations at once");
    report.note(&what, concurrent.turns_per_second);
    report.show()
}

/// Bare inserts of the messages of an export.
#[derive(Deserialize)]
struct Export {
    messages: f64,
    bare_index_s: f64,
    bare_index_cpu_s: f64,
}

/// Imports an export with the program itself, from its start to its end.
fn import_export(options: &Options, report: &mut Report) -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let kitbag = release::given_or_built(options.kitbag.as_ref(), &target)?;
    // In the target folder: the system's own for temporary files may be in memory.
    let folder = tempfile::tempdir_in(&target)?;
    let file = folder.path().join("conversations.json");
    let megabytes = options.export.to_string();
    let mut bench = bench();
    bench.arg("export").arg(&file).arg(&megabytes);
    let export: Export = one_figure("export", &output_of(&mut bench)?)?;
    let mut command = Command::new(kitbag);
    command.args(["memory", "import"]).arg(&file);
    command.env("KITBAG_STORE", folder.path().join("memory.db"));
    // The report is on stderr; stdout would stay empty without `--json`.
    command.arg("--json");
    let run = run(&command, &folder.path().join("out"))?;
    let name = |what: &str| format!("an export of {megabytes} MB: {what}");
    report.note(&name("messages"), export.messages);
    report.note(&name("import, seconds"), run.wall);
    report.note(&name("import, CPU seconds"), run.cpu);
    report.note(&name("memory, MB"), run.megabytes);
    let what = name("import, speed as a share of inserts with FTS5's");
    let share = export.bare_index_s / run.wall;
    report.add(&what, share, AtLeast(SHARE_OF_INDEXED_INSERTS));
    let what = name("the same in CPU time");
    report.note(&what, export.bare_index_cpu_s / run.cpu);
    Ok(())
}

/// The bench itself, to which arguments are added.
fn bench() -> Command {
    let mut bench = cargo();
    bench
        .args(["bench", "--quiet", "--package", "kitbag", "--all-features"])
        .args(["--bench", "memory", "--"]);
    bench
}

impl Measured {
    fn is_shaped_like(&self, other: &Self) -> bool {
        (&self.database, self.senders) == (&other.database, other.senders)
    }
}

fn add(one: &Measured, smallest: &Measured, report: &mut Report) {
    let shape = match one.senders {
        1 => "one sender".to_owned(),
        many => format!("{many} senders"),
    };
    let name = |what: &str| format!("{}, {}, {shape}: {what}", one.database, one.messages);
    let search = one.bare_query_ms;
    report.note(&name("recall, CPU ms"), one.recall_ms);
    report.note(&name("the database's text search, CPU ms"), search);
    let what = name("recall, times the search");
    report.add(&what, one.recall_ms / search, AtMost(TIMES_SEARCH));
    let what = name("unknown words, share of the search");
    report.add(&what, one.unknown_ms / search, AtMost(UNKNOWN_SHARE));
    report.note(&name("history, CPU ms"), one.history_ms);
    if one.messages > smallest.messages {
        let what = name(&format!("history, times that of {}", smallest.messages));
        let times = one.history_ms / smallest.history_ms;
        report.add(&what, times, AtMost(TIMES_SMALLEST));
    }
    let Some(file) = &one.file else {
        return;
    };
    let times = file.context_ms / one.recall_ms;
    let what = name("a whole context, times recall");
    report.add(&what, times, AtMost(TIMES_RECALL));
    report.note(&name("import, seconds"), file.import_s);
    let what = name("import, speed as a share of inserts with FTS5's");
    let share = file.bare_index_s / file.import_s;
    report.add(&what, share, AtLeast(SHARE_OF_INDEXED_INSERTS));
    let what = name("the same in CPU time");
    report.note(&what, file.bare_index_cpu_s / file.import_cpu_s);
    let what = name("the same, share of bare inserts of the same rows");
    report.note(&what, file.bare_inserts_cpu_s / file.import_cpu_s);
    report.add(&name("a check, MB"), file.check_mb, AtMost(CHECK_MEGABYTES));
    report.note(&name("file, MB"), file.file_mb);
    let times = file.file_mb / file.bare_file_mb;
    let what = name("file, times FTS5's with its table");
    report.add(&what, times, AtMost(TIMES_FTS_SIZE));
}
