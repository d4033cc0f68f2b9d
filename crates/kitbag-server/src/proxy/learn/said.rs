//! Something that was said, with the reference under which it is kept.

use blake3::Hasher;
use kitbag::core::role::Role;
use kitbag::hook::CHAIN;
use kitbag::store::StoredMessage;

use crate::proxy::chain::{Chained, Link};

/// Something that was said in a request, or answered.
pub(super) struct Said<'a> {
    pub(super) role: Role,
    pub(super) words: &'a str,
    link: Link,
    is_answer: bool,
}

impl<'a> Said<'a> {
    /// A message of a request, if somebody said something in it.
    pub(super) fn of(one: &'a Chained) -> Option<Self> {
        Some(Self {
            role: one.role,
            words: one.words.as_deref()?,
            link: one.link,
            is_answer: false,
        })
        .filter(|said| matches!(said.role, Role::User | Role::Assistant))
    }

    /// The answer to all that was said up to a link, unless it has no words.
    pub(super) fn answer(words: &'a str, asked: Link) -> Option<Self> {
        let words = words.trim();
        (!words.is_empty()).then_some(Self {
            role: Role::Assistant,
            words,
            link: asked,
            is_answer: true,
        })
    }

    /// The link of something that a person said.
    pub(super) fn asked_link(&self) -> Option<Link> {
        (self.role == Role::User).then_some(self.link)
    }

    /// The name of the message in the store. That of an answer follows from what was asked: an answer that is given
    /// again, since a client asked again, takes the place of the first one. `behind` is the message behind which the
    /// same words are something else.
    pub(super) fn reference(&self, behind: Option<&str>) -> String {
        let hex =
            |link: &[u8]| -> String { link.iter().map(|byte| format!("{byte:02x}")).collect() };
        let link = match behind {
            Some(behind) => {
                let mut hasher = Hasher::new();
                hasher.update(behind.as_bytes()).update(&self.link);
                hex(hasher.finalize().as_bytes())
            }
            None => hex(&self.link),
        };
        match self.is_answer {
            true => format!("{CHAIN}{link}/answer"),
            false => format!("{CHAIN}{link}"),
        }
    }
}

/// Returns true for a conversation that a proxy keeps.
pub(super) fn is_by_chain(kept: &[StoredMessage]) -> bool {
    let mut references = kept.iter().filter_map(|it| it.reference.as_deref());
    references.any(|name| name.starts_with(CHAIN))
}
