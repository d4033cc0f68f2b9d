//! Builds what a node sees, and the prompt around it.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Addition, BUILTIN_VIEWS, TurnState, View};
use crate::conversation::{format_conversation_view, get_conversation_history_of};
use crate::entity::{
    EntityContext, EntityMode, UnknownIds, format_entity_context, format_entity_view,
    get_entity_context,
};
use crate::reasoning::{format_reasoning_view, get_reasoning_trace};

/// Builds what Understand sees: every entity, the whole conversation, its own past decisions.
#[must_use]
pub fn build_understand_context(state: &TurnState) -> NodeContext {
    let [understand, ..] = &BUILTIN_VIEWS;
    build_context(understand, state)
}

/// Builds what Think sees: refs and labels, the whole conversation, what past turns did.
#[must_use]
pub fn build_think_context(state: &TurnState) -> NodeContext {
    let [_, think, ..] = &BUILTIN_VIEWS;
    build_context(think, state)
}

/// Builds what Act sees: all data, the recent turns, this turn's steps with their results.
#[must_use]
pub fn build_act_context(state: &TurnState) -> NodeContext {
    let [.., act, _] = &BUILTIN_VIEWS;
    build_context(act, state)
}

/// Builds what Reply sees: labels, the recent turns, outcomes, where the conversation stands.
#[must_use]
pub fn build_reply_context(state: &TurnState) -> NodeContext {
    let [.., reply] = &BUILTIN_VIEWS;
    build_context(reply, state)
}

/// Builds what the node of a view sees.
///
/// No row id of the registry is in it, whoever wrote the text. Ids that look like a row's and have
/// no ref are hidden too, but for those in what user and assistant said.
#[must_use]
pub fn build_context(view: &View, state: &TurnState) -> NodeContext {
    let registry = &state.conversation.id_registry;

    let entities = entities_of(state);
    let mut entity = format_entity_view(&entities, view.entity);
    if view.additions.contains(&Addition::DoNotReread) {
        let list = format_entity_context(&entities, EntityMode::DoNotRead);
        entity = format!("{entity}\n\n{list}");
    }

    let history = get_conversation_history_of(&state.conversation, view.conversation.recent_turns);
    let conversation = format_conversation_view(&history, &view.conversation);

    let mut trace = get_reasoning_trace(&state.conversation, &state.this_turn);
    for result in trace.current.results.values_mut() {
        *result = registry.hide_rows_in_data(result);
    }
    let reasoning = format_reasoning_view(&trace, &view.reasoning, &view.additions);

    NodeContext {
        node: view.name.clone().into_owned(),
        entity: registry
            .hide_row_ids(&entity, UnknownIds::Hide)
            .into_owned(),
        conversation: registry
            .hide_row_ids(&conversation, UnknownIds::Keep)
            .into_owned(),
        reasoning: registry
            .hide_row_ids(&reasoning, UnknownIds::Hide)
            .into_owned(),
    }
}

/// The entities with what they hold, row ids replaced.
pub(super) fn entities_of(state: &TurnState) -> EntityContext {
    let registry = &state.conversation.id_registry;
    let mut entities = get_entity_context(registry, state.this_turn.summary.turn_num);
    for entity in entities.entities_mut() {
        if let Some(data) = state.entity_data.get(&entity.reference) {
            entity.data = Some(registry.hide_rows_in_data(data));
        }
    }
    entities
}

/// What a node sees, a text per layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeContext {
    /// The node.
    pub node: String,
    /// What things exist.
    pub entity: String,
    /// What was said.
    pub conversation: String,
    /// What was decided and done.
    pub reasoning: String,
}

/// Puts a node's context and its task together.
///
/// The task is the operator's text and stands as it is.
#[must_use]
pub fn render_node_prompt(context: &NodeContext, task: &str) -> String {
    let NodeContext {
        entity,
        conversation,
        reasoning,
        ..
    } = context;
    format!(
        "## Entity Context\n{entity}\n\n\
         ## Conversation History\n{conversation}\n\n\
         ## What Happened (Reasoning Trace)\n{reasoning}\n\n\
         ---\n## Your Task\n{task}\n"
    )
}
