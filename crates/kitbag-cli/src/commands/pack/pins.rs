//! Files that must be in the prompt: each is, or an error says why it cannot be.

use std::fs;
use std::path::Path;

use kitbag::pack::{Pack, Prepared};
use kitbag::workspace::walk::NAMED_SIZE_LIMIT;

use super::place::place;
use crate::failure::Failure;
use crate::output::grouped;

/// The file, part of a file, folder or pattern as the library takes it, from the root.
pub(super) fn pin(root: &Path, typed: &str, option: &str) -> Result<String, Failure> {
    let is_file = |path: &str| root.join(path).is_file() || Path::new(path).is_file();
    if !is_file(typed) && root.join(typed).is_dir() {
        return Ok(typed.trim_start_matches("./").to_owned());
    }
    // The last mark that leaves the name of a file: names may hold `#` and `:` themselves.
    let parts = typed
        .match_indices(['#', ':'])
        .map(|(at, _)| typed.split_at(at));
    let part = parts
        .rev()
        .find(|(path, _)| !is_file(typed) && is_file(path));
    match part {
        Some((path, part)) => Ok(file(root, path, option)? + part),
        // The name of a file may have the signs of a pattern.
        None if !is_file(typed) && is_pattern(typed) => {
            Ok(typed.trim_start_matches("./").to_owned())
        }
        None => file(root, typed, option),
    }
}

fn is_pattern(typed: &str) -> bool {
    typed.contains(['*', '?', '[', '{'])
}

/// The path below the root of a file that can be pinned, as far as can be told without reading it.
fn file(root: &Path, typed: &str, option: &str) -> Result<String, Failure> {
    let path = place(root, typed).map_err(|misplaced| misplaced.of(option))?;
    match fs::metadata(root.join(&path)) {
        Ok(file) if file.len() > NAMED_SIZE_LIMIT => Err(Failure::usage(format_args!(
            "{option}: `{typed}` has {} bytes, and at most {} are read",
            grouped(file.len()),
            grouped(NAMED_SIZE_LIMIT)
        ))
        .hint("write the relevant part to another file, and attach it with `--attach FILE`")),
        _ => Ok(path),
    }
}

/// The failure of a pin that names no file of the workspace: nothing matches it, or it is of git's or of
/// Kitbag's own.
pub(super) fn not_found(path: &str) -> Failure {
    if is_pattern(path) || Path::new(path).is_dir() {
        return Failure::usage(format_args!(
            "--pin: no file that can be shown matches `{path}`"
        ))
        .hint("files that are ignored can be pinned by their own names");
    }
    Failure::usage(format_args!("--pin: `{path}` is never shown"))
        .hint("prompts never show the folders in which git and Kitbag keep their own files")
}

/// Fails if a pinned file is not in the prompt, as one that is no text.
pub(super) fn check(prepared: &Prepared, pack: &Pack) -> Result<(), Failure> {
    let is_in = |pin: &&str| pack.assembly.kept.iter().any(|kept| kept.source == **pin);
    let mut pins = prepared.pinned();
    let Some(pin) = pins.find(|pin| !is_in(pin)) else {
        return Ok(());
    };
    let excluded = &pack.decisions.excluded;
    let excluded = excluded.iter().find(|excluded| excluded.source == pin);
    let reason = excluded.map_or("it cannot be read", |excluded| &*excluded.reason);
    Err(
        Failure::new(format_args!("--pin: `{pin}` cannot be shown: {reason}"))
            .hint("only text that can be read can be pinned"),
    )
}
