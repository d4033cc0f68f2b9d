//! Sections of a rendered layer: a heading with list items below it, left out when it has none.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// Sections in the making.
#[derive(Default)]
pub(crate) struct Sections {
    lines: Vec<String>,
}

impl Sections {
    /// Adds a section, unless it has no items.
    pub(crate) fn push(&mut self, heading: &str, items: impl IntoIterator<Item = String>) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            self.lines.push(heading.to_owned());
            self.lines.extend(items);
        }
    }

    /// The text, or what to say if there is none.
    pub(crate) fn finish(self, if_empty: &str) -> String {
        if self.lines.is_empty() {
            if_empty.to_owned()
        } else {
            self.lines.join("\n")
        }
    }
}
