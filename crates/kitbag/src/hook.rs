//! Hooks of coding agents: memory before a prompt, and what was said and done kept afterwards.
//!
//! An agent such as Claude Code runs a program at certain moments of a session and hands it one JSON
//! object ([`HookEvent`]). Before a prompt goes out, [`Hook::respond`] brings what is remembered about the
//! project; when the agent stops, it keeps what the transcript holds ([`Transcript`]). An agent puts
//! what a hook brings behind the prompt, so that nothing before it changes and the provider's cache stays
//! whole.
//!
//! Everything of a project is one sender's ([`project_sender`]), and each session one conversation by the
//! session's name. Recall, facts and summaries stay with a sender, so that no project sees another one's,
//! and several agents in one project, each a channel, know the same.
//!
//! Nothing here limits its own time or prints: whoever runs a hook does.

mod block;
mod estimate;
mod event;
mod keep;
mod project;
mod relevance;
mod remembered;
mod shown;
mod transcript;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use jiff::Timestamp;
use kitbag_core::tokens::Tokens;
use kitbag_store::{Store, StoreError};

use block::MemoryBlock;
pub use block::item_names;
pub use estimate::ByteEstimate;
pub use event::{HookEvent, HookEventKind, HookReply, SessionSource};
pub use project::{USER, project_sender, remote_project_sender};
pub use remembered::Remembered;
use shown::ShownItems;
pub use transcript::{Transcript, TranscriptEntry, said};

/// A coding agent that runs hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodingAgent {
    /// Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
}

impl CodingAgent {
    const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// The agent whose sessions are kept on a channel.
    #[must_use]
    pub fn of_channel(channel: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.channel() == channel)
    }

    /// The channel on which its sessions are kept.
    #[must_use]
    pub const fn channel(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

/// The memory of an agent's sessions in one project.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hook {
    /// The store of the sessions.
    pub store: Store,
    /// The agent that runs the hook.
    pub agent: CodingAgent,
    /// The sender.
    pub sender: String,
    /// The folder that paths in a session are shown below.
    pub folder: PathBuf,
    /// The most tokens that are added to one prompt.
    pub budget: Tokens,
    /// Whether a summary of each session is kept when it has ended.
    pub summarises: bool,
}

/// An error of a hook.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The transcript of the session cannot be read.
    #[error("cannot read the transcript {}: {error}", file.display())]
    Transcript {
        /// The file that the agent named.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// The beginning of the references of messages that were kept by the chain of all that was said before them,
/// as a proxy keeps them.
pub const CHAIN: &str = "chain/";

/// The most facts that a brief may tell.
const FACTS: u32 = 12;
/// The latest summaries that a brief may tell.
const SUMMARIES: u32 = 3;

impl Hook {
    /// The memory of a sender's sessions with an agent, with at most 800 tokens for a prompt.
    #[must_use]
    pub fn new(store: Store, agent: CodingAgent, sender: impl Into<String>) -> Self {
        Self {
            store,
            agent,
            sender: sender.into(),
            folder: PathBuf::new(),
            budget: Tokens(800),
            summarises: true,
        }
    }

    /// Does what an event asks for: brings what is remembered, or keeps what was said.
    ///
    /// When a session starts, [`Self::close_silent`] may follow, for which nobody should wait.
    ///
    /// Of single tool calls nothing is kept here. The transcript tells them all when the agent stops.
    ///
    /// # Errors
    /// When the store or the transcript fails. The agent should go on all the same.
    pub async fn respond(&self, event: &HookEvent, now: Timestamp) -> Result<HookReply, HookError> {
        let context = match &event.kind {
            HookEventKind::SessionStart {
                source,
                is_cache_expired,
            } => self.brief(event, *source, *is_cache_expired).await?,
            HookEventKind::UserPromptSubmit { prompt } => self.recall(event, prompt, now).await?,
            HookEventKind::Stop => {
                self.keep(event, now).await?;
                None
            }
            HookEventKind::SessionEnd => {
                self.keep(event, now).await?;
                self.close(event, now).await?;
                None
            }
            HookEventKind::PostToolUse | HookEventKind::Other => None,
        };
        Ok(HookReply {
            context,
            notice: None,
        })
    }

    /// The facts and past messages that a prompt is about, without those that the session holds already.
    async fn recall(
        &self,
        event: &HookEvent,
        prompt: &str,
        now: Timestamp,
    ) -> Result<Option<String>, HookError> {
        let shown = self.shown(event)?;
        let mut asked = Remembered::new(&self.sender, prompt, now);
        asked.conversation = Some(&event.session);
        asked.budget = self.budget;
        Ok(asked.block_besides(&self.store, &shown).await?)
    }

    /// The facts and the latest summaries of the project. A session that goes on holds its brief already,
    /// unless it was made shorter since.
    async fn brief(
        &self,
        event: &HookEvent,
        source: SessionSource,
        is_cache_expired: bool,
    ) -> Result<Option<String>, HookError> {
        let shown = self.shown(event)?;
        if source == SessionSource::Resume && !shown.is_empty() && !is_cache_expired {
            return Ok(None);
        }
        // Where the provider has to read everything again, more costs next to nothing.
        let budget = match is_cache_expired {
            true => self.budget,
            false => Tokens(self.budget.0 / 2),
        };
        let mut block = MemoryBlock::new(budget, &shown);
        for fact in self.store.facts(&self.sender, FACTS).await? {
            block.add_fact(&fact, None);
        }
        let mut summaries = Vec::new();
        for agent in CodingAgent::ALL {
            let channel = agent.channel();
            let told = self.store.summaries(channel, &self.sender, SUMMARIES);
            summaries.extend(told.await?);
        }
        summaries.sort_by_key(|summary| Reverse((summary.made, summary.conversation)));
        // A session that went on after its end has ended again, with a summary of all of it.
        let mut told = BTreeSet::new();
        summaries.retain(|summary| told.insert(summary.conversation));
        for summary in summaries.iter().take(SUMMARIES as usize) {
            block.add_summary(summary);
        }
        Ok(block.finish())
    }

    /// What hooks have added to the session since it was last made shorter.
    fn shown(&self, event: &HookEvent) -> Result<ShownItems, HookError> {
        match open(event)? {
            Some((file, reader)) => {
                ShownItems::read(reader).map_err(|error| HookError::Transcript { file, error })
            }
            None => Ok(ShownItems::default()),
        }
    }
}

/// The transcript of a session; nothing if the agent names none or has not written it yet.
fn open(event: &HookEvent) -> Result<Option<(PathBuf, BufReader<File>)>, HookError> {
    let Some(file) = event.transcript.clone() else {
        return Ok(None);
    };
    match kitbag_text::regular(&file) {
        Ok((reader, _)) => Ok(Some((file, BufReader::with_capacity(1 << 16, reader)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HookError::Transcript { file, error }),
    }
}
