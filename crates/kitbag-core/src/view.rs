//! Views: the part of the three layers that a node sees, and the prompt made of it.
//!
//! Nodes are data. Five views are built in ([`View::builtin`]): the four nodes below, and `turn` for
//! an ordinary turn without nodes, whose prompt holds the history itself. A further node is a [`View`]
//! in configuration ([`View::read`]), which shows what it names and nothing else.
//!
//! | layer, column | understand | think | act | reply |
//! |---|---|---|---|---|
//! | entity: active | record | refs and labels | full data | labels |
//! | entity: generated | record | refs and labels | full data | labels |
//! | entity: retained | record | refs | - | - |
//! | conversation: recent turns | yes | yes | yes | yes |
//! | conversation: summary | yes | yes | - | - |
//! | conversation: engagement | yes | yes | - | yes |
//! | conversation: pending | yes | yes | - | yes |
//! | reasoning: steps | - | past, in full | this turn's, in full | outcomes |
//! | reasoning: curation | its own decisions | summary | - | - |
//! | reasoning: phase | - | yes | - | yes |
//!
//! A turn of the four:
//!
//! ```
//! use kitbag_core::entity::{CurationDecision, Retention};
//! use kitbag_core::reasoning::StepSummary;
//! use kitbag_core::stored::ConversationContext;
//! use kitbag_core::view::{
//!     TurnState, build_act_context, build_reply_context, build_think_context,
//!     build_understand_context, get_current_curation, get_current_turn_steps,
//!     get_execution_outcomes,
//! };
//! use serde_json::json;
//!
//! let mut state = TurnState::new(ConversationContext::new(), 1);
//! state.conversation.id_registry.register_read("row-7", "recipes", "Lemon Soup");
//!
//! let understand = build_understand_context(&state);
//! assert_eq!(understand.entity.active[0].reference, "recipe_1");
//! let mut decision = CurationDecision::default();
//! decision.retain_active.push(Retention::new("recipe_1", "they chose it"));
//! state.curate(&decision);
//!
//! let think = build_think_context(&state);
//! assert_eq!(think.curation, Some(get_current_curation(&state)));
//! assert!(think.text.reasoning.contains("kept `recipe_1`: they chose it"));
//!
//! let step = StepSummary::new(1, "read", "recipes", "Read the soup", None, 1);
//! let step = step.with_entities(["recipe_1"]).with_note("it has garlic");
//! state.finish_step(step, json!([{"id": "row-7", "garlic": true}]));
//! let act = build_act_context(&state);
//! assert!(act.text.entity.contains(r#""garlic":true"#));
//! assert_eq!(act.reasoning, get_current_turn_steps(&state));
//!
//! let reply = build_reply_context(&state);
//! assert_eq!(reply.reasoning, get_execution_outcomes(&state));
//! assert!(reply.text.reasoning.contains("read: 1 record"));
//! ```
//!
//! Each layer has one owner. Understand curates the entities ([`TurnState::curate`]). Act registers
//! them (the registry's `register_…`) and records its steps ([`TurnState::finish_step`]), which keeps
//! the data of rows. Summarize ([`crate::summarize`]) writes history and reasoning. A plan that names
//! a retained ref brings it back: [`crate::entity::SessionIdRegistry::touch_mentioned`].

mod build;
pub(crate) mod item;
mod parse;

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use build::{
    NodeContext, NodeText, build_act_context, build_context, build_reply_context,
    build_think_context, build_understand_context, get_current_curation, get_current_turn_steps,
    get_execution_outcomes, node_chunks,
};
pub use item::is_derived_from_messages;
pub use parse::ViewError;
pub(crate) use parse::number_of_turns;

use crate::conversation::{ConversationPart, ConversationView, Depth};
use crate::entity::{CurationApplied, CurationDecision, EntityDetail, EntityView, apply_curation};
use crate::reasoning::{CurationDetail, CurrentTurn, ReasoningView, StepDetail, StepSummary};
use crate::stored::ConversationContext;

/// The part of each layer that one node sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The node.
    pub name: Cow<'static, str>,
    /// Its view of the entities.
    pub entity: EntityView,
    pub conversation: ConversationView,
    pub reasoning: ReasoningView,
    /// Its additions to these.
    pub additions: Cow<'static, [Addition]>,
}

/// Something that a node must not miss, beyond its view of the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Addition {
    /// The refs that need not be read again.
    DoNotReread,
    /// The last turn in a line.
    LastTurnLine,
    /// The user's wish.
    UserExpressed,
    /// The note from the previous step.
    PreviousStepNote,
    /// The keys of the archive, with a line about each.
    ContentArchive,
    /// Older steps that were compressed.
    OlderSteps,
    /// The latest thing that this turn accomplished.
    Accomplished,
}

