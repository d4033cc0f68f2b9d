//! Recall: finds the past messages that a query is about. The core decides what counts how much.

mod change;
mod evidence;
mod filter;
#[cfg(feature = "embeddings")]
mod meaning;
mod relevant;
mod remembered;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
#[cfg(feature = "embeddings")]
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use kitbag_core::rank::Score;
use kitbag_core::recall::{
    Candidate, Fingerprint, MessageFacts, MessageTraits, Query, RecallWeights, candidates, rank,
};

#[cfg(feature = "embeddings")]
use crate::embedding::Embedder;
use crate::error::{Result, StoreError};
use crate::fact::Fact;
use crate::filter::MessageFilter;
use crate::history;
use crate::id::{ConversationId, MessageId};
use crate::index;
use crate::message::{MessageTime, StoredMessage};
use crate::scope::{Scope, ScopeContents};
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{LenientU32, Row};

use relevant::RelevantFacts;

/// The candidates that are ranked for each message that is wanted. More of them cost time and gain
/// next to nothing: on the data of `docs/recall.md` 120 find within .1 points of what 400 find
/// among the first ten.
const CANDIDATES: usize = 4;
/// The least number of candidates, and the most unless twice as many messages are wanted.
const LEAST_CANDIDATES: usize = 120;
const MOST_CANDIDATES: usize = 400;

/// A query for past messages.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecallRequest {
    /// The sender of the messages.
    pub sender: String,
    /// Their channel; any, if none is given.
    pub channel: Option<String>,
    /// The messages that may be recalled. The limit applies to those.
    pub filter: MessageFilter,
    /// The topic, in any words.
    pub query: String,
    /// The time of the query, which gives words like "yesterday" their meaning.
    pub now: Option<MessageTime>,
    /// The most messages to return.
    pub limit: usize,
    /// Messages that are in the prompt already.
    pub in_prompt: Vec<MessageId>,
    /// The message that is being answered, if it is in the store.
    pub answering: Option<MessageId>,
    /// The weight of each kind of evidence.
    pub weights: RecallWeights,
    /// The store's model, which compares meanings.
    #[cfg(feature = "embeddings")]
    pub(crate) embedder: Option<Arc<Embedder>>,
}

impl RecallRequest {
    /// Makes a request for the ten best messages of a sender on any channel.
    #[must_use]
    pub fn new(sender: impl Into<String>, query: impl Into<String>) -> Self {
        Self {
            sender: sender.into(),
            channel: None,
            filter: MessageFilter::default(),
            query: query.into(),
            now: None,
            limit: 10,
            in_prompt: Vec::new(),
            answering: None,
            weights: RecallWeights::default(),
            #[cfg(feature = "embeddings")]
            embedder: None,
        }
    }

    /// Restricts the request to one channel.
    #[must_use]
    pub fn on_channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Restricts the request to messages that a filter admits.
    #[must_use]
    pub fn among(mut self, filter: MessageFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the time of the query.
    #[must_use]
    pub fn at(mut self, now: impl Into<MessageTime>) -> Self {
        self.now = Some(now.into());
        self
    }

    /// Sets the number of messages.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Leaves out messages that are in the prompt already.
    #[must_use]
    pub fn without(mut self, in_prompt: Vec<MessageId>) -> Self {
        self.in_prompt = in_prompt;
        self
    }
}

/// A recalled message with the reasons for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recalled {
    /// The message, whole.
    pub message: StoredMessage,
    /// The most relevant bytes of its text.
    pub passage: Range<usize>,
    /// The score, part by part.
    pub score: Score,
    /// Messages with nearly the same content.
    pub duplicates: Vec<MessageId>,
    /// The later message or fact by which it is outdated, if there is one.
    pub outdated_by: Option<Later>,
}

/// A later message on the same topic, or a fact that was told later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Later {
    /// Its id; none if the fact was told and not said in a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// The time when it was said.
    pub at: Option<MessageTime>,
}

/// A fact that a query is about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecalledFact {
    /// The fact, which still holds.
    pub fact: Fact,
    /// Its relevance to the query, in thousandths.
    pub relevance: u32,
    /// The message it came from.
    pub message: Option<StoredMessage>,
}

