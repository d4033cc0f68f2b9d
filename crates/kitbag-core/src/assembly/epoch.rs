//! Epochs: runs of turns during which the selection before the history stays as it is.
//!
//! A fresh selection every turn would change the prompt's beginning every turn and lose the
//! provider's cache. So a selection is kept, and chunks that become relevant later are appended
//! behind the history, where they stay. The cost of keeping it is counted each turn as regret: the
//! additional worth of a fresh selection, in tokens at the margin's price. When the sum of regrets
//! exceeds the cost of rewriting the prefix, everything is chosen again at once.
//!
//! Within a turn nothing is chosen at all: while the history and the current message are the same,
//! everything before the tool steps stays as it is.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::Reuse;
use super::breakpoint::Breakpoint;
use super::draft::Draft;
use super::kept::Kept;
use super::ledger::Renewal;
use super::memo::Memo;
use super::segment::Segment;
use super::select::{Base, Priced};
use super::settings::{AssemblySettings, CacheProfile};
use super::turn::Turn;
use crate::band::Band;
use crate::chunk::{ChunkBand, ChunkId};
use crate::fit::Fitted;
use crate::message::Message;
use crate::tokens::{Exactness, TokenCounter, Tokens};

/// A selection that lasts, its cost so far, and the shape of the latest request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Epoch {
    /// The chunks that were chosen at its beginning or appended since, and those of the latest turn
    /// alone.
    pub kept: Vec<Kept>,
    /// The sum of regrets since it began, in tokens.
    pub regret: u64,
    /// A hash of everything that stands before the selection.
    head: String,
    /// The number of messages in the history of its latest turn, and their hash.
    history: (usize, String),
    /// A hash of the first of those messages; empty in epochs of schema 1.
    #[serde(default)]
    first: String,
    /// A hash of that turn's current message.
    current: String,
    history_tokens: Tokens,
    /// The length and hash of each text of the latest request.
    texts: Vec<(usize, String)>,
    /// The counter of that request, with its factor; empty in epochs of schema 4.
    #[serde(default)]
    counter: String,
    /// The model of that request; none in epochs of schema 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The bytes of that request up to each of its breakpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<usize>,
}

/// The relation of a draft's history to that of the latest turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// It begins with all messages of the latest one.
    Appended,
    /// It was shortened or changed: the cache loses its bytes, but not those before it.
    Moved,
}

/// The number of turns that a fresh selection should last before the growing history displaces it.
const HEADROOM_TURNS: u32 = 8;

impl Epoch {
    pub(super) fn new(
        kept: Vec<Kept>,
        regret: u64,
        turn: &Turn<'_>,
        segments: &[Segment],
        breakpoints: &[Breakpoint],
    ) -> Self {
        let length = turn.draft.history.len();
        Self {
            kept,
            regret,
            head: head_hash(turn.draft, turn.settings, turn.counter.counter),
            history: (length, hash(&turn.draft.history)),
            // Without a history there is no first message, and `history_start` looks for the
            // current one.
            first: turn.draft.history.first().map(hash).unwrap_or_default(),
            current: hash(&turn.draft.current),
            history_tokens: turn.history_tokens(),
            texts: texts(segments),
            counter: turn.counter.counter.name().into(),
            model: turn.draft.model.clone(),
            marks: marks(segments, breakpoints),
        }
    }

