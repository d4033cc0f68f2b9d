//! Runs `git` so that a hostile repository cannot make it run anything else.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::GitError;

/// More than this is never read from git.
const LIMIT: usize = 256 << 20;

/// The most bytes of git's complaints that are kept.
const COMPLAINT_LIMIT: u64 = 4 << 10;

/// Settings that override those of the repository: each of the others could start a program,
/// fetch from the network or change what the output looks like.
const SETTINGS: [(&str, &str); 11] = [
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.sshCommand", "false"),
    ("diff.autoRefreshIndex", "true"),
    ("log.showSignature", "false"),
    // The first commit, of a shallow clone too, touches everything and tells nothing.
    ("log.showRoot", "false"),
    ("protocol.allow", "never"),
    // A folder of the tree may pose as a repository without a work tree.
    ("safe.bareRepository", "explicit"),
];

/// Variables that would send git elsewhere.
const REMOVED: &str = "\
    GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX GIT_EXTERNAL_DIFF GIT_DIFF_OPTS \
    GIT_ATTR_SOURCE GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS \
    GIT_ICASE_PATHSPECS GIT_REPLACE_REF_BASE";

/// Git in one folder.
pub(super) struct Git<'a> {
    root: &'a Path,
    settings: Vec<(String, String)>,
    limit: usize,
    patience: Duration,
}

/// Git's answer, perhaps not to the end.
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) complete: bool,
}

impl<'a> Git<'a> {
    pub(super) fn new(root: &'a Path, patience: Duration) -> Self {
        Self {
            root,
            settings: Vec::new(),
            limit: LIMIT,
            patience,
        }
    }

    /// Overrides one more setting of the repository.
    pub(super) fn set(&mut self, key: String, value: &str) {
        self.settings.push((key, value.to_owned()));
    }

    /// Reads no more than this.
    pub(super) fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Runs a command of git and returns its whole output.
    pub(super) fn run(&self, command: &str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let answer = self.run_up_to_limit(command, arguments)?;
        if !answer.complete {
            return Err(GitError::TooLong {
                command: command.to_owned(),
                limit: self.limit,
            });
        }
        Ok(answer.bytes)
    }

    /// Runs a command of git and returns its output up to the limit.
    pub(super) fn run_up_to_limit(
        &self,
        command: &str,
        arguments: &[&str],
    ) -> Result<Answer, GitError> {
        let not_run = |error: io::Error| GitError::NotRun {
            message: error.to_string(),
        };
        let mut child = self.command(command, arguments).spawn().map_err(not_run)?;
        let limit = u64::try_from(self.limit).unwrap_or(u64::MAX);
        // Both are read at once, or git could wait for us while we wait for it.
        // One byte beyond the limit tells a cut answer from one of exactly that length.
        let answer = read_aside(child.stdout.take(), limit.saturating_add(1));
        let complaint = read_aside(child.stderr.take(), COMPLAINT_LIMIT);
        // Git reads what a repository names, and that may be a pipe that never ends.
        let Ok(mut bytes) = answer.recv_timeout(self.patience) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(GitError::TimedOut {
                command: command.to_owned(),
                seconds: self.patience.as_secs(),
            });
        };
        let complete = bytes.len() <= self.limit;
        if !complete {
            bytes.truncate(self.limit);
            let _ = child.kill();
        }
        let status = child.wait().map_err(not_run)?;
        // A cut answer ends with our kill, so its status says nothing.
        if complete && !status.success() {
            let complaint = complaint.recv_timeout(self.patience).unwrap_or_default();
            return Err(self.refusal(command, &String::from_utf8_lossy(&complaint)));
        }
        Ok(Answer { bytes, complete })
    }

    fn command(&self, command: &str, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.arg("--no-pager").arg("-C").arg(self.root);
        for (key, value) in SETTINGS {
            git.arg("-c").arg(format!("{key}={value}"));
        }
        git.arg(command).args(arguments);
        // Git sets some of them for the programs that it starts, such as a hook that calls us.
        for name in REMOVED.split(' ') {
            git.env_remove(name);
        }
        // No lock is taken, nothing is asked at the terminal or fetched, and messages are English:
        // some are matched.
        git.env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("GIT_PAGER", "cat")
            .env("LC_ALL", "C");
        self.set_by_environment(&mut git);
        git.stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        git
    }

    /// Passes settings whose keys may hold any character, after those that the user passes so.
    fn set_by_environment(&self, git: &mut Command) {
        if self.settings.is_empty() {
            return;
        }
        let count = std::env::var("GIT_CONFIG_COUNT");
        let first: usize = count.ok().and_then(|n| n.parse().ok()).unwrap_or(0);
        for (index, (key, value)) in (first..).zip(&self.settings) {
            git.env(format!("GIT_CONFIG_KEY_{index}"), OsStr::new(key));
            git.env(format!("GIT_CONFIG_VALUE_{index}"), OsStr::new(value));
        }
        let count = first + self.settings.len();
        git.env("GIT_CONFIG_COUNT", count.to_string());
    }

    fn refusal(&self, command: &str, complaint: &str) -> GitError {
        if complaint.contains("dubious ownership") {
            return GitError::NotTrusted {
                root: self.root.to_string_lossy().into_owned(),
            };
        }
        let first = complaint.lines().next().unwrap_or_default();
        GitError::Failed {
            command: command.to_owned(),
            // A message may quote a path or a setting of any length.
            message: first.chars().take(300).collect(),
        }
    }
}

/// Reads a stream on a thread of its own, up to a limit.
fn read_aside(
    stream: Option<impl io::Read + Send + 'static>,
    limit: u64,
) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // What was read before an error is all there is.
            let _ = stream.take(limit).read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}
