//! `cargo xtask eval harvest`: makes tasks of a repository's own history.
//!
//! A task is the message of a commit, without all that would give the answer away, on the tree before
//! it. Commits whose message says little of the code, or that touch much of it, are left out. Which
//! of the rest are taken depends on their ids alone.

mod changes;
mod message;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use sha2::{Digest, Sha256};

use self::changes::Changes;
use self::message::Messages;
use super::checkout::git_directory;
use super::instance::Instance;
use super::record;
use super::source_file::SourceFiles;

/// Older commits say little of how a project is worked on now.
const NEWEST: &str = "--max-count=5000";

/// A commit that changes more files says little about each.
const MOST_SOURCES: usize = 6;
const MOST_FILES: usize = 15;

/// Repositories, and the number of tasks that each brings.
#[derive(Args)]
pub(crate) struct Options {
    /// Git directories of the repositories, named OWNER+NAME
    #[arg(long, value_name = "DIR")]
    mirrors: PathBuf,
    /// Takes the repositories of these tasks, and no commit that is one of them
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Takes these repositories
    #[arg(long, value_name = "OWNER/NAME", value_delimiter = ',')]
    repos: Vec<String>,
    /// Takes at most so many commits of each repository
    #[arg(long, value_name = "N", default_value_t = 48)]
    per_repo: usize,
    /// File of the tasks [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the tasks of all repositories, one JSON object a line.
pub(super) fn harvest(options: &Options) -> Result<()> {
    let known: Vec<Instance> = match &options.data {
        Some(data) => record::read(data, "task")?,
        None => Vec::new(),
    };
    let mut repos: BTreeSet<&str> = options.repos.iter().map(String::as_str).collect();
    // The same repository may be there in upper and lower case.
    for task in &known {
        if !repos
            .iter()
            .any(|repo| repo.eq_ignore_ascii_case(&task.repo))
        {
            repos.insert(&task.repo);
        }
    }
    let taken: BTreeSet<&str> = known.iter().map(|task| task.commit.as_str()).collect();
    let mut out: Box<dyn Write> = match &options.out {
        Some(file) => {
            let file = File::create(file)
                .with_context(|| format!("could not write {}", file.display()))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(io::stdout().lock()),
    };
    let field = Field {
        messages: Messages::new()?,
        changes: Changes::new()?,
        sources: SourceFiles::new()?,
    };
    for repo in repos {
        let folder = git_directory(&options.mirrors, repo)?;
        let mut count = 0;
        for commit in commits(&folder, repo)? {
            if count == options.per_repo {
                break;
            }
            // Tasks that weights were tuned on must not test them.
            if taken.contains(commit.parent.as_str()) {
                continue;
            }
            if let Some(task) = field.task(&folder, repo, commit) {
                writeln!(out, "{}", serde_json::to_string(&task)?)?;
                count += 1;
            }
        }
        eprintln!("{repo}: {count}");
    }
    Ok(out.flush()?)
}

/// A commit with one parent.
struct Commit {
    id: String,
    hash: String,
    parent: String,
    time: String,
    message: String,
}

/// The rules for what becomes a task.
struct Field {
    messages: Messages,
    changes: Changes,
    sources: SourceFiles,
}

impl Field {
    /// The task of a commit; none if it makes no good one, or if its contents are absent.
    fn task(&self, folder: &Path, repo: &str, commit: Commit) -> Option<Instance> {
        let query = self.messages.task(&commit.message)?;
        let diff = ask(
            folder,
            &[
                "diff",
                "-U0",
                // A file that was only moved would count as changed.
                "--no-renames",
                "--no-ext-diff",
                "--no-color",
                &commit.parent,
                &commit.hash,
            ],
        );
        // A mirror may lack the contents of large files: such a commit is skipped.
        let files = self.changes.read(&diff.ok()?);
        let sources = files.iter().filter(|file| {
            // A file that the commit adds cannot be found in the tree before it.
            file.is_in_parent && self.sources.contain(&file.path) && self.changes.is_own(&file.path)
        });
        let sources: Vec<&changes::ChangedFile> = sources.collect();
        // A commit without code of its own has no answer to find.
        if !(1..=MOST_SOURCES).contains(&sources.len()) || files.len() > MOST_FILES {
            return None;
        }
        let language = language(&sources.first()?.path);
        let tree = ask(folder, &["ls-tree", "-r", "--name-only", &commit.parent]).ok()?;
        let spans = sources
            .iter()
            .map(|file| (file.path.clone(), file.spans.clone()));
        Some(Instance {
            id: commit.id,
            repo: repo.to_owned(),
            commit: commit.parent,
            query,
            gold_files: sources.iter().map(|file| file.path.clone()).collect(),
            gold_spans: spans.collect(),
            language: language.to_owned(),
            kind: "commit".to_owned(),
            named: false,
            tree_files: tree.lines().count() as u64,
            created: commit.time,
        })
    }
}

/// The newest commits, in an order that depends on their ids alone.
fn commits(folder: &Path, repo: &str) -> Result<Vec<Commit>> {
    let log = ask(
        folder,
        &[
            "log",
            "-z",
            "--no-merges",
            NEWEST,
            "--format=%H%n%P%n%ci%n%B",
            "HEAD",
        ],
    )?;
    let read = |entry: &str| {
        let mut lines = entry.trim_start().splitn(4, '\n');
        let (hash, parent, time) = (lines.next()?, lines.next()?, lines.next()?);
        let short = hash.get(..10)?;
        // The first commit has no parent.
        (!parent.is_empty() && !parent.contains(' ')).then(|| Commit {
            id: format!("commit__{}-{short}", repo.to_lowercase().replace('/', "__")),
            hash: hash.to_owned(),
            parent: parent.to_owned(),
            time: time.to_owned(),
            message: lines.next().unwrap_or_default().to_owned(),
        })
    };
    let mut commits: Vec<Commit> = log.split('\0').filter_map(read).collect();
    // In an order that says nothing of dates, so that a part of them stands for all.
    commits.sort_by_cached_key(|commit| Sha256::digest(&commit.id));
    Ok(commits)
}

/// The language of a path, as it is grouped in tables.
fn language(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "c" | "h" | "cc" | "cpp" | "hpp" | "cxx" | "hh" => "C/C++",
        "go" => "Go",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "vue" => "JS/TS",
        "java" => "Java",
        "php" => "PHP",
        "py" | "pyx" | "pyi" => "Python",
        "rb" => "Ruby",
        "rs" => "Rust",
        _ => "other",
    }
}

/// What git prints, without a word of its own: contents may be absent.
fn ask(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command
        .arg("--git-dir")
        .arg(folder)
        .args(["-c", "core.quotePath=false"]);
    let output = command
        .args(arguments)
        .output()
        .context("could not start git")?;
    anyhow::ensure!(
        output.status.success(),
        "git failed in {}",
        folder.display()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::command::git;

    fn commit(folder: &Path, message: &str) {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut add = git(folder);
        assert!(add.args(["add", "."]).status().unwrap().success());
        let mut commit = git(folder);
        commit.args(author).args(["commit", "-q", "-m", message]);
        assert!(commit.status().unwrap().success());
    }

    #[test]
    fn a_commit_becomes_a_task_on_its_parent() {
        let home = TempDir::new().unwrap();
        let source = home.path().join("Some+Name");
        let init = Command::new("git")
            .args(["init", "-q"])
            .arg(&source)
            .status();
        assert!(init.unwrap().success());
        let write = |path: &str, text: &str| {
            let path = source.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("src/parse.rs", "one\ntwo\nthree\n");
        write("docs/guide.rs", "one\n");
        commit(
            &source,
            "parse: the first words that this project ever had in it",
        );
        write("src/parse.rs", "one\n2\nthree\n");
        write("src/new.rs", "new\n");
        write("docs/guide.rs", "2\n");
        commit(
            &source,
            "parse: an empty number at the end of a line is no error any more (#12)\n\nSigned-off-by: a",
        );
        write("src/parse.rs", "one\n2\n3\n");
        commit(
            &source,
            "refactor: the numbers of a line are read by one function alone now",
        );
        let out = home.path().join("tasks.jsonl");
        let options = Options {
            mirrors: home.path().to_owned(),
            data: None,
            repos: vec!["some/name".to_owned()],
            per_repo: 9,
            out: Some(out.clone()),
        };
        harvest(&options).unwrap();
        let tasks: Vec<Instance> = record::read(&out, "task").unwrap();
        let [task] = tasks.as_slice() else {
            panic!("{} tasks", tasks.len())
        };
        assert_eq!(
            task.query,
            "an empty number at the end of a line is no error any more"
        );
        assert_eq!(task.gold_files, ["src/parse.rs"]);
        assert_eq!(task.gold_spans["src/parse.rs"], [(2, 2)]);
        assert_eq!((task.language.as_str(), task.tree_files), ("Rust", 2));
        let mut parent = git(&source);
        let parent = parent
            .args(["rev-parse", "HEAD~2"])
            .output()
            .unwrap()
            .stdout;
        assert_eq!(task.commit, String::from_utf8(parent).unwrap().trim());
    }
}
