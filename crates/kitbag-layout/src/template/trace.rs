//! Records which parts of a turn a rendering used, so that the engine need not guess it from the
//! source of a template.
//!
//! A value is known by its address in the context: whichever way a template takes to it (a path, a
//! partial, `@root`, a loop), it is the same value.

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

/// A value of the context whose use is recorded, and the part of the turn that it holds.
pub(crate) type Watched<'a> = (Root, &'a Value);

/// A rendered text, and the parts of the turn that it used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Traced {
    pub(crate) text: String,
    /// The parts that were looked at other than by a test.
    pub(crate) used: BTreeSet<Root>,
    /// The bytes of the text that are the query, where it was written whole; of several the last.
    pub(crate) query: Option<Range<usize>>,
    /// The number of times that the query was written whole.
    pub(crate) queries: usize,
}

impl Traced {
    /// Records that a value was used.
    pub(super) fn note(&mut self, value: &Val<'_>, watched: &[Watched<'_>]) {
        if let Some(root) = root(value, watched) {
            self.used.insert(root);
        }
    }

    /// Records that a value was used with all that is in it.
    pub(super) fn note_all(&mut self, value: &Val<'_>, watched: &[Watched<'_>]) {
        self.note(value, watched);
        if let Val::Given(Value::Map(map)) = value {
            for inner in map.values() {
                self.note_all(&Val::Given(inner), watched);
            }
        }
    }

    /// Records that a value was written to these bytes.
    pub(super) fn wrote(&mut self, value: &Val<'_>, at: Range<usize>, watched: &[Watched<'_>]) {
        let root = root(value, watched);
        self.used.extend(root);
        if root == Some(Root::Query) {
            self.query = Some(at);
            self.queries += 1;
        }
    }

    /// Moves the query by the indentation that every line of the text from `start` on has got.
    pub(super) fn indented(&mut self, start: usize, rendered: &str, indent: usize) {
        let moved = |at: usize| {
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
    let found = watched.iter().find(|(_, known)| ptr::eq(*known, *value));
    found.map(|(root, _)| *root)
}
