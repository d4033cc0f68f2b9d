//! Starts cargo and git in the project's root, announced on stderr.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The project's root: the folder above this package.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// The cargo that started this task, so that a chosen toolchain stays chosen.
pub(crate) fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program that will run in the project's root.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// Git in another folder.
pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command
}

/// The one file of a folder.
pub(crate) fn only_file_in(folder: &Path) -> Result<PathBuf> {
    let mut entries = folder.read_dir()?;
    match (entries.next(), entries.next()) {
        (Some(entry), None) => Ok(entry?.path()),
        _ => bail!("{} should hold one file", folder.display()),
    }
}

/// Says what is run, runs it, and fails when it fails.
pub(crate) fn announce_and_run(step: &str, command: &mut Command) -> Result<()> {
    announce_as_and_run(step, &show(command), command)
}

/// The same for a command that is repeated in other words than its own.
pub(crate) fn announce_as_and_run(step: &str, shown: &str, command: &mut Command) -> Result<()> {
    eprintln!("\n== {step}: {shown}");
    let status = command
        .status()
        .with_context(|| format!("{step}: could not start `{shown}`"))?;
    if !status.success() {
        bail!("{step} failed ({status}); to repeat it alone: {shown}");
    }
    Ok(())
}

/// Runs it without a word and gives what it wrote to stdout.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` wrote no UTF-8"))
}

/// Returns true if it starts and succeeds; shows nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let environment = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy().into_owned();
        Some(format!("{}={}", name.to_string_lossy(), quoted(&value)))
    });
    let name = Path::new(command.get_program()).file_name();
    let name = name.unwrap_or(command.get_program()).to_string_lossy();
    let arguments = command
        .get_args()
        .map(|argument| quoted(&argument.to_string_lossy()));
    let words: Vec<String> = environment
        .chain([name.into_owned()])
        .chain(arguments)
        .collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_says_how_to_repeat_it() {
        let mut command = program("false");
        command.args(["--two words", "x"]).env("FLAGS", "-D all");
        let error = announce_and_run("lints", &mut command).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("lints failed"), "{message}");
        assert!(
            message.ends_with("FLAGS='-D all' false '--two words' x"),
            "{message}"
        );
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = output_of(&mut program("no-such-program-here")).unwrap_err();
        assert!(format!("{error:#}").contains("no-such-program-here"));
    }
}
