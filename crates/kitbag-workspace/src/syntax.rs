//! The structure of a source file: units, definitions, imports, and what an outline folds.
//!
//! [`parse`] reads a text once; a [`View`] shows parts of the text by its [`Syntax`] without parsing
//! again. Pure: no file, no clock. A text that
//! cannot be parsed within bounds falls back to [`windows`]; nothing here fails.

mod body;
mod cuts;
mod folds;
mod frames;
mod grammar;
mod imports;
mod inner_tests;
mod items;
mod lines;
mod macros;
mod markdown;
mod name;
mod reader;
mod rendered;
mod tree;
mod units;
mod view;

use serde::{Deserialize, Serialize};

pub(crate) use inner_tests::inner_tests;
pub use lines::Lines;
pub use rendered::Rendered;
pub use view::View;

use crate::language::Language;

/// Reads the structure of a text. Never panics, and tolerates errors in the source.
///
/// ```
/// use kitbag_workspace::language::Language;
///
/// let syntax = kitbag_workspace::syntax::parse(Language::Python, "import os\n\n\ndef f(x):\n    return x\n");
/// assert_eq!(syntax.imports[0].path, "os");
/// assert_eq!(syntax.units[1].name, "f");
/// ```
#[must_use]
pub fn parse(language: Language, text: &str) -> Syntax {
    let lines = Lines::of(text);
    let mut syntax = match language {
        Language::Markdown => markdown::read(&lines),
        _ => tree::read(language, &lines).unwrap_or_else(|| units::windows(&lines, Vec::new())),
    };
    syntax.language = Some(language);
    syntax
}

/// The structure of a text in no known language: units that end at blank lines.
#[must_use]
pub fn windows(text: &str) -> Syntax {
    units::windows(&Lines::of(text), Vec::new())
}

/// The structure of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Syntax {
    /// The language that was read.
    pub language: Option<Language>,
    /// The stretches that the file divides into: in order, without overlap, all lines covered.
    pub units: Vec<Unit>,
    /// The definitions that enclose units: classes, modules, functions that were cut.
    pub scopes: Vec<Scope>,
    /// The names that the file defines, in order.
    pub definitions: Vec<Definition>,
    /// The imports of the file, in order.
    pub imports: Vec<Import>,
    /// The stretches that an outline leaves out, in order, without overlap.
    pub folds: Vec<Fold>,
    /// The lines that need each other, the outer before the inner.
    pub frames: Vec<Frame>,
}

/// A stretch of lines that makes sense on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unit {
    /// The first line, counted from 1: leading comments and attributes belong to the unit.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// The name defined here; empty for code outside definitions.
    pub name: String,
    /// The names around it, outermost first; the receiver of a method is the last.
    pub parents: Vec<String>,
    /// What it is.
    pub kind: UnitKind,
    /// True for a part of a definition that was cut because of its length.
    pub part: bool,
    /// The lines of the signature of what is defined here, with attributes, without comments.
    pub signature: Option<(u32, u32)>,
    /// The innermost scope around it, as an index into [`Syntax::scopes`].
    pub scope: Option<u32>,
}

impl Unit {
    /// The number of its lines.
    pub(crate) fn len(&self) -> u32 {
        self.last.saturating_sub(self.first) + 1
    }
}

/// The kind of a unit.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[non_exhaustive]
pub enum UnitKind {
    /// A function or method, or a part of one.
    Function,
    /// A small type, the head of a large one, or a part of one without methods.
    Type,
    /// A long constant, table or macro.
    Value,
    /// Code outside definitions.
    #[default]
    Code,
    /// Imports.
    Imports,
    /// A section of a document under its heading.
    Section,
}

/// Something that encloses units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scope {
    /// Its name, or empty.
    pub name: String,
    /// The first line of its signature, with attributes and decorators, without comments.
    pub first: u32,
    /// The last line of its signature.
    pub signature: u32,
    /// Its last line.
    pub last: u32,
    /// The scope around it, as an index into [`Syntax::scopes`].
    pub parent: Option<u32>,
}

/// A name that a file defines: a function, a method, a type, a constant or a macro.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The line that it stands on.
    pub line: u32,
    /// The name of what it belongs to, or empty.
    pub parent: String,
}

/// Something that a file imports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Import {
    /// The imported name, as the language writes it: `django.db.models`, `./foo`, `crate::fit`.
    pub path: String,
    /// The names that become known here; empty if the import does not say.
    pub names: Vec<String>,
    /// True if the path is relative to the importing file, although the path itself does not show it.
    pub relative: bool,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// The lines of the innermost definition around it; none if the whole file knows its names.
    pub within: Option<(u32, u32)>,
}

/// A stretch of lines that an outline replaces by one comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fold {
    /// The first line left out.
    pub first: u32,
    /// The last line left out.
    pub last: u32,
}

/// A stretch of lines that hang together, or a hole in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Frame {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// What it is.
    pub kind: FrameKind,
}

/// The relation of a stretch of lines to the code around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FrameKind {
    /// Lines that are shown together, but for the holes in them.
    Whole,
    /// Lines in a whole of which any can be left out that are not in a whole themselves.
    Hole,
    /// A hole in markup, where a comment stands in braces.
    Markup,
}

#[cfg(test)]
mod tests;
