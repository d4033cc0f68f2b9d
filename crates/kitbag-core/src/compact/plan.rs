//! The plan of a compaction: the messages that leave, the parts of them that survive, and the check
//! that they do.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::Compaction;
use super::calls::{OpenCall, calls, results};
use super::words::UserWords;
use crate::history::{HistoryRoom, begins, first_that_fits, message_cost};
use crate::message::Message;
use crate::role::Role;
use crate::summarize::{Speaker, Utterance, extract, is_question, sentences};
use crate::tokens::{TokenCounter, Tokens};

/// The most tokens of a summary, even if there is room for more.
const SUMMARY: Tokens = Tokens(400);

/// The text that replaces messages takes at most a quarter of the room.
const TEXT: u32 = 4;

/// A compaction frees at least an eighth of the room.
const FREED: u32 = 8;

/// Plans to compact a conversation, so that the newest messages fill half of the room that the
/// replacing text leaves them. The latest exchange stays, however long it is.
///
/// `history` are the messages behind those that `before` replaces, oldest first; `said` returns the
/// words of a message without the wrapper it was sent in.
///
/// # Errors
/// When no message can leave.
pub fn plan(
    history: &[Message],
    before: &Compaction,
    room: HistoryRoom,
    said: &dyn Fn(&Message) -> String,
    counter: &dyn TokenCounter,
) -> Result<CompactionPlan, CompactionRefused> {
    let text = Tokens(room.tokens.0 / TEXT);
    let left = HistoryRoom {
        tokens: room.tokens.saturating_sub(text),
        ..room
    };
    let split = first_that_fits(history, left.half(), counter);
    // A long latest exchange would otherwise leave as a whole, with its reply: nothing behind its
    // first message may begin a history.
    let latest = history.iter().rposition(is_said_by_user).unwrap_or(0);
    let split = split.min(latest);
    let split = before_open_pairs(history, split);
    let (part, _) = history.split_at_checked(split).unwrap_or((history, &[]));
    if part.is_empty() {
        return Err(CompactionRefused::NothingOlder);
    }
    let spoken = |message: &&Message| message.is_for_user() && !message.answers_a_call();
    let mut utterances = Vec::new();
    let mut words = Vec::new();
    for (index, message) in part.iter().enumerate().filter(|(_, one)| spoken(one)) {
        let text = said(message);
        if text.trim().is_empty() {
            continue;
        }
        match message.role {
            Role::User => {
                let open = is_open(history, index);
                words.push(UserWords::of(&text, open, counter));
                utterances.push(Utterance::new(Speaker::User, text));
            }
            Role::Assistant => utterances.push(Utterance::new(Speaker::Assistant, text)),
            // Results are data, and instructions survive as messages.
            Role::System | Role::Tool => {}
        }
    }
    let answered = results(history.iter());
    let is_open_call = |call: &OpenCall| !answered.contains(call.id.as_str());
    let earlier = before.calls.iter().cloned();
    let open = earlier.chain(part.iter().flat_map(calls));
    let instructions = part.iter().filter(|one| one.role == Role::System).cloned();
    let kept = instructions.clone().map(|one| message_cost(&one, counter));
    let left = part.iter().map(|one| message_cost(one, counter)).sum();
    let kept: Tokens = kept.sum();
    Ok(CompactionPlan {
        split,
        asked: asked(part, said),
        calls: open.filter(is_open_call).collect(),
        instructions: instructions.collect(),
        leaving: Tokens::saturating_sub(left, kept),
        room: room.tokens,
        limit: SUMMARY.min(Tokens(room.tokens.0 / 8)),
        before: before.clone(),
        utterances,
        words,
    })
}

/// A compaction that lacks its summary.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompactionPlan {
    /// The number of messages that leave.
    pub split: usize,
    /// The words that people said in them, to be summarised together with the summary before.
    pub utterances: Vec<Utterance>,
    /// The compaction so far.
    pub before: Compaction,
    /// The most tokens of the summary.
    pub limit: Tokens,
    words: Vec<UserWords>,
    asked: Option<String>,
    calls: Vec<OpenCall>,
    instructions: Vec<Message>,
    /// The tokens of the messages that leave.
    leaving: Tokens,
    room: Tokens,
}

