//! `kitbag expand`: the text behind what a prompt only mentions.

use std::path::PathBuf;

use kitbag::workspace::language::Language;
use kitbag::workspace::secrets::redact;
use kitbag::workspace::syntax;
use kitbag::workspace::workspace::{Workspace, WorkspaceOptions};

use crate::failure::Failure;
use crate::output;

/// Prints the text behind a handle: a file, some of its lines, or a definition in it
///
/// A handle is a path as a prompt shows it, alone or with lines or a name: `src/auth.rs`,
/// `src/auth.rs:10-80`, `src/auth.rs#login`. Secrets are replaced.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to print
    handle: String,
    /// The folder of the project
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let handle = Handle::parse(&args.handle);
    let mut options = WorkspaceOptions::default();
    options.named = vec![handle.path.to_owned()];
    options.include = vec![format!("/{}", handle.path)];
    let workspace = Workspace::open(&args.root, &options).map_err(Failure::new)?;
    let text = workspace.read(handle.path).ok_or_else(|| {
        Failure::new(format_args!(
            "there is no text `{}` below the root",
            handle.path
        ))
        .hint("a handle is a path as the prompt shows it, such as `src/main.rs:10-80`")
    })?;
    let shown = redact(&text, handle.path);
    let part = match handle.part {
        Part::Whole => shown.text.into_owned(),
        Part::Lines(first, last) => lines(&shown.text, first, last),
        Part::Name(name) => {
            let (first, last) = definition(handle.path, &text, name).ok_or_else(|| {
                Failure::new(format_args!("`{}` defines no `{name}`", handle.path))
            })?;
            lines(&shown.text, first, last)
        }
    };
    if part.is_empty() && !text.is_empty() {
        let count = text.lines().count();
        return Err(Failure::new(format_args!(
            "`{}` has only {count} lines",
            handle.path
        )));
    }
    Ok(output::print_exactly(&part)?)
}

struct Handle<'h> {
    path: &'h str,
    part: Part<'h>,
}

enum Part<'h> {
    Whole,
    Lines(u32, u32),
    Name(&'h str),
}

impl<'h> Handle<'h> {
    fn parse(handle: &'h str) -> Self {
        let handle = handle.strip_prefix("file:").unwrap_or(handle);
        let handle = handle.strip_prefix("./").unwrap_or(handle);
        if let Some((path, name)) = handle.rsplit_once('#').filter(|(_, name)| !name.is_empty()) {
            return Self {
                path,
                part: Part::Name(name),
            };
        }
        let lines = handle.rsplit_once(':').and_then(|(path, range)| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((path, first.parse().ok()?, last.parse().ok()?))
        });
        match lines {
            Some((path, first, last)) => Self {
                path,
                part: Part::Lines(first, last),
            },
            None => Self {
                path: handle,
                part: Part::Whole,
            },
        }
    }
}

fn lines(text: &str, first: u32, last: u32) -> String {
    let (skip, count) = (first.saturating_sub(1), last.saturating_sub(first) + 1);
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    text.split_inclusive('\n')
        .skip(size(skip))
        .take(size(count))
        .collect()
}

/// The lines of all units of that name, which may be the parts of one long function.
fn definition(path: &str, text: &str, name: &str) -> Option<(u32, u32)> {
    let language = Language::of_text(path, text)?;
    let syntax = syntax::parse(language, text);
    let is_named = |unit: &&syntax::Unit| {
        unit.name == name || unit.parents.iter().any(|parent| parent == name)
    };
    let mut units = syntax.units.iter().filter(is_named);
    let first = units.next()?;
    Some((
        first.first,
        units.map(|unit| unit.last).fold(first.last, u32::max),
    ))
}