/// The built-in views. Functions pick them by this order: understand, think, act, reply, turn.
pub(crate) static BUILTIN_VIEWS: [View; 5] = [
    View {
        name: Cow::Borrowed("understand"),
        entity: EntityView::CURATION,
        conversation: ConversationView::new(Depth::Full, &[]),
        reasoning: ReasoningView {
            curation: CurationDetail::OwnHistory,
            ..ReasoningView::HIDDEN
        },
        additions: Cow::Borrowed(&[]),
    },
    View {
        name: Cow::Borrowed("think"),
        entity: EntityView::REFS_AND_LABELS,
        conversation: ConversationView::new(Depth::Full, &[]),
        reasoning: ReasoningView {
            past_steps: StepDetail::Full,
            curation: CurationDetail::Summary,
            phase: true,
            ..ReasoningView::HIDDEN
        },
        additions: Cow::Borrowed(&[
            Addition::DoNotReread,
            Addition::LastTurnLine,
            Addition::UserExpressed,
        ]),
    },
    View {
        name: Cow::Borrowed("act"),
        entity: EntityView::FULL,
        conversation: ConversationView::new(Depth::Recent, &[]),
        reasoning: ReasoningView {
            current_steps: StepDetail::Full,
            ..ReasoningView::HIDDEN
        },
        additions: Cow::Borrowed(&[
            Addition::PreviousStepNote,
            Addition::ContentArchive,
            Addition::OlderSteps,
        ]),
    },
    View {
        name: Cow::Borrowed("reply"),
        entity: EntityView::REPLY,
        conversation: ConversationView::new(
            Depth::Recent,
            &[ConversationPart::Engagement, ConversationPart::Pending],
        ),
        reasoning: ReasoningView {
            past_steps: StepDetail::Outcome,
            past_turns: 1,
            current_steps: StepDetail::Outcome,
            phase: true,
            ..ReasoningView::HIDDEN
        },
        additions: Cow::Borrowed(&[Addition::UserExpressed, Addition::Accomplished]),
    },
    View {
        name: Cow::Borrowed("turn"),
        entity: EntityView::new(EntityDetail::FullData, EntityDetail::RefsAndLabels),
        conversation: ConversationView::new(
            // The prompt of an ordinary turn has the history itself.
            Depth::Nothing,
            &[
                ConversationPart::Summary,
                ConversationPart::Engagement,
                ConversationPart::Pending,
            ],
        ),
        reasoning: ReasoningView {
            past_steps: StepDetail::Outcome,
            current_steps: StepDetail::Outcome,
            ..ReasoningView::HIDDEN
        },
        additions: Cow::Borrowed(&[]),
    },
];

impl View {
    /// Returns the built-in view of a node.
    #[must_use]
    pub fn builtin(name: &str) -> Option<&'static Self> {
        BUILTIN_VIEWS.iter().find(|view| view.name == name)
    }
}

/// Everything that views are built from.
///
/// The registry is the conversation's own ([`ConversationContext::id_registry`]), so there is only
/// one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnState {
    /// The stored conversation, entities included.
    pub conversation: ConversationContext,
    /// The turn that is under way, its number included.
    pub this_turn: CurrentTurn,
}

impl TurnState {
    /// Begins turn `turn_num` of a conversation, in its registry too.
    #[must_use]
    pub fn new(mut conversation: ConversationContext, turn_num: u32) -> Self {
        // Tiers depend on the turn's number, so a registry of the turn before would show too much.
        conversation.id_registry.begin_turn(turn_num);
        Self {
            conversation,
            this_turn: CurrentTurn::new(turn_num),
        }
    }

    /// Applies Understand's decision about the entities, and logs it.
    pub fn curate(&mut self, decision: &CurationDecision) -> CurationApplied {
        let stored = &mut self.conversation;
        let log = &mut stored.understand_decision_log;
        let applied = apply_curation(&mut stored.id_registry, log, decision);
        // What was applied and not what was asked for: refs that do not exist are left out.
        self.this_turn.summary.entity_curation = applied.summary.clone();
        applied
    }

    /// Records a step that Act finished, with its whole result.
    ///
    /// The data of rows in the result that the registry knows is kept with them, and they count as
    /// involved in the step. The step's note is the one for the next step.
    pub fn finish_step(&mut self, mut step: StepSummary, result: Value) {
        let registry = &mut self.conversation.id_registry;
        // Rows belong to the step whether or not its author named them.
        for reference in registry.keep_rows(&result) {
            if !step.entities_involved.contains(&reference) {
                step.entities_involved.push(reference);
            }
        }
        // The entities that a step works on stay in context.
        registry.touch_mentioned(&step.entities_involved.join("\n"));
        self.this_turn.finish_step(step, result);
    }
}

#[cfg(test)]
mod tests;