impl CompactionPlan {
    /// Makes the summary by rules, from the most telling sentences.
    #[must_use]
    pub fn extract(&self, counter: &dyn TokenCounter) -> String {
        let mut texts = Utterance::of_summary(&self.before.summary);
        texts.extend(self.utterances.iter().cloned());
        extract(&texts, &[], self.limit, counter)
    }

    /// Completes the compaction with its summary, and checks it. `history` is the one it was
    /// planned for, and `through` the number of the last message that leaves.
    ///
    /// # Errors
    /// When the summary cannot be taken, when something would be lost, or when too little is gained.
    pub fn compact(
        &self,
        history: &[Message],
        through: u32,
        summary: &str,
        said: &dyn Fn(&Message) -> String,
        counter: &dyn TokenCounter,
    ) -> Result<Compaction, CompactionRefused> {
        let tokens = counter.count(summary.trim());
        if summary.trim().is_empty() && !self.utterances.is_empty() {
            return Err(CompactionRefused::EmptySummary);
        }
        if tokens > self.limit {
            let limit = self.limit;
            return Err(CompactionRefused::LongSummary { tokens, limit });
        }
        let split = u32::try_from(self.split).unwrap_or(u32::MAX);
        let mut instructions = self.before.instructions.clone();
        instructions.extend(self.instructions.iter().cloned());
        let mut words = self.before.words.clone();
        let listed = words.len();
        words.extend(self.words.iter().cloned());
        let mut compaction = Compaction {
            through,
            messages: self.before.messages.saturating_add(split),
            summary: summary.trim().to_owned(),
            by_model: false,
            words,
            unlisted: self.before.unlisted,
            asked: self.asked.clone(),
            calls: self.calls.clone(),
            instructions,
            refused: None,
        };
        self.make_room(&mut compaction, listed, counter)?;
        self.check(&compaction, history, said, counter)?;
        Ok(compaction)
    }

    /// Drops words of earlier compactions, oldest first, until the text fits into its part of the room:
    /// those that bind nobody, then of the others all but their binding sentences, and these last. A
    /// conversation without end would otherwise come to be refused for good.
    fn make_room(
        &self,
        compaction: &mut Compaction,
        listed: usize,
        counter: &dyn TokenCounter,
    ) -> Result<(), CompactionRefused> {
        let limit = Tokens(self.room.0 / TEXT);
        let mut tokens = counter.count(&compaction.text());
        // Only words of earlier compactions go. Those of this one are checked for afterwards.
        let mut earlier = listed;
        for step in [Leaving::Unbound, Leaving::Around, Leaving::Oldest] {
            let mut index = 0;
            while tokens > limit && index < earlier {
                match step.change(&mut compaction.words, index) {
                    Change::Nothing => index += 1,
                    Change::Shorter => {
                        index += 1;
                        tokens = counter.count(&compaction.text());
                    }
                    Change::Gone => {
                        earlier -= 1;
                        compaction.unlisted = compaction.unlisted.saturating_add(1);
                        tokens = counter.count(&compaction.text());
                    }
                }
            }
        }
        if tokens > limit {
            return Err(CompactionRefused::TooLong { tokens, limit });
        }
        let before = match self.before.messages {
            0 => Tokens::ZERO,
            _ => counter.count(&self.before.text()),
        };
        // The new text takes the place of the text before, too.
        let freed = self.leaving.saturating_add(before).saturating_sub(tokens);
        let least = Tokens(self.room.0 / FREED);
        match freed < least {
            true => Err(CompactionRefused::TooLittle { freed, least }),
            false => Ok(()),
        }
    }

    /// Goes through the messages once more and looks for each thing that must survive in the
    /// result.
    fn check(
        &self,
        compaction: &Compaction,
        history: &[Message],
        said: &dyn Fn(&Message) -> String,
        counter: &dyn TokenCounter,
    ) -> Result<(), CompactionRefused> {
        let lost = |what: &'static str| Err(CompactionRefused::Lost { what });
        let Some(part) = history.get(..self.split) else {
            return lost("messages that the plan was made of");
        };
        let answered = results(history.iter());
        // The words of this plan stand behind those of earlier compactions.
        let new = compaction.words.len().saturating_sub(self.words.len());
        let mut words = compaction.words.iter().skip(new);
        for (index, message) in part.iter().enumerate() {
            match message.role {
                Role::System if !compaction.instructions.contains(message) => {
                    return lost("an instruction");
                }
                Role::User if message.is_for_user() && !message.answers_a_call() => {
                    let text = said(message);
                    let open = is_open(history, index);
                    if text.trim().is_empty() {
                        continue;
                    }
                    let kept = words.next();
                    if !kept.is_some_and(|kept| kept.stand_for(&text, open, counter)) {
                        return lost("what the user said");
                    }
                }
                _ => {}
            }
            let has = |call: &OpenCall| compaction.calls.iter().any(|one| one.id == call.id);
            let mut open = calls(message).into_iter();
            if open.any(|call| !answered.contains(call.id.as_str()) && !has(&call)) {
                return lost("a call without a result");
            }
        }
        if asked(part, said) != compaction.asked {
            return lost("the question that was asked last");
        }
        Ok(())
    }
}

