//! The summaries that are due after a turn, with their sources.
//!
//! Texts are copied with refs in place of row ids: a model that summarises sees no row id, and no
//! summary holds one whose entity may be forgotten later.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::compression::{Compressed, Compression, Replaced};
use super::extract::{Speaker, Utterance};
use super::{SummarySettings, turn_lines};
use crate::conversation::{ConversationTurn, PendingKind};
use crate::entity::{SessionIdRegistry, UnknownIds};
use crate::stored::ConversationContext;
use crate::tokens::Tokens;

/// Returns the summaries that are due: of answers, of older turns, of the whole, of older
/// reasoning.
pub(super) fn due(context: &ConversationContext, settings: &SummarySettings) -> Vec<Compression> {
    let mut due = answers(context, settings);
    due.extend(history(context, settings));
    due.extend(engagement(context, settings));
    due.extend(reasoning(context, settings));
    due
}

fn answers(context: &ConversationContext, settings: &SummarySettings) -> Vec<Compression> {
    let mut due = Vec::new();
    // The answers of older turns go into the summary of the history, word for word.
    for turn in older_and_recent(context, settings).1 {
        // A short answer became its own summary when the turn ended.
        let is_due = turn.assistant.is_some() && turn.assistant_summary.trim().is_empty();
        if let Some(answer) = answer_in(&context.id_registry, turn).filter(|_| is_due) {
            let replaced = Replaced::Answer(turn.clone());
            let texts = [answer].into();
            due.push(compression(context, replaced, texts, settings.answer));
        }
    }
    due
}

fn history(context: &ConversationContext, settings: &SummarySettings) -> Option<Compression> {
    let (older, _) = older_and_recent(context, settings);
    let said = older
        .iter()
        .flat_map(|turn| said_in(&context.id_registry, turn));
    let replaced = Replaced::Turns(older.to_vec());
    (!older.is_empty()).then(|| compression(context, replaced, said.collect(), settings.history))
}

/// The whole is summarised at the beginning, and again whenever turns leave.
fn engagement(context: &ConversationContext, settings: &SummarySettings) -> Option<Compression> {
    let (older, _) = older_and_recent(context, settings);
    if !context.engagement_summary.trim().is_empty() && older.is_empty() {
        return None;
    }
    let turns = context.recent_turns.iter();
    let said = turns.flat_map(|turn| said_in(&context.id_registry, turn));
    let wishes: Vec<Utterance> = said.filter(|said| said.speaker == Speaker::User).collect();
    let limit = settings.engagement;
    (!wishes.is_empty()).then(|| compression(context, Replaced::Engagement, wishes, limit))
}

fn reasoning(context: &ConversationContext, settings: &SummarySettings) -> Option<Compression> {
    let recent = settings.recent_summaries.max(1);
    let older = context.turn_summaries.len().saturating_sub(recent);
    let turns = context.turn_summaries.get(..older)?;
    let line = |line: String| {
        let shown = context.id_registry.hide_row_ids(&line, UnknownIds::Hide);
        Utterance::new(Speaker::Summary, shown)
    };
    let lines = turns.iter().filter_map(turn_lines::turn_line).map(line);
    let replaced = Replaced::Summaries(turns.to_vec());
    (!turns.is_empty()).then(|| compression(context, replaced, lines.collect(), settings.reasoning))
}

fn compression(
    context: &ConversationContext,
    replaced: Replaced,
    texts: Vec<Utterance>,
    limit: Tokens,
) -> Compression {
    let registry = &context.id_registry;
    let (what, so_far) = match &replaced {
        Replaced::Answer(_) => (Compressed::Answer, ""),
        Replaced::Turns(_) => (Compressed::History, context.history_summary.as_str()),
        Replaced::Summaries(_) => (Compressed::Reasoning, context.reasoning_summary.as_str()),
        Replaced::Engagement => (Compressed::Engagement, context.engagement_summary.as_str()),
    };
    Compression {
        what,
        summary: registry.hide_row_ids(so_far, UnknownIds::Keep).into_owned(),
        names: names_in(registry, so_far, &texts),
        texts,
        limit,
        so_far: so_far.to_owned(),
        replaced,
    }
}

fn older_and_recent<'a>(
    context: &'a ConversationContext,
    settings: &SummarySettings,
) -> (&'a [ConversationTurn], &'a [ConversationTurn]) {
    let turns = context.recent_turns.as_slice();
    let older = turns.len().saturating_sub(settings.recent_turns.max(1));
    turns.split_at_checked(older).unwrap_or((&[], turns))
}

fn said_in(registry: &SessionIdRegistry, turn: &ConversationTurn) -> Vec<Utterance> {
    let user = registry.hide_row_ids(&turn.user, UnknownIds::Keep);
    let user = Utterance::new(Speaker::User, user);
    let said = [Some(user), answer_in(registry, turn)]
        .into_iter()
        .flatten();
    said.filter(|said| !said.text.trim().is_empty()).collect()
}

/// Returns the assistant's answer, word for word if that was kept.
fn answer_in(registry: &SessionIdRegistry, turn: &ConversationTurn) -> Option<Utterance> {
    let words = turn
        .assistant
        .as_deref()
        .filter(|words| !words.trim().is_empty());
    let text = words.unwrap_or(&turn.assistant_summary);
    let speaker = match &turn.asked {
        Some(PendingKind::Propose) => Speaker::Proposal,
        Some(PendingKind::Clarify | PendingKind::AskUser) => Speaker::Question,
        Some(PendingKind::Other(_)) | None => Speaker::Assistant,
    };
    let shown = registry.hide_row_ids(text, UnknownIds::Keep);
    (!text.trim().is_empty()).then(|| Utterance::new(speaker, shown))
}

/// Returns the refs and labels that occur in the texts or in the summary so far.
fn names_in(registry: &SessionIdRegistry, so_far: &str, texts: &[Utterance]) -> Vec<String> {
    let occurs = |name: &str| {
        let mut texts = texts.iter().map(|said| said.text.as_str()).chain([so_far]);
        !name.is_empty() && texts.any(|text| text.contains(name))
    };
    let mut names: Vec<String> = Vec::new();
    for (reference, label) in registry.names() {
        for name in [reference, label] {
            if occurs(name) && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}
