//! The engine: the one place where a prompt is made.
//!
//! Sources bring contributions ([`Contribution`]): parts that must be in, chunks that may be, and
//! problems. [`compose`] joins them and lets the core choose, fit and lay out. Whatever asks for a
//! prompt (a command, a channel, a server) comes here and calls nothing below. From the
//! contributions on everything is pure, so that asking again with another budget reads nothing.

mod admit;
#[cfg(feature = "layouts")]
mod agent;
#[cfg(feature = "store")]
mod compacted;
mod contribution;
mod events;
mod history;
mod people;
#[cfg(feature = "store")]
mod replay;
#[cfg(all(feature = "providers", feature = "store"))]
mod steps;
#[cfg(feature = "layouts")]
mod turn;
#[cfg(feature = "layouts")]
mod whole;

use std::borrow::Cow;

use kitbag_core::assembly::{
    AssembleError, Assembly, AssemblySettings, Draft, Epoch, OutputForm, assemble,
};
use kitbag_core::compact::ShownCompaction;
use kitbag_core::content::Content;
use kitbag_core::context::McpServer;
use kitbag_core::history::HistoryRoom;
use kitbag_core::inject::ContextMessage;
use kitbag_core::message::Message;
use kitbag_core::tokens::{TokenCounter, Tokens};

pub use admit::{Clean, Redaction, clean};
#[cfg(feature = "workspace")]
pub(crate) use admit::{clean_as, clean_file};
#[cfg(feature = "layouts")]
pub use agent::{AgentError, AgentPart, AgentRequest, LayoutOverride, agent_part};
pub use contribution::{Contribution, DraftParts};
pub(crate) use events::tell;
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use history::{largest_result, said, share};
pub use people::BodyForPeople;
#[cfg(feature = "store")]
pub use replay::{ReplayedPrompt, replay};
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use turn::Material;
#[cfg(feature = "layouts")]
pub use turn::{Sources, TurnError, TurnPrompt, TurnRequest, turn};
#[cfg(feature = "layouts")]
pub use whole::{Engine, EngineBuilder, EngineError};

use crate::tokens::ModelProfile;
use crate::wire::{Dialect, Laid, Request};

/// The settings of a prompt, apart from the contributions of sources.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PromptRequest {
    /// The message to answer.
    pub current: Message,
    /// The form, the budget, and how to choose.
    pub settings: AssemblySettings,
    /// The model, where the form names one.
    pub model: Option<String>,
    /// The most tokens that the answer may have, where the form names it.
    pub max_output: Option<u32>,
    /// The end of the prompt, in the operator's name: see [`ending`](kitbag_core::envelope::ending).
    pub ending: Option<String>,
    /// The most messages of the history that stand word for word.
    pub history_messages: usize,
    /// True to summarise the older part of a long history by rules when the provider's cache has to be written
    /// anyway; it costs less than to do so a few turns later, when all would be written once more.
    pub compacts: bool,
    /// True if the provider's cache has forgotten the conversation's latest prompt.
    pub is_cache_cold: bool,
}

impl PromptRequest {
    /// A request that names neither a model nor an ending.
    #[must_use]
    pub fn new(message: impl Into<Content>, settings: AssemblySettings) -> Self {
        Self {
            current: Message::user(message),
            settings,
            model: None,
            max_output: None,
            ending: None,
            history_messages: usize::MAX,
            compacts: false,
            is_cache_cold: false,
        }
    }
}

/// A prompt, and all that it was made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Composed {
    /// The parts that had to be in.
    pub draft: Draft,
    /// The settings that it was assembled with.
    pub settings: AssemblySettings,
    /// The prompt with its ledger, which tells every problem too.
    pub assembly: Assembly,
    /// The secrets that were replaced in what sources brought.
    pub redacted: Vec<Redaction>,
    /// The most that the history could have taken.
    pub history_room: HistoryRoom,
    /// The compaction that it shows and that the store does not have yet.
    pub compacted: Option<Box<ShownCompaction>>,
    /// The MCP servers that active skills bring.
    pub mcp_servers: Vec<McpServer>,
}

impl Composed {
    /// The body that is sent: the text, or the JSON of a form that is no text.
    #[must_use]
    pub fn body(&self) -> Cow<'_, str> {
        match self.assembly.form.is_text() {
            true => Cow::Borrowed(&self.assembly.body),
            false => Cow::Owned(self.laid().json()),
        }
    }

    /// The request to a provider, which sends the [`body`](Self::body); none where the form is no
    /// request. One for a program names the MCP servers to start; APIs start none.
    #[must_use]
    pub fn request(&self) -> Option<Request> {
        let mut request = self.laid().request()?;
        // Only Claude Code takes the flat form, and only a program can start servers.
        if request.dialect == Dialect::Flat {
            request.set_mcp_servers(&self.mcp_servers);
        }
        Some(request)
    }

    fn laid(&self) -> Laid<'_> {
        Laid {
            form: self.assembly.form,
            draft: &self.draft,
            blocks: &self.assembly.blocks,
            breakpoints: &self.assembly.breakpoints,
            text: &self.assembly.body,
            problems: &self.assembly.ledger.problems,
        }
    }
}

