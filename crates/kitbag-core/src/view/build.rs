//! Builds the context of a node: as data, as texts, and as chunks for the fit.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::item::{Item, list, reading_order};
use super::{Addition, BUILTIN_VIEWS, TurnState, View};
use crate::chunk::{ChunkBand, ContextChunk, Detail, Level, Trust};
use crate::conversation::{
    ConversationHistory, NO_CONVERSATION, get_conversation_history_of, history_items,
};
use crate::entity::{
    EntityContext, NO_ENTITIES, UnknownIds, do_not_read, entity_items, get_entity_context,
};
use crate::reasoning::{
    CurationDetail, CurationSummary, NO_TRACE, ReasoningTrace, get_reasoning_trace, trace_items,
};

/// Returns everything that the node of a view sees, as chunks for the fit.
///
/// The view's detail of an entity, a turn or a step is the chunk's most detailed level, and less is
/// offered for when there is no room. Items that the node must not miss are critical: the open
/// question, drafts, this turn's curation, the view's additions, and this turn's steps for the node
/// that executes them.
///
/// No row id of the registry is in a chunk, whoever wrote the text. Ids that look like a row's and
/// have no ref are hidden too, except in the words of user and assistant.
///
/// ```
/// use kitbag_core::stored::ConversationContext;
/// use kitbag_core::view::{TurnState, View, node_chunks};
///
/// let mut state = TurnState::new(ConversationContext::new(), 1);
/// state.conversation.id_registry.register_read("row-7", "recipes", "Lemon Soup");
/// let chunks = node_chunks(View::builtin("think").unwrap(), &state);
/// assert_eq!(chunks[0].source, "entity/recipe_1");
/// assert_eq!(chunks[0].content(), "`recipe_1`: Lemon Soup");
/// ```
#[must_use]
pub fn node_chunks(view: &View, state: &TurnState) -> Vec<ContextChunk> {
    let items = Layers::of(view, state).items(view, state);
    items.into_iter().flatten().filter_map(chunk).collect()
}

/// Builds the context of Understand: every entity, the whole conversation, its own past decisions.
#[must_use]
pub fn build_understand_context(state: &TurnState) -> NodeContext {
    let [understand, ..] = &BUILTIN_VIEWS;
    build_context(understand, state)
}

/// Builds the context of Think: refs and labels, the whole conversation, the past turns.
#[must_use]
pub fn build_think_context(state: &TurnState) -> NodeContext {
    let [_, think, ..] = &BUILTIN_VIEWS;
    build_context(think, state)
}

/// Builds the context of Act: all data, the recent turns, this turn's steps with their results.
#[must_use]
pub fn build_act_context(state: &TurnState) -> NodeContext {
    let [_, _, act, ..] = &BUILTIN_VIEWS;
    build_context(act, state)
}

/// Builds the context of Reply: labels, the recent turns, outcomes, the phase of the conversation.
#[must_use]
pub fn build_reply_context(state: &TurnState) -> NodeContext {
    let [_, _, _, reply, ..] = &BUILTIN_VIEWS;
    build_context(reply, state)
}

/// Builds the context of the node of a view, whatever its size.
///
/// A prompt with a budget is made of [`node_chunks`]; with room for all of them it says the same.
#[must_use]
pub fn build_context(view: &View, state: &TurnState) -> NodeContext {
    let layers = Layers::of(view, state);
    let [entity, conversation, reasoning] = layers.items(view, state);
    let shows_curation = view.reasoning.curation == CurationDetail::Summary;
    NodeContext {
        node: view.name.clone().into_owned(),
        entity: layers.entity.seen_as(view.entity),
        conversation: layers.conversation.seen_as(&view.conversation),
        reasoning: layers.reasoning.seen_as(view),
        curation: shows_curation.then(|| get_current_curation(state)),
        text: NodeText {
            entity: list(&entity, NO_ENTITIES),
            conversation: list(&conversation, NO_CONVERSATION),
            reasoning: list(&reasoning, NO_TRACE),
        },
    }
}

/// The context of a node: each layer as data for programs, and as a text for its model.
///
/// In the data, people's words and the notes of steps stand as they were stored, row ids included;
/// the texts have refs in their place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeContext {
    pub node: String,
    /// The entities, without the tiers and the data that the view hides.
    pub entity: EntityContext,
    pub conversation: ConversationHistory,
    /// The decisions and actions.
    pub reasoning: ReasoningTrace,
    /// This turn's decisions about entities, for a node that sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curation: Option<CurationSummary>,
    /// The same as texts.
    pub text: NodeText,
}

