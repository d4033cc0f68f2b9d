//! The sections of a node in a request: entities, conversation, what happened, then the task.
//!
//! They are of this turn and this node alone, and stand right before the message, so that all that a
//! turn's nodes have in common is the beginning of their requests.

use alloc::format;
use alloc::vec::Vec;

use super::node::{Layer, TASK};
use super::{OutputForm, Place};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::chunk::ChunkBand;
use crate::view::item::reading_order;

/// The chunks, those of this turn alone in the sections that they belong to.
pub(super) fn sectioned(form: OutputForm, draft: &Draft, kept: &[Kept]) -> Vec<Kept> {
    let is_of_turn = |kept: &Kept| kept.before.is_none() && kept.band == ChunkBand::Volatile;
    let (mut of_turn, others): (Vec<&Kept>, Vec<&Kept>) =
        kept.iter().partition(|kept| is_of_turn(kept));
    of_turn.sort_by_cached_key(|kept| (kept.is_remembered, reading_order(&kept.source)));
    let mut all: Vec<Kept> = others.into_iter().cloned().collect();
    // In the flat form every piece is a paragraph.
    let end = match form {
        OutputForm::Flat => "\n",
        _ => "",
    };
    let words = |text: &str| Kept::words(Place::Band(ChunkBand::Volatile), format!("{text}{end}"));
    for layer in Layer::ALL {
        all.push(words(layer.heading()));
        let before = all.len();
        let of_layer = of_turn.iter().filter(|kept| Layer::of(kept) == layer);
        all.extend(of_layer.map(|kept| (*kept).clone()));
        let is_shown = layer == Layer::Conversation && !draft.history.is_empty();
        if all.len() == before && !is_shown {
            all.push(words(&format!("{}\n", layer.nothing())));
        }
        // As in a node's text: what an empty section says makes up for the line.
        if form != OutputForm::Flat {
            all.push(words("\n"));
        }
    }
    all.push(words(TASK));
    all
}
