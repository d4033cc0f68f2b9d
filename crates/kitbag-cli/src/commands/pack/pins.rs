//! Files that must be in the prompt: each is, or it is told why it cannot be.

use std::fs;
use std::path::Path;

use kitbag::pack::{Pack, PackRequest};
use kitbag::workspace::walk::NAMED_SIZE_LIMIT;

use super::place::place;
use crate::failure::Failure;
use crate::output::grouped;

/// The path below the root of a file that can be pinned, as far as can be told without reading it.
pub(super) fn pin(root: &Path, typed: &str) -> Result<String, Failure> {
    let path = place(root, typed).map_err(|misplaced| misplaced.of("--pin"))?;
    match fs::metadata(root.join(&path)) {
        Ok(file) if file.len() > NAMED_SIZE_LIMIT => Err(Failure::usage(format_args!(
            "--pin: `{typed}` has {} bytes, and at most {} are read",
            grouped(file.len()),
            grouped(NAMED_SIZE_LIMIT)
        ))
        .hint("write the part that matters into a file, and attach it with `--attach FILE`")),
        _ => Ok(path),
    }
}

/// A file of git's or of Kitbag's own, which the workspace never lists.
pub(super) fn never_shown(path: &str) -> Failure {
    Failure::usage(format_args!("--pin: `{path}` is never shown"))
        .hint("the folders in which git and Kitbag keep their own files are never part of a prompt")
}

/// Fails if a pinned file is not in the prompt, as one that is no text.
pub(super) fn check(request: &PackRequest, pack: &Pack) -> Result<(), Failure> {
    let is_in = |pin: &&String| pack.assembly.kept.iter().any(|kept| kept.source == **pin);
    let Some(pin) = request.survey.pins.iter().find(|pin| !is_in(pin)) else {
        return Ok(());
    };
    let excluded = &pack.decisions.excluded;
    let excluded = excluded.iter().find(|excluded| excluded.source == *pin);
    let reason = excluded.map_or("it cannot be read", |excluded| &*excluded.reason);
    Err(
        Failure::new(format_args!("--pin: `{pin}` cannot be shown: {reason}"))
            .hint("only text that can be read can be pinned"),
    )
}