/// The context of a node, a text per layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeText {
    /// The entities.
    pub entity: String,
    pub conversation: String,
    /// The decisions and actions.
    pub reasoning: String,
}

/// Returns this turn's decisions about entities, from the turn or from the decision log.
#[must_use]
pub fn get_current_curation(state: &TurnState) -> CurationSummary {
    let turn = &state.this_turn.summary;
    // A turn that was loaded again has its decisions in the log alone.
    if turn.entity_curation.is_empty() {
        let log = &state.conversation.understand_decision_log;
        return CurationSummary::logged(log, turn.turn_num);
    }
    turn.entity_curation.clone()
}

/// Returns this turn's steps with their results, and whatever else Act sees of the trace.
#[must_use]
pub fn get_current_turn_steps(state: &TurnState) -> ReasoningTrace {
    let [_, _, act, ..] = &BUILTIN_VIEWS;
    trace_of(state).seen_as(act)
}

/// Returns the outcomes of this turn and the last, and whatever else Reply sees of the trace.
#[must_use]
pub fn get_execution_outcomes(state: &TurnState) -> ReasoningTrace {
    let [_, _, _, reply, ..] = &BUILTIN_VIEWS;
    trace_of(state).seen_as(reply)
}

/// The three layers before a view hides parts of them.
struct Layers {
    entity: EntityContext,
    conversation: ConversationHistory,
    reasoning: ReasoningTrace,
}

impl Layers {
    fn of(view: &View, state: &TurnState) -> Self {
        let (stored, recent) = (&state.conversation, view.conversation.recent_turns);
        let turn_num = state.this_turn.summary.turn_num;
        Self {
            entity: get_entity_context(&stored.id_registry, turn_num),
            conversation: get_conversation_history_of(stored, recent),
            reasoning: trace_of(state),
        }
    }

    /// Returns the items that the view shows of each layer, with refs in place of row ids.
    fn items(&self, view: &View, state: &TurnState) -> [Vec<Item>; 3] {
        let registry = &state.conversation.id_registry;
        let turn_num = state.this_turn.summary.turn_num;
        let mut entity = entity_items(&self.entity, view.entity);
        if view.additions.contains(&Addition::DoNotReread) {
            entity.extend(do_not_read(&self.entity));
        }
        let mut conversation = history_items(&self.conversation, &view.conversation, turn_num);
        let mut reasoning = trace_items(&self.reasoning, view);
        // In the conversation an id without a ref may be part of what a person wrote.
        for (items, ids) in [
            (&mut entity, UnknownIds::Hide),
            (&mut conversation, UnknownIds::Keep),
            (&mut reasoning, UnknownIds::Hide),
        ] {
            items.sort_by(|a, b| reading_order(&a.source).cmp(&reading_order(&b.source)));
            for text in items.iter_mut().flat_map(|item| &mut item.texts) {
                *text = registry.hide_row_ids(text, ids).into_owned();
            }
        }
        [entity, conversation, reasoning]
    }
}

fn trace_of(state: &TurnState) -> ReasoningTrace {
    let registry = &state.conversation.id_registry;
    let mut trace = get_reasoning_trace(&state.conversation, &state.this_turn);
    trace.current.summary.entity_curation = get_current_curation(state);
    for result in trace.current.results.values_mut() {
        // Hidden now and not when it was recorded: a row may have got its ref since.
        *result = registry.hide_rows_in_data(result);
    }
    trace
}

/// Makes a chunk of an item's texts. A text that is no shorter than the one before is no level.
fn chunk(item: Item) -> Option<ContextChunk> {
    let mut texts = item.texts.into_iter();
    let full = texts.next()?;
    // The words of others in an item were neutralised when it was written.
    let mut chunk = ContextChunk::new(item.chunk_type, item.source, full)
        .with_priority(item.priority)
        .with_relevance(item.relevance)
        // Layers change with every turn, so that they stand behind the history.
        .with_band(ChunkBand::Volatile)
        .with_trust(Trust::Operator);
    // No item has more than three texts.
    for (detail, text) in [Detail::Outline, Detail::Line].into_iter().zip(texts) {
        let is_shorter = chunk
            .levels
            .last()
            .is_some_and(|last| text.len() < last.content.len());
        if is_shorter {
            chunk = chunk.with_level(Level::new(detail, text));
        }
    }
    Some(chunk)
}
