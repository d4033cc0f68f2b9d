//! `cargo xtask tidy`: rules about the project that no compiler holds.
//!
//! Each rule is a file below, a function from what it looks at to problems. All problems are listed
//! at once; tidy repairs nothing.

mod arrows;
mod documented;
mod documents;
mod engine;
mod features;
mod licence;
mod line_count;
mod promises;
mod prose;
mod public_items;
mod sources;
mod unused;

use std::fmt;

use anyhow::{Result, bail};

use crate::command::root;
use crate::metadata::Metadata;

/// Checks every rule, and fails after listing all that is wrong.
pub(crate) fn tidy() -> Result<()> {
    let root = root();
    let metadata = Metadata::load()?;
    let files = sources::load(&root)?;

    let mut problems = arrows::check(&metadata.arrows());
    problems.extend(licence::check(&metadata));
    problems.extend(unused::check(&metadata, &files, &root));
    problems.extend(sources::check(&files));
    problems.extend(documented::check(&files));
    problems.extend(documents::check(&root));
    problems.extend(engine::check(&files));
    problems.extend(promises::check(&files, &root)?);
    problems.extend(prose::check(&files));
    problems.extend(public_items::check(&files, &root)?);
    // Last, since only this rule compiles anything.
    problems.extend(features::check());

    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("tidy found 1 problem"),
        count => bail!("tidy found {count} problems"),
    }
}

/// Something that breaks a rule: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    place: String,
    what: String,
    remedy: String,
}

impl Problem {
    fn new(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    {}", self.place, self.what, self.remedy)
    }
}