impl Recalled {
    /// The most relevant part of the text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self.message.text() {
            Cow::Borrowed(whole) => whole.get(self.passage.clone()).unwrap_or(whole).into(),
            Cow::Owned(whole) => match whole.get(self.passage.clone()) {
                Some(part) => part.to_owned().into(),
                None => whole.into(),
            },
        }
    }
}

impl Store {
    /// Recalls the past messages of a sender that a query is about, best first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recall(&self, request: &RecallRequest) -> Result<Vec<Recalled>> {
        let outdated = match self.try_recall(request).await? {
            RecallOutcome::Hits(hits) => return Ok(hits),
            RecallOutcome::Outdated(scopes) => scopes,
        };
        // The index of an older version: it is rebuilt once, since a read cannot do that.
        for id in outdated {
            self.write(async move |tx| {
                if let Some(mut scope) = Scope::lock_by_number(tx, id).await? {
                    index::reindex(tx, &mut scope).await?;
                    scope.save(tx).await?;
                }
                Ok(())
            })
            .await?;
        }
        match self.try_recall(request).await? {
            RecallOutcome::Hits(hits) => Ok(hits),
            RecallOutcome::Outdated(_) => Err(StoreError::failed(
                "an earlier version of Kitbag writes to the store at the same time",
            )),
        }
    }

    /// The facts that a query is about, most relevant first: those whose key it asks for, then
    /// those that share a word with it. `What do you know about me?` yields all of them.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recall_facts(&self, request: &RecallRequest) -> Result<Vec<RecalledFact>> {
        let request = request.clone();
        self.read(async move |tx| recall_facts(tx, &request).await)
            .await
    }

    async fn try_recall(&self, request: &RecallRequest) -> Result<RecallOutcome> {
        let request = self.with_model(request.clone());
        self.read(async move |tx| recall(tx, &request).await).await
    }

    /// Adds the store's model to a request.
    pub(crate) fn with_model(&self, request: RecallRequest) -> RecallRequest {
        #[cfg(feature = "embeddings")]
        let request = RecallRequest {
            embedder: self.embedder().cloned(),
            ..request
        };
        request
    }
}

/// The outcome of one attempt to recall.
pub(crate) enum RecallOutcome {
    Hits(Vec<Recalled>),
    /// The index of these scopes comes from an earlier version of the analysis.
    Outdated(Vec<u32>),
}

/// A scope with the offset of its conversations' numbers, which lets several scopes be ranked
/// together.
struct Part {
    scope: Scope,
    contents: ScopeContents,
    offset: u32,
}