/// The part of the user's words that makes room for newer ones.
#[derive(Clone, Copy)]
enum Leaving {
    /// Words that bind nobody.
    Unbound,
    /// The sentences around those that bind.
    Around,
    /// All words.
    Oldest,
}

/// The outcome for one of the user's messages.
enum Change {
    Nothing,
    Shorter,
    Gone,
}

impl Leaving {
    fn change(self, words: &mut Vec<UserWords>, index: usize) -> Change {
        let Some(one) = words.get_mut(index) else {
            return Change::Nothing;
        };
        match self {
            Self::Unbound if one.binding => Change::Nothing,
            Self::Around if one.keep_binding() => Change::Shorter,
            Self::Around => Change::Nothing,
            Self::Unbound | Self::Oldest => {
                words.remove(index);
                Change::Gone
            }
        }
    }
}

/// The reason why a conversation was not compacted. It stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactionRefused {
    /// The newest messages alone fill the room.
    #[error("no older messages can be summarised")]
    NothingOlder,
    /// There are more messages than one pass reads.
    #[error("more than {most} messages would have to be summarised at once")]
    TooMany {
        /// The most messages.
        most: usize,
    },
    /// The summary says nothing.
    #[error("the summary is empty")]
    EmptySummary,
    /// The summary is too long.
    #[error("the summary has {tokens} tokens but may have {limit}")]
    LongSummary {
        tokens: Tokens,
        /// The most that it may have.
        limit: Tokens,
    },
    /// The parts that must survive are too long.
    #[error("what must not be lost of it has {tokens} tokens but may have {limit}")]
    TooLong {
        tokens: Tokens,
        /// The most that it may have.
        limit: Tokens,
    },
    /// The gain is too small.
    #[error("it would free {freed} tokens, and {least} is the least")]
    TooLittle {
        /// The tokens that it would free.
        freed: Tokens,
        /// The least that it must free.
        least: Tokens,
    },
    /// Something would be lost.
    #[error("{what} would be lost")]
    Lost {
        /// The thing.
        what: &'static str,
    },
}

/// Tells whether a message begins an exchange.
fn is_said_by_user(message: &Message) -> bool {
    message.role == Role::User && begins(message)
}

/// Returns the last place up to `split` that separates no call from its result.
fn before_open_pairs(history: &[Message], split: usize) -> usize {
    let (part, rest) = history.split_at_checked(split).unwrap_or((history, &[]));
    let later = results(rest.iter());
    let is_separated = |message: &Message| {
        let mut calls = calls(message).into_iter();
        calls.any(|call| later.contains(call.id.as_str()))
    };
    match part.iter().position(is_separated) {
        None => split,
        Some(first) => part
            .iter()
            .take(first)
            .rposition(begins)
            // An earlier place may separate another call from its result.
            .map_or(0, |at| before_open_pairs(history, at)),
    }
}

/// Tells whether nobody has answered a message.
fn is_open(history: &[Message], index: usize) -> bool {
    let mut later = history.iter().skip(index.saturating_add(1));
    let next = later.find(|one| matches!(one.role, Role::User | Role::Assistant));
    next.is_none_or(|next| next.role == Role::User && !next.answers_a_call())
}

/// Returns the questions with which the assistant ends a part.
fn asked(part: &[Message], said: &dyn Fn(&Message) -> String) -> Option<String> {
    let last = part.iter().rfind(|one| one.is_for_user())?;
    let text = (last.role == Role::Assistant).then(|| said(last))?;
    let questions = sentences(&text).into_iter();
    let questions = questions.filter(|sentence| is_question(sentence));
    let questions: Vec<&str> = questions.collect();
    (!questions.is_empty()).then(|| questions.join(" "))
}
