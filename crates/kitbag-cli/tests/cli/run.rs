//! Runs the binary in a folder of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder to run `kitbag` in.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_with_stdin(args, b"")
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Output {
        self.run_in(&[], args, stdin)
    }

    /// Runs with these variables in the environment.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Output {
        self.run_in(variables, args, b"")
    }

    /// The command with its outputs in pipes.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kitbag"));
        command
            .args(args)
            .current_dir(self.path())
            // Whoever runs the tests may have chosen a model.
            .env("XDG_CONFIG_HOME", self.path().join(".config"))
            // Or have skills.
            .env("HOME", self.path().join(".home"))
            .env_remove("KITBAG_LOG")
            .env_remove("KITBAG_STORE")
            .env_remove("KITBAG_TENANT")
            .env_remove("KITBAG_CONFIG")
            .env_remove("CREWX_CONFIG")
            .env_remove("CLAUDE_PROJECT_DIR")
            .env("KITBAG_CACHE_DIR", self.path().join(".cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run_in(&self, variables: &[(&str, &str)], args: &[&str], stdin: &[u8]) -> Output {
        let mut command = self.command(args);
        command.envs(variables.iter().copied());
        finish(command, Some(stdin))
    }
}

/// Runs a command to its end, with something piped in.
pub(crate) fn finish(mut command: Command, stdin: Option<&[u8]>) -> Output {
    let mut child = command.spawn().unwrap();
    if let (Some(mut pipe), Some(stdin)) = (child.stdin.take(), stdin) {
        // A command that fails early may not read its input.
        let _ = pipe.write_all(stdin);
    }
    let output = child.wait_with_output().unwrap();
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What a run printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// Stdout of a run that must have succeeded.
    #[track_caller]
    pub(crate) fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Stderr of a run that must have failed with `code` and printed no result.
    #[track_caller]
    pub(crate) fn failure(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "a failure prints no result");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }
}
