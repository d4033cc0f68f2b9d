//! The newest commits, with the paths that they changed.

use super::{GitError, Repository};

/// Commits that change more paths than this, such as imports, have the rest cut off.
const PATHS_PER_COMMIT: usize = 2_000;

/// Fields of a commit, each ended by a zero byte. The zero in front begins a commit: no field that
/// follows the subject is empty, since no path is.
const FORMAT: &str = "--format=tformat:%x00%H%x00%ct%x00%an%x00%s";

/// One commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// Its full id.
    pub id: String,
    /// The first paragraph of its message, in one line.
    pub subject: String,
    /// The name of its author.
    pub author: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// The paths that it changed, as they were called then; at most 2,000.
    pub paths: Vec<String>,
}

/// Which commits to list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogOptions {
    /// At most this many.
    pub commits: usize,
    /// Whether merges are among them; they show no paths.
    pub merges: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            commits: 1_500,
            merges: false,
        }
    }
}

impl LogOptions {
    /// Lists at most this many commits.
    #[must_use]
    pub fn with_commits(mut self, commits: usize) -> Self {
        self.commits = commits;
        self
    }

    /// Lists merges too.
    #[must_use]
    pub fn with_merges(mut self) -> Self {
        self.merges = true;
        self
    }
}

impl Repository {
    /// The newest commits, newest first.
    ///
    /// From a sub-folder of a work tree, the paths outside it are left out, and commits without any
    /// inside stay: to search the whole history for more would take as long as it is.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn log(&self, options: &LogOptions) -> Result<Vec<Commit>, GitError> {
        if !self.has_commits || options.commits == 0 {
            return Ok(Vec::new());
        }
        let count = format!("--max-count={}", options.commits);
        let merges = if options.merges {
            "--diff-merges=off"
        } else {
            "--no-merges"
        };
        let arguments = [
            "-z",
            FORMAT,
            &count,
            merges,
            "--name-only",
            "--relative",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-follow",
            "--ignore-submodules=none",
            "--encoding=UTF-8",
            "-O/dev/null",
            "HEAD",
            "--",
        ];
        // A cut answer still has its newest commits.
        let answer = self.git().run_up_to_limit("log", &arguments)?;
        Ok(parse(&answer.bytes))
    }

    /// The newest few commits, merges among them, for showing what happened lately.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn recent(&self, commits: usize) -> Result<Vec<Commit>, GitError> {
        self.log(&LogOptions::default().with_commits(commits))
    }
}

fn parse(answer: &[u8]) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    let mut fields = answer.split(|byte| *byte == 0);
    let mut first_path = false;
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    while let Some(field) = fields.next() {
        if field.is_empty() {
            let mut next = || fields.next();
            let (Some(id), Some(time), Some(author), Some(subject)) =
                (next(), next(), next(), next())
            else {
                break;
            };
            commits.push(Commit {
                id: text(id),
                time: text(time).parse().unwrap_or_default(),
                author: text(author),
                subject: text(subject),
                paths: Vec::new(),
            });
            first_path = true;
        } else if let Some(commit) = commits.last_mut() {
            // One line break stands between the fields and the paths.
            let path = match field {
                [b'\n', path @ ..] if first_path => path,
                path => path,
            };
            first_path = false;
            if commit.paths.len() < PATHS_PER_COMMIT
                && let Ok(path) = std::str::from_utf8(path)
            {
                commit.paths.push(path.to_owned());
            }
        }
    }
    commits
}
