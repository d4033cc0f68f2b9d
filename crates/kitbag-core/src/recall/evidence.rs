//! The evidence that a store has for a query.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// The place of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation; neighbours follow one another.
    pub message: u32,
    /// The passage's number in the message.
    pub passage: u16,
}

/// The occurrence of a term in a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Posting {
    /// The passage.
    pub place: Place,
    /// The number of times.
    pub count: u16,
    /// The number of words in the passage.
    pub words: u16,
    /// Set if a person said it, and not an assistant, a tool or the system.
    pub by_person: bool,
}

/// The evidence that a store has for a query in one scope, such as all messages of one sender.
///
/// The postings of a term are complete for the scope, so that its frequency is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The number of passages in the scope.
    pub passages: u64,
    /// The number of conversations in the scope.
    pub conversations: u64,
    /// The number of words in all passages together.
    pub words: u64,
    /// The occurrences of each term, in any order.
    pub postings: BTreeMap<String, Vec<Posting>>,
    /// Messages of the days that the query names: conversation and message.
    pub dated: Vec<(u32, u32)>,
    /// The conversations whose messages may be candidates; all of them, if it is missing. The
    /// frequencies of terms are those in all conversations in any case.
    pub within: Option<BTreeSet<u32>>,
}

impl Evidence {
    /// Tells whether messages of a conversation may be candidates.
    pub(super) fn admits(&self, conversation: u32) -> bool {
        let within = self.within.as_ref();
        within.is_none_or(|within| within.contains(&conversation))
    }
}
