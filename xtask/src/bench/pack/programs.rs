//! Runs the programs on a code base, in turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::case::{Case, Measured, Peer, Side, Task};
use super::{corpora, peers};
use crate::bench::measure::{Run, Runs, run};
use crate::metadata::Metadata;
use crate::release;

const BUDGET: u32 = 32_768;
const TIMES_REPOMIX: f64 = 5.0;
const TIMES_AIDER: f64 = 20.0;

/// The programs, and how each is called.
pub(in crate::bench) struct Programs {
    pub(in crate::bench) kitbag: PathBuf,
    ripgrep: PathBuf,
    /// The folders of fetched programs and of what they write.
    pub(in crate::bench) folder: PathBuf,
}

impl Programs {
    /// Ripgrep, and the program that was named or else the release build.
    pub(in crate::bench) fn fetched(kitbag: Option<&PathBuf>) -> Result<Self> {
        let target = Metadata::load()?.target_directory;
        let folder = target.join("bench");
        fs::create_dir_all(&folder)?;
        Ok(Self {
            kitbag: release::given_or_built(kitbag, &target)?,
            ripgrep: peers::ripgrep(&folder)?,
            folder,
        })
    }

    /// Runs ripgrep and the program in turn, cold and warm.
    pub(super) fn measure(&self, case: Case, rounds: usize) -> Result<Measured> {
        eprintln!("\nmeasuring {}", case.name);
        // The first runs bring the files into memory.
        self.search(&case.tree, case.search, &case.asked)?;
        self.pack_cold(&case)?;
        let mut measured = Measured {
            case,
            cold: Side::default(),
            warm: Side::default(),
            least_used: f64::INFINITY,
            peers: Vec::new(),
        };
        for _ in 0..rounds {
            let case = &measured.case;
            let search = |task| self.search(&case.tree, case.search, task);
            measured.cold.search.add(search(&case.asked)?);
            let (cold, cold_used) = self.pack_cold(case)?;
            measured.warm.search.add(search(&case.then)?);
            let (warm, warm_used) = self.pack(case, &case.then)?;
            measured.cold.pack.add(cold);
            measured.warm.pack.add(warm);
            measured.least_used = measured.least_used.min(cold_used).min(warm_used);
        }
        Ok(measured)
    }

    /// Lets ripgrep count the words of a task in a tree.
    pub(in crate::bench) fn search(
        &self,
        tree: &Path,
        options: &[&str],
        task: &Task,
    ) -> Result<Run> {
        let mut command = Command::new(&self.ripgrep);
        command.arg("--count").args(options);
        for word in task.words.split(' ') {
            command.args(["-e", word]);
        }
        command.arg(tree);
        run(&command, &self.folder.join("rg.out"))
    }

    fn pack_cold(&self, case: &Case) -> Result<(Run, f64)> {
        let cache = self.cache();
        if cache.exists() {
            fs::remove_dir_all(&cache)?;
        }
        self.pack(case, &case.asked)
    }

    /// The run, and how many percent of the budget its prompt uses.
    fn pack(&self, case: &Case, task: &Task) -> Result<(Run, f64)> {
        let out = self.folder.join("kitbag.out");
        let mut command = Command::new(&self.kitbag);
        command.args(["pack", "--root"]).arg(&case.tree);
        command.arg("--task-file").arg(self.task_file(task)?);
        command.args(["--budget", &BUDGET.to_string()]);
        command.args(["--tokenizer", "cl100k_base"]);
        command.env("KITBAG_CACHE_DIR", self.cache());
        let run = run(&command, &out)?;
        let prompt = fs::read_to_string(&out).context("reading the prompt")?;
        let tokens = u32::try_from(bpe_openai::cl100k_base().count(&prompt))?;
        if tokens > BUDGET {
            bail!("the prompt has {tokens} tokens, over its budget of {BUDGET}");
        }
        Ok((run, f64::from(tokens) * 100.0 / f64::from(BUDGET)))
    }

    /// The times of the peers, or the reason why one has none.
    pub(super) fn measure_peers(&self, case: &Case, rounds: usize) -> Vec<Peer> {
        let repomix = Peer {
            name: "repomix",
            at_least: TIMES_REPOMIX,
            runs: self.measure_repomix(case, rounds),
        };
        let aider = Peer {
            name: "aider's map",
            at_least: TIMES_AIDER,
            runs: self.measure_aider(case),
        };
        vec![repomix, aider]
    }

    fn measure_repomix(&self, case: &Case, rounds: usize) -> Result<Runs> {
        let mut command = peers::repomix(&self.folder)?;
        command.arg(&case.tree).arg("--output");
        command.arg(self.folder.join("repomix.xml"));
        let mut runs = Runs::default();
        for _ in 0..rounds {
            runs.add(run(&command, &self.folder.join("repomix.out"))?);
        }
        Ok(runs)
    }

    /// Once: it takes long, and the limit is far away.
    fn measure_aider(&self, case: &Case) -> Result<Runs> {
        let mut command = peers::aider(&self.folder)?;
        // It keeps what it parsed in the tree.
        corpora::clean(&case.tree)?;
        command.arg(&case.tree).arg(self.task_file(&case.asked)?);
        command.arg(BUDGET.to_string());
        let mut runs = Runs::default();
        runs.add(run(&command, &self.folder.join("aider.out"))?);
        Ok(runs)
    }

    fn task_file(&self, task: &Task) -> Result<PathBuf> {
        let file = self.folder.join("task.md");
        fs::write(&file, task.text)?;
        Ok(file)
    }

    fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }
}