pub(crate) async fn recall(tx: &mut Tx<'_>, request: &RecallRequest) -> Result<RecallOutcome> {
    let parts = parts(tx, request).await?;
    let outdated = parts.iter().map(|part| &part.scope);
    let outdated = outdated.filter(|scope| scope.analysis != index::ANALYSIS);
    let outdated: Vec<u32> = outdated.map(|scope| scope.id).collect();
    if !outdated.is_empty() {
        return Ok(RecallOutcome::Outdated(outdated));
    }
    let query = Query::new(&request.query, request.now.map(on_the_wall));
    #[cfg(feature = "embeddings")]
    let query = meaning::with_near_words(query, request);
    let mut evidence = evidence::gather(tx, &parts, request, &query, usize::MAX).await?;
    evidence.within = filter::conversations(tx, &parts, &request.filter).await?;
    let most = request.limit.saturating_mul(CANDIDATES);
    let most = most.clamp(LEAST_CANDIDATES, MOST_CANDIDATES);
    let most = most.max(request.limit.saturating_mul(2));
    let known = RelevantFacts::read(tx, &parts, request).await?;
    // With conditions on single messages the best candidates may all fail them, so all are
    // considered.
    let candidates = match request.filter.is_about_messages() {
        false => {
            let mut found = candidates(&query, &evidence, &request.weights, most);
            known.add_candidates(&parts, &mut found);
            found
        }
        true => {
            let all = candidates(&query, &evidence, &request.weights, usize::MAX);
            filter::admitted(tx, &parts, &request.filter, all, most).await?
        }
    };
    let facts = facts(tx, &parts, request, &query, &candidates, &known).await?;
    #[cfg(feature = "embeddings")]
    let facts = meaning::add_likeness(tx, &parts, request, &candidates, facts).await?;
    // More than asked for: `put_latest_first` may bring a message up from below the limit.
    let limit = request.limit.max(change::COMPARED);
    let hits = rank(&query, candidates, &facts, &request.weights, limit);

    let mut recalled = BTreeMap::new();
    for part in &parts {
        let places = hits.iter().map(|hit| (hit.conversation, hit.message));
        let mut places = part.own(places.chain(hits.iter().filter_map(|hit| hit.outdated_by)));
        places.sort_unstable();
        places.dedup();
        for (found, cuts) in messages_and_cuts(tx, part, &places).await? {
            recalled.insert(part.place(found.id), (found, cuts));
        }
    }
    let said = |place: &(u32, u32)| {
        let (message, _): &(StoredMessage, _) = recalled.get(place)?;
        Some((message.id, message.at))
    };
    let times: BTreeMap<(u32, u32), _> = hits
        .iter()
        .filter_map(|hit| Some((hit.outdated_by?, said(&hit.outdated_by?)?)))
        .collect();
    let named = |conversation, message| name(&parts, conversation, message);
    let hits = hits.into_iter().filter_map(|hit| {
        let (message, cuts) = recalled.remove(&(hit.conversation, hit.message))?;
        let cut = cuts.and_then(|cuts| index::decode_cuts(&cuts, hit.passage));
        let (start, end) = cut.unwrap_or_else(|| (0, message.text().len()));
        let duplicates = hit.duplicates.into_iter();
        let replaced = known.replaced(message.id);
        Some(Recalled {
            message,
            passage: start..end,
            score: hit.score,
            duplicates: duplicates.filter_map(|(at, seq)| named(at, seq)).collect(),
            outdated_by: hit
                .outdated_by
                .and_then(|later| times.get(&later))
                .map(|&(id, at)| Later { id: Some(id), at })
                .or(replaced),
        })
    });
    let mut hits: Vec<Recalled> = hits.collect();
    change::put_latest_first(tx, &parts, request, &query, &known, &mut hits).await?;
    hits.truncate(request.limit);
    Ok(RecallOutcome::Hits(hits))
}

async fn recall_facts(tx: &mut Tx<'_>, request: &RecallRequest) -> Result<Vec<RecalledFact>> {
    let parts = parts(tx, request).await?;
    let known = RelevantFacts::read(tx, &parts, request).await?;
    let limit = match known.is_everything {
        true => usize::MAX,
        false => request.limit,
    };
    let mut known = known.facts;
    known.retain(|(fact, _)| !fact.is_retraction);
    known.truncate(limit);
    let mut facts = Vec::with_capacity(known.len());
    for (fact, relevance) in known {
        let message = match fact.source {
            Some(id) => {
                let place = (id.conversation.number, id.seq);
                let scope = id.conversation.scope;
                let found = history::at_places(tx, history::COLUMNS, scope, &[place]).await?;
                found.into_iter().next()
            }
            None => None,
        };
        facts.push(RecalledFact {
            fact,
            relevance,
            message,
        });
    }
    Ok(facts)
}

/// Messages with the packed ranges of their passages.
async fn messages_and_cuts(
    tx: &mut Tx<'_>,
    part: &Part,
    places: &[(u32, u32)],
) -> Result<Vec<(StoredMessage, Option<Vec<u8>>)>> {
    let columns = format!("{}, cuts", history::COLUMNS);
    history::at_places(tx, &columns, part.scope.id, places).await
}

async fn parts(tx: &mut Tx<'_>, request: &RecallRequest) -> Result<Vec<Part>> {
    let scopes = Scope::to_recall(tx, &request.sender, request.channel.as_deref()).await?;
    let mut offset = 0_u32;
    let mut parts = Vec::with_capacity(scopes.len());
    for (scope, contents) in scopes {
        let next = offset.saturating_add(scope.conversations).saturating_add(8);
        parts.push(Part {
            scope,
            contents,
            offset,
        });
        offset = next;
    }
    Ok(parts)
}

