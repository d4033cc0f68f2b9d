//! What a store found for a query.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Where a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation; neighbours follow one another.
    pub message: u32,
    /// The passage's number in the message.
    pub passage: u16,
}

/// That a term occurs in a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Posting {
    /// In which.
    pub place: Place,
    /// How often.
    pub count: u16,
    /// How many words the passage has.
    pub words: u16,
    /// Whether a person said it, and not an assistant, a tool or the system.
    pub by_person: bool,
}

/// What a store found for a query in one scope, such as all messages of one sender.
///
/// The postings of a term are complete for the scope, so that its frequency is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How many passages the scope has.
    pub passages: u64,
    /// How many conversations the scope has.
    pub conversations: u64,
    /// How many words the passages have together.
    pub words: u64,
    /// Where each term occurs. Their order does not matter.
    pub postings: BTreeMap<String, Vec<Posting>>,
    /// Messages of the days that the query names: conversation and message.
    pub dated: Vec<(u32, u32)>,
    /// The conversations whose messages may be candidates; those of all, if it is missing. Terms are
    /// as frequent as they are in all of them.
    pub within: Option<BTreeSet<u32>>,
}

impl Evidence {
    /// Returns whether messages of a conversation may be candidates.
    pub(super) fn admits(&self, conversation: u32) -> bool {
        let within = self.within.as_ref();
        within.is_none_or(|within| within.contains(&conversation))
    }
}