    /// Returns the epoch with the tokens of its chunks as `counter` counts them now: a factor that
    /// bills have corrected is no reason to choose again, as long as everything fits.
    pub(super) fn recounted(&self, counter: &Memo<'_>) -> Cow<'_, Self> {
        if self.counter == counter.counter.name() {
            return Cow::Borrowed(self);
        }
        let mut epoch = self.clone();
        for kept in &mut epoch.kept {
            kept.tokens = counter.count(&kept.text);
        }
        Cow::Owned(epoch)
    }

    /// Tells whether something has changed that stands before the selection, so that the provider reads
    /// nothing of the next request from its cache. The messages of the draft do not matter.
    #[must_use]
    pub fn is_head_changed(
        &self,
        draft: &Draft,
        settings: &AssemblySettings,
        counter: &dyn TokenCounter,
    ) -> bool {
        self.head != head_hash(draft, settings, counter)
    }

    /// Compares the draft's history with the latest one. An error says why the selection cannot
    /// stand before it at all.
    pub(super) fn continues(
        &self,
        draft: &Draft,
        settings: &AssemblySettings,
        counter: &Memo<'_>,
    ) -> Result<Continuation, Renewal> {
        if self.is_head_changed(draft, settings, counter.counter) {
            return Err(Renewal::PrefixChanged);
        }
        if self
            .kept
            .iter()
            .any(|kept| draft.retracted.contains(&kept.id))
        {
            return Err(Renewal::Retracted);
        }
        let (length, all) = &self.history;
        let continued = draft.history.get(..*length);
        Ok(match continued {
            Some(history) if *all == hash(&history) => Continuation::Appended,
            _ => Continuation::Moved,
        })
    }

    /// Returns the place in `messages` of the message that the latest turn's history began with. If
    /// that turn was the first, the history begins with its own message. A prompt that showed no
    /// history although there was one, such as a node's, says nothing about it.
    pub(crate) fn history_start(&self, messages: &[Message]) -> Option<usize> {
        let (length, all) = &self.history;
        let first = match *length {
            0 => &self.current,
            _ => &self.first,
        };
        let is_start = |start: &usize| {
            let is_first = messages
                .get(*start)
                .is_some_and(|message| hash(message) == *first);
            let same = || messages.get(*start..start.saturating_add(*length));
            is_first && same().is_some_and(|history| hash(&history) == *all)
        };
        match *length {
            0 => Some(0).filter(is_start),
            _ => (0..messages.len()).rev().find(is_start),
        }
    }

    /// Tells whether this is another inference of the latest turn.
    pub(super) fn is_same_turn(&self, draft: &Draft) -> bool {
        // Steps do not count: they are what one inference of a turn adds for the next.
        self.history.0 == draft.history.len() && self.current == hash(&draft.current)
    }

    /// Returns the chunks that stay in the next turn. Those among the messages of the history leave
    /// when it is shortened or changed.
    pub(super) fn lasting(&self, history: Continuation) -> Vec<Kept> {
        let stays = |kept: &&Kept| history == Continuation::Appended || kept.before.is_none();
        let lasts = |kept: &&Kept| kept.band != ChunkBand::Volatile && stays(kept);
        self.kept.iter().filter(lasts).cloned().collect()
    }

    /// Returns the tokens that a fresh selection leaves free for the growth of the conversation:
    /// the growth since the last turn, several times over.
    pub(super) fn headroom(&self, history_tokens: Tokens, room: Tokens) -> Tokens {
        let growth = history_tokens.saturating_sub(self.history_tokens);
        // At most a quarter, or one long message would leave next to nothing for chunks.
        Tokens(growth.0.saturating_mul(HEADROOM_TURNS)).min(Tokens(room.0 / 4))
    }

    /// Returns the part of the latest request that `next` begins with.
    pub(super) fn reuse(&self, next: &Self) -> Reuse {
        let pairs = self.texts.iter().zip(&next.texts);
        // A cache matches prefixes, so nothing behind the first difference counts.
        let shared = pairs.take_while(|(before, now)| before == now);
        let shared = shared.map(|((length, _), _)| length).sum();
        let marks = self.marks.iter().copied();
        let models = self.model.as_ref().zip(next.model.as_ref());
        Reuse {
            shared,
            previous: self.texts.iter().map(|(length, _)| length).sum(),
            marked: marks.filter(|mark| *mark <= shared).max().unwrap_or(0),
            is_same_model: models.is_none_or(|(before, now)| before == now),
        }
    }
}

/// Returns the worth that each chunk already adds because the prompt shows it.
pub(super) fn bases(standing: &[Kept], priced: &[Priced]) -> Vec<Base> {
    let mut texts: BTreeMap<&ChunkId, Vec<&str>> = BTreeMap::new();
    for kept in standing {
        texts.entry(&kept.id).or_default().push(&kept.text);
    }
    let base = |priced: &Priced| {
        let texts = texts.get(&priced.id).map_or(&[][..], Vec::as_slice);
        let pieces = priced.pieces.iter().enumerate();
        // A chunk that has changed has no piece with the text that stands there, which then adds
        // nothing.
        let shown = pieces
            .filter(|(_, piece)| texts.contains(&piece.text.as_str()))
            .max_by_key(|(index, piece)| (piece.worth, core::cmp::Reverse(*index)));
        Base {
            shown: shown.map(|(index, _)| index),
            worth: shown.map_or(0, |(_, piece)| piece.worth),
            is_outdated: shown.is_none() && !texts.is_empty() && !priced.is_duplicate,
        }
    };
    priced.iter().map(base).collect()
}

/// Returns the cost of keeping a selection for one turn, in tokens.
pub(super) fn regret(best: &Fitted, kept_worth: u64) -> u64 {
    let lost = best.worth.saturating_sub(kept_worth);
    if best.price.worth > 0 {
        return u64::from(best.price.tokens_for(lost).0);
    }
    // Everything would fit, so a token at the margin is worth nothing: the average counts.
    let lost = u128::from(lost) * u128::from(best.used.0);
    let tokens = lost.checked_div(u128::from(best.worth)).unwrap_or(0);
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// Returns the regret at which a selection is renewed: the additional cost of rewriting `prefix`
/// tokens over reading them, in input tokens.
pub(super) fn limit(prefix: Tokens, cache: &CacheProfile, patience_permille: u32) -> u64 {
    let extra = u64::from(cache.write_permille.saturating_sub(cache.read_permille));
    u64::from(prefix.0) * extra / 1_000 * u64::from(patience_permille) / 1_000
}

fn head_hash(draft: &Draft, settings: &AssemblySettings, counter: &dyn TokenCounter) -> String {
    let injected: Vec<_> = draft.injected(Band::System).collect();
    // Everything that stands before the selection: a change there loses the cache anyway.
    let head = (
        settings.form.as_str(),
        vocabulary(counter),
        &draft.model,
        draft.sorted_tools(),
        &draft.identity,
        injected,
    );
    hash(&head)
}

/// Returns the vocabulary without the factor on its counts: bills correct the factor, which must
/// not end an epoch.
fn vocabulary(counter: &dyn TokenCounter) -> Cow<'_, str> {
    match counter.exactness() {
        Exactness::Exact => Cow::Borrowed(counter.name()),
        Exactness::Estimated { base, .. } => base,
    }
}

/// Returns the bytes up to the last text of each band that has a breakpoint.
fn marks(segments: &[Segment], breakpoints: &[Breakpoint]) -> Vec<usize> {
    let ends = segments.iter().scan(0, |end, segment| {
        *end += segment.text.len();
        Some((segment.band, *end))
    });
    let ends: Vec<(Band, usize)> = ends.collect();
    let end_of = |breakpoint: &Breakpoint| {
        let of_band = ends.iter().rev().find(|(band, _)| *band == breakpoint.band);
        of_band.map(|(_, end)| *end)
    };
    breakpoints.iter().filter_map(end_of).collect()
}

fn texts(segments: &[Segment]) -> Vec<(usize, String)> {
    let text = |segment: &Segment| (segment.text.len(), hash(&(segment.role, &segment.text)));
    segments.iter().map(text).collect()
}

fn hash(value: &(impl Serialize + Debug)) -> String {
    // Everything that is hashed here should become JSON. What does not must still differ from everything else,
    // or a selection would be kept for another conversation.
    let json = serde_json::to_vec(value);
    let bytes = json.unwrap_or_else(|_| format!("{value:?}").into_bytes());
    // 128 bits: no two texts of a conversation will meet by accident.
    let hex = blake3::hash(&bytes).to_hex();
    hex.get(..32).unwrap_or_default().into()
}

#[cfg(test)]
mod tests;