impl Part {
    /// The place of a message among those of all parts.
    fn place(&self, id: MessageId) -> (u32, u32) {
        let number = id.conversation.number;
        (number.saturating_add(self.offset), id.seq)
    }

    /// Those of some places that lie in this scope, with the scope's own numbers.
    fn own(&self, places: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
        let own = |(conversation, message): (u32, u32)| {
            let number = conversation.checked_sub(self.offset)?;
            (number <= self.scope.conversations).then_some((number, message))
        };
        places.filter_map(own).collect()
    }
}

fn name(parts: &[Part], conversation: u32, seq: u32) -> Option<MessageId> {
    let part = parts
        .iter()
        .rev()
        .find(|part| part.offset <= conversation)?;
    let (scope, number) = (part.scope.id, conversation - part.offset);
    Some(ConversationId { scope, number }.message(seq))
}

async fn facts(
    tx: &mut Tx<'_>,
    parts: &[Part],
    request: &RecallRequest,
    query: &Query,
    candidates: &[Candidate],
    known_facts: &RelevantFacts,
) -> Result<Vec<MessageFacts>> {
    let in_prompt: BTreeSet<MessageId> = request.in_prompt.iter().copied().collect();
    let mut known = Vec::with_capacity(candidates.len());
    for part in parts {
        let places = candidates
            .iter()
            .map(|candidate| (candidate.conversation, candidate.message));
        let mut places = part.own(places);
        let remembered = remembered::remembered(tx, part, query, &places).await?;
        let shown = in_prompt
            .iter()
            .filter(|id| id.conversation.scope == part.scope.id)
            .map(|id| (id.conversation.number, id.seq));
        places.extend(shown);
        places.sort_unstable();
        places.dedup();
        let columns = "scope, conversation, seq, recallable, internal, role, speaker, at, \
                       at_offset, traits, previous_traits, words, arrival, fingerprint";
        // Candidates, and the messages in the prompt: those count as duplicates of candidates.
        for mut row in history::at_places::<Row>(tx, columns, part.scope.id, &places).await? {
            let id: MessageId = row.read()?;
            let (recallable, internal): (bool, bool) = row.read()?;
            let is_shown = in_prompt.contains(&id);
            // Places contain messages that may not be recalled; internal ones reach the model only
            // in the history of their conversation.
            let may_come = recallable && !internal;
            if !may_come && !is_shown {
                continue;
            }
            let (conversation, seq) = part.place(id);
            let mut facts = MessageFacts::new(conversation, seq);
            facts.role = history::role(&row.read::<String>()?).unwrap_or(facts.role);
            facts.speaker = row.read()?;
            facts.at = MessageTime::from_columns(row.read()?, row.read()?).map(on_the_wall);
            facts.traits = MessageTraits::from_bits(row.read()?);
            facts.previous = row.read::<LenientU32>()?.0.map(MessageTraits::from_bits);
            facts.words = row.read()?;
            facts.arrival = row.read()?;
            facts.fingerprint = Fingerprint::from_bits(row.read::<i64>()?.cast_unsigned());
            let place = (id.conversation.number, id.seq);
            let relevance = known_facts.relevance(id);
            let remembered = remembered.get(&place).copied().unwrap_or(0);
            facts.remembered = remembered.saturating_add(u32::from(relevance > 0));
            // A fact that merely shares a word with the query was found by that word already, and
            // must not count twice.
            facts.fact = if relevance >= relevant::ASKED {
                relevance
            } else {
                0
            };
            facts.outdated_by = known_facts.outdated_by(id).and_then(|later| {
                let part = parts
                    .iter()
                    .find(|part| part.scope.id == later.conversation.scope);
                part.map(|part| part.place(later))
            });
            facts.in_prompt = is_shown;
            known.push(facts);
        }
    }
    Ok(known)
}

/// The time on the speaker's clock, which is what people mean by days.
fn on_the_wall(time: MessageTime) -> Timestamp {
    as_utc(time.wall_clock())
}

fn as_utc(time: DateTime) -> Timestamp {
    time.to_zoned(TimeZone::UTC)
        .map_or(Timestamp::MIN, |zoned| zoned.timestamp())
}
