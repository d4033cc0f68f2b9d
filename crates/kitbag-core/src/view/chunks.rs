//! The layers as chunks: what a view shows of an entity, a turn or a step is its most detailed
//! level, and less is offered when there is no room for that.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::render::entities_of;
use super::{TurnState, View};
use crate::chunk::{ChunkBand, ChunkType, ContextChunk, Detail, Level, Trust};
use crate::conversation::{
    ConversationTurn, Depth, TurnDetail, format_turn, get_conversation_history_of,
};
use crate::entity::{EntityDetail, EntitySnapshot, UnknownIds, format_entity};
use crate::reasoning::{StepDetail, StepSummary, format_step};

/// The entities, turns and this turn's steps that a view shows, as chunks for the fit.
///
/// Summaries, what is pending and a view's additions are short and never left out: they are in
/// [`build_context`](super::build_context).
#[must_use]
pub fn layer_chunks(view: &View, state: &TurnState) -> Vec<ContextChunk> {
    let registry = &state.conversation.id_registry;
    let shown = |text: String, ids: UnknownIds| registry.hide_row_ids(&text, ids).into_owned();
    let mut chunks = Vec::new();

    let entities = entities_of(state);
    let tiers = [
        (&entities.active, view.entity.active),
        (&entities.generated, view.entity.generated),
        (&entities.retained, view.entity.retained),
    ];
    for (tier, most) in tiers {
        for entity in tier {
            let source = format!("entity/{}", entity.reference);
            let texts = entity_texts(entity, most).map(|text| shown(text, UnknownIds::Hide));
            chunks.extend(chunk(ChunkType::Entity, source, texts));
        }
    }

    if view.conversation.depth != Depth::Nothing {
        let recent = view.conversation.recent_turns;
        let history = get_conversation_history_of(&state.conversation, recent);
        for turn in &history.recent_turns {
            let texts = [TurnDetail::Verbatim, TurnDetail::Summary]
                .map(|detail| shown(format_turn(turn, detail), UnknownIds::Keep));
            chunks.extend(chunk(ChunkType::Turn, turn_source(turn), texts));
        }
    }

    let turn = &state.this_turn;
    for step in &turn.summary.steps {
        let source = format!("step/{}.{}", turn.summary.turn_num, step.step_num);
        let result = turn.results.get(&step.step_num);
        let result = result.map(|result| registry.hide_rows_in_data(result));
        let texts = step_texts(step, result.as_ref(), view.reasoning.current_steps)
            .map(|text| shown(text, UnknownIds::Hide));
        chunks.extend(chunk(ChunkType::Step, source, texts));
    }
    chunks
}

/// Names a turn by what was said in it: its place in the list changes as older ones leave.
fn turn_source(turn: &ConversationTurn) -> String {
    let said = format!("{}\n{}", turn.timestamp, turn.user);
    let hash = blake3::hash(said.as_bytes()).to_hex();
    format!("turn/{}", hash.chars().take(12).collect::<String>())
}

/// An entity at the most detail that is allowed, and at each lesser one that makes sense.
fn entity_texts(entity: &EntitySnapshot, most: EntityDetail) -> impl Iterator<Item = String> {
    let details: &[EntityDetail] = match most {
        EntityDetail::Hidden => &[],
        EntityDetail::Refs => &[EntityDetail::Refs],
        EntityDetail::Labels => &[EntityDetail::Labels],
        EntityDetail::RefsAndLabels => &[EntityDetail::RefsAndLabels, EntityDetail::Refs],
        EntityDetail::Record => &[EntityDetail::Record, EntityDetail::RefsAndLabels],
        EntityDetail::FullData => &[
            EntityDetail::FullData,
            EntityDetail::RefsAndLabels,
            EntityDetail::Labels,
        ],
    };
    details.iter().map(|&detail| format_entity(entity, detail))
}

fn step_texts<'a>(
    step: &'a StepSummary,
    result: Option<&'a serde_json::Value>,
    most: StepDetail,
) -> impl Iterator<Item = String> + 'a {
    let details: &[StepDetail] = match most {
        StepDetail::Hidden => &[],
        StepDetail::Line => &[StepDetail::Line],
        StepDetail::Outcome => &[StepDetail::Outcome, StepDetail::Line],
        StepDetail::Full => &[StepDetail::Full, StepDetail::Outcome, StepDetail::Line],
    };
    details
        .iter()
        .map(move |&detail| format_step(step, result, detail))
}

/// A chunk of these renderings, the most detailed first; none when there are none.
fn chunk(
    chunk_type: ChunkType,
    source: String,
    texts: impl IntoIterator<Item = String>,
) -> Option<ContextChunk> {
    // The texts are list items whose foreign words were neutralised when they were written, and the
    // piece that is made of a level becomes an item by itself.
    let item = |text: String| {
        text.strip_prefix("- ")
            .map_or_else(|| text.clone(), String::from)
    };
    let mut texts = texts.into_iter().map(item);
    let full = texts.next()?;
    let mut chunk = ContextChunk::new(chunk_type, source, full)
        .with_band(ChunkBand::Volatile)
        .with_trust(Trust::Operator);
    for (detail, text) in [Detail::Outline, Detail::Line].into_iter().zip(texts) {
        chunk = chunk.with_level(Level::new(detail, text));
    }
    Some(chunk)
}
