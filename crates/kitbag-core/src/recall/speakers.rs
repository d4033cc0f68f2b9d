//! The speakers whom a query names, if there are several.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::alike::distance;
use super::query::Query;
use super::rank::MessageFacts;
use crate::role::Role;
use crate::text::{fold, tokens};

/// The speakers whom a query names, by their names as they are stored.
#[derive(Debug, Default)]
pub(super) struct NamedSpeakers<'f>(BTreeSet<&'f str>);

impl<'f> NamedSpeakers<'f> {
    /// Finds the names of people in a query, as words: "Maria" names "Maria Lopez".
    ///
    /// Returns no names if one person speaks or all speakers are named, which distinguishes nobody.
    pub(super) fn of(query: &Query, facts: impl Iterator<Item = &'f MessageFacts>) -> Self {
        let people = facts.filter(|facts| facts.role == Role::User);
        let names = people.filter_map(|facts| facts.speaker.as_deref());
        let names: BTreeMap<&str, BTreeSet<String>> =
            names.map(|name| (name, words(name))).collect();
        let mut words_of_all = names.values();
        let Some(mut shared) = words_of_all.next().cloned() else {
            return Self::default();
        };
        // A name that all share, such as that of a family, names nobody.
        for words in words_of_all {
            shared.retain(|word| words.contains(word));
        }
        let named_by = |names_word: &dyn Fn(&str) -> bool| {
            let is_named = |words: &BTreeSet<String>| {
                let mut own = words.difference(&shared);
                own.any(|word| names_word(word))
            };
            let named = names.iter().filter(|(_, words)| is_named(words));
            named.map(|(name, _)| *name).collect::<BTreeSet<&str>>()
        };
        let mut named = named_by(&|word| query.has_word(word));
        // Misspelled names are looked for only among words with a capital, and only if none is
        // spelled right.
        if named.is_empty() {
            named = named_by(&|word| query.capitals().any(|other| is_same_name(word, other)));
        }
        // All are named, or only one speaks: the name distinguishes no message.
        if named.len() == names.len() {
            named.clear();
        }
        Self(named)
    }

    pub(super) fn contains(&self, facts: &MessageFacts) -> bool {
        let is_person = facts.role == Role::User;
        let speaker = facts.speaker.as_deref().filter(|_| is_person);
        speaker.is_some_and(|name| self.0.contains(name))
    }
}

fn words(name: &str) -> BTreeSet<String> {
    tokens(name).map(|token| fold(&token.word)).collect()
}

/// Tells whether two names are one, written by different people: they begin alike, and at most
/// three letters in eight differ.
fn is_same_name(name: &str, other: &str) -> bool {
    let (name, other): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
    let shorter = name.len().min(other.len());
    shorter >= SHORTEST
        && name.first() == other.first()
        && distance(&name, &other) <= shorter * 3 / 8
}

/// Shorter names are too often one letter apart.
const SHORTEST: usize = 4;
