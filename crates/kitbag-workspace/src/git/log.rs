//! The newest commits, with the paths that they changed.

use super::{GitError, Repository};

/// Commits that change more paths than this, such as imports, have the rest cut off.
const PATHS_PER_COMMIT: usize = 2_000;

/// Fields of a commit, each ended by a zero byte. The zero in front begins a commit: no field that
/// follows the subject is empty, since no path is.
const FORMAT: &str = "--format=tformat:%x00%H%x00%ct%x00%an%x00%s";

/// Whatever the configuration says.
const OPTIONS: &str = "--no-merges --name-only --relative --no-renames --no-ext-diff --no-textconv \
    --no-color --no-follow --ignore-submodules=none --encoding=UTF-8 -O/dev/null";

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
    /// The time of the commit, in seconds since 1970.
    pub time: i64,
    /// The paths that it changed, as they were called then; at most 2,000.
    pub paths: Vec<String>,
}

/// The most commits that are read: older ones tell little about what is needed now.
const HISTORY: usize = 1_500;

impl Repository {
    /// The newest 1,500 commits, newest first, without merges. Git is asked once.
    ///
    /// From a sub-folder of a work tree, the paths outside it are left out, and commits without any
    /// inside stay: to search the whole history for more would take as long as it is.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn history(&self) -> Result<&[Commit], GitError> {
        match self.answers.history.get_or_init(|| self.log()) {
            Ok(commits) => Ok(commits),
            Err(error) => Err(error.clone()),
        }
    }

    fn log(&self) -> Result<Vec<Commit>, GitError> {
        let count = format!("--max-count={HISTORY}");
        let arguments = ["-z", FORMAT, &count].into_iter().chain(OPTIONS.split(' '));
        let arguments: Vec<&str> = arguments.chain(["HEAD", "--"]).collect();
        // A cut answer still has its newest commits.
        match self.git().run_up_to_limit("log", &arguments) {
            Ok(answer) => Ok(parse(&answer.bytes)),
            Err(_) if !self.has_commits() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
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
            // A cut answer may end inside a commit.
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
