//! Records which parts of a turn a rendering uses, so that the engine need not guess from the
//! source of a template.
//!
//! A value is recognised by its address in the context: a path, a partial, `@root` and a loop all
//! lead to the same one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::ptr;

use super::js::Val;
use crate::value::Value;

/// A part of a turn that has a place of its own in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    Messages,
    Tools,
    Query,
}

/// A value of the context whose use is recorded, with the part of the turn that it holds.
pub(crate) type Watched<'a> = (Root, &'a Value);

/// A rendered text with the parts of the turn that it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Traced {
    pub(crate) text: String,
    /// The parts that were read, except by mere tests.
    pub(crate) used: BTreeSet<Root>,
    /// The range of the query in the text, if it was written as a whole; the last one if there are
    /// several.
    pub(crate) query: Option<Range<usize>>,
    /// The number of times that the query was written as a whole.
    pub(crate) queries: usize,
}

impl Traced {
    /// Records that a value was used.
    pub(super) fn note(&mut self, value: &Val<'_>, watched: &[Watched<'_>]) {
        if let Some(root) = root(value, watched) {
            self.used.insert(root);
        }
    }

    /// Records that a value was used with everything in it.
    pub(super) fn note_all(&mut self, value: &Val<'_>, watched: &[Watched<'_>]) {
        self.note(value, watched);
        if let Val::Given(Value::Map(map)) = value {
            for inner in map.values() {
                self.note_all(&Val::Given(inner), watched);
            }
        }
    }

    /// Records that a value was written to this range.
    pub(super) fn wrote(&mut self, value: &Val<'_>, at: Range<usize>, watched: &[Watched<'_>]) {
        let root = root(value, watched);
        // Part of the text now, so used whatever a test said.
        self.used.extend(root);
        if root == Some(Root::Query) {
            self.query = Some(at);
            self.queries += 1;
        }
    }

    /// Moves the range of the query by the indentation that every line from `start` on has
    /// received.
    pub(super) fn indented(&mut self, start: usize, rendered: &str, indent: usize) {
        let moved = |at: usize| {
            // The line of the offset itself is indented too, hence one more than the newlines
            // before it.
            let before = rendered.get(..at - start).unwrap_or_default();
            at + indent * (before.matches('\n').count() + 1)
        };
        if let Some(query) = self.query.take_if(|query| query.start >= start) {
            self.query = Some(moved(query.start)..moved(query.end));
        }
    }
}

fn root(value: &Val<'_>, watched: &[Watched<'_>]) -> Option<Root> {
    let Val::Given(value) = value else {
        return None;
    };
    // By address and not by value: two equal texts may come from different parts of the turn.
    let found = watched.iter().find(|(_, known)| ptr::eq(*known, *value));
    found.map(|(root, _)| *root)
}
