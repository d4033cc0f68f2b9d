//! `kitbag expand`: the text behind what a prompt only mentions.

mod handle;

use std::path::PathBuf;

use kitbag::secrets::redact;
use kitbag::workspace::language::Language;
use kitbag::workspace::syntax::{self, Syntax, Unit};
use kitbag::workspace::workspace::{Workspace, WorkspaceOptions};

use self::handle::{Handle, Part};
use crate::failure::Failure;
use crate::output::{self, grouped};

/// Prints the text behind a handle: a file, some of its lines, or a definition in it
///
/// A handle is a path as a prompt shows it, alone or with lines or a name: `src/auth.rs`,
/// `src/auth.rs:10-80`, `src/auth.rs:10-` to the end, `src/auth.rs#login`, `src/auth.rs#User.login`.
/// Secrets are replaced.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to print
    handle: String,
    /// The folder of the project
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let handle = Handle::parse(&args.handle, &args.root)?;
    let mut options = WorkspaceOptions::default();
    options.named = vec![handle.path.to_owned()];
    // Only what is named is read: nothing else need be listed, nor git asked.
    options.include = vec!["/.kitbag".to_owned()];
    options.use_git = false;
    let workspace = Workspace::open(&args.root, &options).map_err(Failure::new)?;
    let text = workspace.read(handle.path).ok_or_else(|| {
        Failure::new(format_args!(
            "there is no text `{}` below the root",
            handle.path
        ))
        .hint("a handle is a path as the prompt shows it, such as `src/main.rs:10-80`")
    })?;
    let shown = redact(&text, handle.path).text;
    let part = match handle.part {
        Part::Whole => shown.into_owned(),
        Part::Lines(first, last) => {
            let count = text.lines().count();
            if first > count {
                return Err(Failure::new(format_args!(
                    "`{}` has only {} lines",
                    handle.path,
                    grouped(count as u64)
                )));
            }
            lines(&shown, first, last)
        }
        Part::Name(name) => {
            let parts: Vec<String> = definitions(handle.path, &text, name)?
                .into_iter()
                .map(|(first, last)| lines(&shown, first, last))
                .collect();
            parts.join("\n")
        }
    };
    Ok(output::print_exactly(&part)?)
}

fn lines(text: &str, first: usize, last: usize) -> String {
    text.split_inclusive('\n')
        .take(last)
        .skip(first.saturating_sub(1))
        .collect()
}

/// The lines of all that has this name, in order: a long function may have several parts, and
/// several types a method of that name.
fn definitions(path: &str, text: &str, name: &str) -> Result<Vec<(usize, usize)>, Failure> {
    let undefined = || Failure::new(format_args!("`{path}` defines no `{name}`"));
    let language = Language::of_text(path, text)
        .ok_or_else(|| undefined().hint("name its lines instead, such as `:10-80`"))?;
    let syntax = syntax::parse(language, text);
    let mut found = named(&syntax, "", name);
    if found.is_empty()
        && let Some((parent, name)) = name.rsplit_once("::").or_else(|| name.rsplit_once('.'))
    {
        found = named(&syntax, parent, name);
    }
    if found.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for definition in &syntax.definitions {
            if names.len() < 8 && !names.contains(&definition.name.as_str()) {
                names.push(&definition.name);
            }
        }
        let defined = match names.as_slice() {
            [] => "name its lines instead, such as `:10-80`".to_owned(),
            names => format!("it defines {}", names.join(", ")),
        };
        return Err(undefined().hint(defined));
    }
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for unit in found {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let (first, last) = (size(unit.first), size(unit.last));
        match merged.last_mut() {
            Some(before) if before.1 + 1 >= first => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    Ok(merged)
}

/// The units with this name, or below it; where there is none, those that define it, for a small
/// type is one unit with all its methods. A parent that is not empty must be around it.
fn named<'s>(syntax: &'s Syntax, parent: &str, name: &str) -> Vec<&'s Unit> {
    let is_below = |parents: &[String]| parent.is_empty() || parents.iter().any(|p| p == parent);
    let is_named = |unit: &&Unit| {
        let is_inside = parent.is_empty() && unit.parents.iter().any(|parent| parent == name);
        is_inside || (unit.name == name && is_below(&unit.parents))
    };
    let units: Vec<&Unit> = syntax.units.iter().filter(is_named).collect();
    if !units.is_empty() {
        return units;
    }
    let defines = |unit: &&Unit| {
        syntax.definitions.iter().any(|definition| {
            definition.name == name
                && (parent.is_empty() || definition.parent == parent)
                && (unit.first..=unit.last).contains(&definition.line)
        })
    };
    syntax.units.iter().filter(defines).collect()
}