/// Joins what sources brought into one prompt.
///
/// `previous` is the epoch of the conversation's latest prompt. The order of the contributions is
/// the order of their parts in the prompt; that of chunks does not matter.
///
/// # Errors
/// When what must be in does not fit.
pub fn compose(
    request: &PromptRequest,
    contributions: Vec<Contribution>,
    counter: &dyn TokenCounter,
    previous: Option<&Epoch>,
) -> Result<Composed, AssembleError> {
    let composed = try_compose(request, contributions, counter, previous)?;
    tell(&composed);
    Ok(composed)
}

/// The same for a prompt that may not be the one to be used: no event reports it.
pub(crate) fn try_compose(
    request: &PromptRequest,
    contributions: Vec<Contribution>,
    counter: &dyn TokenCounter,
    previous: Option<&Epoch>,
) -> Result<Composed, AssembleError> {
    // Joined first: a document may also be a file of the workspace, and only together are they twins.
    let mut all = Contribution::join(contributions);
    all.merge_twins();
    let fixed = history::fixed(&all.draft, request, counter);
    let mut draft = draft(request, &mut all.draft);
    #[cfg(feature = "store")]
    let compacted = previous.and_then(|epoch| {
        let is_written = || {
            let settings = &request.settings;
            request.is_cache_cold || epoch.is_head_changed(&draft, settings, counter)
        };
        let is_due = request.compacts && is_written();
        is_due.then(|| all.compact_history(request, fixed, epoch, counter))?
    });
    #[cfg(not(feature = "store"))]
    let compacted = None;
    // Before the fit, since what the history does not use is room for chunks.
    let history_room = all.shorten_history(request, fixed, counter, previous);
    draft.history = all.draft.history;
    let mut assembly = assemble(&draft, all.chunks, &request.settings, counter, previous)?;
    let ledger = &mut assembly.ledger;
    let key = draft.key.as_deref();
    ledger.add_context_messages(draft.injected.iter(), key, &all.draft.held, counter);
    ledger.problems.extend(all.problems);
    let model = draft.model.as_deref().map(ModelProfile::find);
    draft.max_output = answer_limit(&draft, request.settings.form, assembly.tokens);
    if let Some(Ok(model)) = model {
        // Checked on the finished prompt: only now is it known whether a price step is crossed.
        ledger.problems.extend(model.passed_by(assembly.tokens));
    }
    Ok(Composed {
        draft,
        settings: request.settings.clone(),
        assembly,
        redacted: all.redacted,
        history_room,
        compacted,
        mcp_servers: Vec::new(),
    })
}

/// The parts that must be in, without the history.
fn draft(request: &PromptRequest, parts: &mut DraftParts) -> Draft {
    let mut draft = Draft::new("");
    draft.current = request.current.clone();
    draft.model.clone_from(&request.model);
    draft.max_output = request.max_output;
    draft.identity = parts.identity.take().unwrap_or_default();
    draft.key = parts.key.take();
    draft.tools = std::mem::take(&mut parts.tools);
    let ending = request.ending.as_ref();
    let ending = ending.map(|text| ContextMessage::suffix_system("ending", text));
    // In front of the other messages at the end, so that reminders stand after what every task ends with.
    draft.injected.extend(ending);
    draft.injected.append(&mut parts.injected);
    draft.steps = std::mem::take(&mut parts.steps);
    draft.retracted = std::mem::take(&mut parts.retracted);
    // A node's own form has these sections already.
    draft.is_for_node = parts.is_for_node && request.settings.form != OutputForm::Node;
    draft
}

/// The most tokens of the answer, where the form wants a limit and nobody has set one. Kept in the draft, so that a
/// prompt is made again with the limit that it had.
fn answer_limit(draft: &Draft, form: OutputForm, prompt: Tokens) -> Option<u32> {
    let model = || {
        draft
            .model
            .as_deref()
            .and_then(|name| ModelProfile::find(name).ok())
    };
    match (draft.max_output, form) {
        (None, OutputForm::Anthropic) => Some(ModelProfile::default_answer(model(), prompt)),
        (set, _) => set,
    }
}

/// Assembles a prompt again whose draft only grew: what was chosen stays.
#[cfg(all(feature = "providers", feature = "store"))]
fn assemble_again(
    grown: &Composed,
    counter: &dyn TokenCounter,
    previous: &Epoch,
) -> Result<Assembly, AssembleError> {
    let (draft, settings) = (&grown.draft, &grown.settings);
    // No chunks, so that nothing new is chosen; the epoch holds those that stay.
    assemble(draft, Vec::new(), settings, counter, Some(previous))
}
