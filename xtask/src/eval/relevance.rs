//! `cargo xtask eval relevance`: packs each task's tree and scores what is shown.
//!
//! Several tasks run side by side, so the times are those of a busy machine.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::answer::ask;
use super::checkout::Trees;
use super::instance::{self, Instance};
use super::record::{self, Record};
use super::score;
use super::source_file::SourceFiles;
use super::table::table;
use crate::metadata::Metadata;
use crate::release;

/// Data and settings of the evaluation.
#[derive(Args)]
pub(crate) struct Options {
    /// The tasks, one JSON object a line
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Git directories of the tasks' repositories, named OWNER+NAME
    #[arg(long, value_name = "DIR")]
    mirrors: PathBuf,
    /// Keeps each task's tree in DIR/<id>, so that the next evaluation starts at once
    #[arg(long, value_name = "DIR")]
    trees: Option<PathBuf>,
    /// Takes at most so many tasks of each repository
    #[arg(long, value_name = "N")]
    per_repo: Option<usize>,
    /// Takes only tasks of these repositories
    #[arg(long, value_name = "OWNER/NAME", value_delimiter = ',')]
    repos: Vec<String>,
    /// Budgets in tokens
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [8192, 32768])]
    budgets: Vec<u64>,
    /// File of the records; tasks that have one there are not run again [default: a new file
    /// under target]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Further arguments for the program, separated by spaces
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    args: String,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
    /// Tasks that run side by side [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seconds after which an answer counts as an error
    #[arg(long, value_name = "N", default_value_t = 180)]
    timeout: u64,
}

/// Runs the tasks that are not done, and shows the table of all records.
pub(super) fn relevance(options: &Options) -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let folder = target.join("eval");
    fs::create_dir_all(&folder)?;
    let program = release::given_or_built(options.kitbag.as_ref(), &target)?;
    let usual = folder.join("relevance.jsonl");
    if options.out.is_none() && usual.exists() {
        fs::remove_file(&usual)?;
    }
    let out = options.out.clone().unwrap_or(usual);
    let records = || record::read::<Record>(&out, "record");

    let instances = record::read(&options.data, "task")?;
    let instances = instance::select(instances, &options.repos, options.per_repo);
    let done = if out.exists() { records()? } else { Vec::new() };
    let done: BTreeSet<String> = done.into_iter().map(|record| record.id).collect();
    let (done, to_do): (Vec<_>, Vec<_>) = instances
        .into_iter()
        .partition(|instance| done.contains(&instance.id));
    if !done.is_empty() {
        let (count, out) = (done.len(), out.display());
        eprintln!("{count} tasks have records in {out} already");
    }
    let evaluation = Evaluation {
        options,
        program,
        cache: folder.join("cache"),
        trees: Trees {
            mirrors: options.mirrors.clone(),
            kept: options.trees.clone(),
        },
        sources: SourceFiles::new()?,
    };
    let skipped = evaluation.run_all(&to_do, &out)?;

    println!("{}", table(&records()?));
    if skipped > 0 {
        bail!("{skipped} tasks were skipped: their trees could not be laid out");
    }
    Ok(())
}

/// Data and settings that all tasks share.
struct Evaluation<'a> {
    options: &'a Options,
    program: PathBuf,
    cache: PathBuf,
    trees: Trees,
    sources: SourceFiles,
}

impl Evaluation<'_> {
    /// Appends a record for each task as it is finished; gives how many could not be run.
    fn run_all(&self, instances: &[Instance], out: &Path) -> Result<usize> {
        let opened = OpenOptions::new().create(true).append(true).open(out);
        let mut out = opened.with_context(|| format!("could not write {}", out.display()))?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.options.jobs.unwrap_or(cores);
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (tell, evaluated) = mpsc::channel();
            for _ in 0..jobs {
                let (tell, next) = (tell.clone(), &next);
                scope.spawn(move || {
                    while let Some(instance) = instances.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // Nobody listens any more once a record could not be written.
                        if tell.send((instance, self.evaluate(instance))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(tell);
            let mut skipped = 0;
            for (before, (instance, record)) in evaluated.into_iter().enumerate() {
                let count = format!("[{}/{}] {}", before + 1, instances.len(), instance.id);
                match record {
                    Ok(record) => {
                        writeln!(out, "{}", serde_json::to_string(&record)?)?;
                        match &record.error {
                            Some(error) => eprintln!("{count}: {error}"),
                            None => eprintln!("{count}"),
                        }
                    }
                    Err(error) => {
                        skipped += 1;
                        eprintln!("{count}: skipped: {error:#}");
                    }
                }
            }
            Ok(skipped)
        })
    }

    /// An error of the program is in the record; others are errors here.
    fn evaluate(&self, instance: &Instance) -> Result<Record> {
        let tree = self.trees.tree(instance)?;
        let task = tempfile::Builder::new().suffix(".md").tempfile()?;
        fs::write(task.path(), &instance.query)?;
        let mut record = Record::new(instance);
        for budget in &self.options.budgets {
            if let Err(error) = self.pack(instance, &tree.root, task.path(), *budget, &mut record) {
                record.error = Some(format!("{error:#}").chars().take(300).collect());
                break;
            }
        }
        Ok(record)
    }

    fn pack(
        &self,
        instance: &Instance,
        root: &Path,
        task: &Path,
        budget: u64,
        record: &mut Record,
    ) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["pack", "--json", "--root"]).arg(root);
        command.arg("--task-file").arg(task);
        command.args(["--budget", &budget.to_string()]);
        command.args(["--tokenizer", "cl100k_base"]);
        command.args(self.options.args.split_whitespace());
        command.env("KITBAG_CACHE_DIR", &self.cache);

        let (answer, time) = ask(&mut command, Duration::from_secs(self.options.timeout))?;
        let tokens = bpe_openai::cl100k_base().count(&answer.prompt);
        let mut shown = score::shown(instance, &answer, tokens, budget, root);
        shown.time = time;
        record.budgets.insert(budget, shown);
        let ranked = answer.ranked.iter().map(|file| file.source.as_str());
        record.rank = Some(score::ranks(instance, ranked, &self.sources));
        Ok(())
    }
}
