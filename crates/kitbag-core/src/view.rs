//! What a node sees: a view over the three layers, and the prompt that comes of it.
//!
//! Nodes are data. Four views are built in ([`BUILTIN_VIEWS`]); a further node is a [`View`] in
//! configuration, which shows what it names and nothing else.
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

mod chunks;
mod parse;
mod render;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use chunks::layer_chunks;
pub use parse::ViewError;
pub use render::{
    NodeContext, build_act_context, build_context, build_reply_context, build_think_context,
    build_understand_context, render_node_prompt,
};

use crate::conversation::{ConversationPart, ConversationView, Depth, RECENT_TURNS};
use crate::entity::EntityView;
use crate::reasoning::{CurationDetail, CurrentTurn, ReasoningView, StepDetail};
use crate::stored::ConversationContext;

/// What one node sees of each layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct View {
    /// The node.
    pub name: Cow<'static, str>,
    /// What it sees of the entities.
    pub entity: EntityView,
    /// What it sees of the conversation.
    pub conversation: ConversationView,
    /// What it sees of the reasoning.
    pub reasoning: ReasoningView,
    /// What it sees besides.
    pub additions: Cow<'static, [Addition]>,
}

/// Something that a node must not miss, beyond what the layers show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Addition {
    /// The refs that need not be read again.
    DoNotReread,
    /// What the last turn did, in a line.
    LastTurnLine,
    /// What the user let know.
    UserExpressed,
    /// What the previous step left for this one.
    PreviousStepNote,
    /// What is in the archive, by key.
    ContentArchive,
    /// Older steps that were compressed.
    OlderSteps,
    /// What this turn has just accomplished.
    Accomplished,
}

/// The built-in views: understand, think, act, reply.
pub static BUILTIN_VIEWS: [View; 4] = [
    View {
        name: Cow::Borrowed("understand"),
        entity: EntityView::CURATION,
        conversation: ConversationView {
            depth: Depth::Full,
            also: Cow::Borrowed(&[]),
            recent_turns: RECENT_TURNS,
        },
        reasoning: ReasoningView {
            past_steps: StepDetail::Hidden,
            past_turns: 0,
            current_steps: StepDetail::Hidden,
            curation: CurationDetail::OwnHistory,
            phase: false,
        },
        additions: Cow::Borrowed(&[]),
    },
    View {
        name: Cow::Borrowed("think"),
        entity: EntityView::REFS_AND_LABELS,
        conversation: ConversationView {
            depth: Depth::Full,
            also: Cow::Borrowed(&[]),
            recent_turns: RECENT_TURNS,
        },
        reasoning: ReasoningView {
            past_steps: StepDetail::Full,
            past_turns: 2,
            current_steps: StepDetail::Hidden,
            curation: CurationDetail::Summary,
            phase: true,
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
        conversation: ConversationView {
            depth: Depth::Recent,
            also: Cow::Borrowed(&[]),
            recent_turns: RECENT_TURNS,
        },
        reasoning: ReasoningView {
            past_steps: StepDetail::Hidden,
            past_turns: 0,
            current_steps: StepDetail::Full,
            curation: CurationDetail::Hidden,
            phase: false,
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
        conversation: ConversationView {
            depth: Depth::Recent,
            also: Cow::Borrowed(&[ConversationPart::Engagement, ConversationPart::Pending]),
            recent_turns: RECENT_TURNS,
        },
        reasoning: ReasoningView {
            past_steps: StepDetail::Outcome,
            past_turns: 1,
            current_steps: StepDetail::Outcome,
            curation: CurationDetail::Hidden,
            phase: true,
        },
        additions: Cow::Borrowed(&[Addition::UserExpressed, Addition::Accomplished]),
    },
];

impl View {
    /// The built-in view of a node.
    #[must_use]
    pub fn builtin(name: &str) -> Option<&'static Self> {
        BUILTIN_VIEWS.iter().find(|view| view.name == name)
    }
}

/// All that the views are built from.
///
/// The registry is the conversation's own ([`ConversationContext::id_registry`]), so that there is
/// one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnState {
    /// What is stored of the conversation, entities included.
    pub conversation: ConversationContext,
    /// The turn that is under way, its number included.
    pub this_turn: CurrentTurn,
    /// What entities hold, by ref; row ids in it are replaced when it is shown.
    pub entity_data: BTreeMap<String, Value>,
}

impl TurnState {
    /// The start of turn `turn_num` of a conversation.
    #[must_use]
    pub fn new(conversation: ConversationContext, turn_num: u32) -> Self {
        Self {
            conversation,
            this_turn: CurrentTurn::new(turn_num),
            entity_data: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests;
