//! Empties archived prompts that contain something forgotten.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use kitbag_core::assembly::Epoch;
use kitbag_core::view::is_derived_from_messages;

use crate::error::{Result, StoreError};
use crate::id::{ConversationId, MessageId};
use crate::prompt::{Hash, PromptKey, drop_taken_texts, holders, let_go, take_texts};
use crate::splice;
use crate::state::Part;
use crate::transaction::{Tx, placeholders};
use crate::value::Value;

/// Texts shorter than this, in bytes, occur in others by chance.
pub(super) const SHORTEST: usize = 8;

/// Empties the prompts of a sender's scopes that have a text of one of these origins. For a
/// forgotten message, also those that contain one of its texts, and those that may contain a part
/// of it. The remaining row says what was forgotten and when the prompt was sent.
pub(super) async fn forget(
    tx: &mut Tx<'_>,
    scopes: &[u32],
    origins: &[String],
    message: Option<(MessageId, &[String])>,
    name: &str,
) -> Result<u64> {
    let mut rows = of_origins(tx, scopes, origins).await?;
    if let Some((id, texts)) = message {
        rows.extend(derived(tx, id).await?);
        for text in texts.iter().filter(|text| text.len() >= SHORTEST) {
            for scope in scopes {
                rows.extend(holding(tx, *scope, text).await?);
            }
        }
    }
    let prompts = holders(tx, rows).await?;
    empty(tx, scopes, &prompts, name).await
}

/// Empties prompts like [`forget`], for messages of one sender that are forgotten together.
pub(super) async fn forget_of_messages(
    tx: &mut Tx<'_>,
    scopes: &[u32],
    origins: &[String],
    messages: &[(MessageId, String)],
) -> Result<u64> {
    let mut rows = of_origins(tx, scopes, origins).await?;
    // Derived texts are found by the first forgotten message of a conversation: they may tell of
    // all after it.
    let mut first: BTreeMap<ConversationId, u32> = BTreeMap::new();
    for (id, _) in messages {
        let seq = first.entry(id.conversation).or_insert(id.seq);
        *seq = id.seq.min(*seq);
    }
    for (conversation, seq) in first {
        rows.extend(derived(tx, conversation.message(seq)).await?);
    }
    if let Some(texts) = finder(messages)? {
        for scope in scopes {
            rows.extend(holding_any(tx, *scope, &texts).await?);
        }
    }
    let prompts = holders(tx, rows).await?;
    empty(tx, scopes, &prompts, "a message").await
}

/// A text in a prompt.
type TextRow = (PromptKey, Hash);

/// The texts of these origins in prompts of some scopes.
async fn of_origins(tx: &mut Tx<'_>, scopes: &[u32], origins: &[String]) -> Result<Vec<TextRow>> {
    let mut rows = Vec::new();
    // SQLite takes 32,766 parameters and PostgreSQL 65,535; 500 keep the statement short.
    for some in origins.chunks(500) {
        let sql = format!(
            "SELECT DISTINCT scope, conversation, turn, inference, hash FROM prompt_text \
             WHERE tenant = $1 AND origin IN ({})",
            placeholders(2, some.len())
        );
        let origins: Vec<Value> = some.iter().map(Value::from).collect();
        let found = tx.query::<TextRow>(&sql, origins).await?.into_iter();
        // A fact's origin is its key alone, which another sender may have too.
        rows.extend(found.filter(|((turn, _), _)| scopes.contains(&turn.conversation.scope)));
    }
    Ok(rows)
}

/// Empties prompts, and notes in their rows what was forgotten.
async fn empty(
    tx: &mut Tx<'_>,
    scopes: &[u32],
    prompts: &BTreeSet<PromptKey>,
    name: &str,
) -> Result<u64> {
    for prompt in prompts {
        tx.execute(
            "UPDATE prompt SET recipe = NULL, forgotten = $2 WHERE tenant = $1 AND scope = $3 \
             AND conversation = $4 AND turn = $5 AND inference = $6",
            (name, *prompt),
        )
        .await?;
    }
    let conversations = prompts.iter().map(|(turn, _)| turn.conversation);
    let conversations: BTreeSet<ConversationId> = conversations.collect();
    let mut taken: BTreeSet<Hash> = BTreeSet::new();
    for conversation in conversations {
        let_go(tx, conversation, &mut taken).await?;
    }
    drop_taken_texts(tx, taken).await?;
    forget_epochs(tx, scopes).await?;
    Ok(prompts.len() as u64)
}

/// An epoch holds texts that the next prompt would show again, and so do splices.
pub(crate) async fn forget_epochs(tx: &mut Tx<'_>, scopes: &[u32]) -> Result<()> {
    for scope in scopes {
        let sql = "DELETE FROM state WHERE tenant = $1 AND scope = $2 AND kind = $3";
        tx.execute(sql, (*scope, Epoch::KIND)).await?;
    }
    splice::forget(tx, scopes).await
}

/// The texts in prompts of a scope that contain `text`, plainly or in its JSON form. Each text
/// is searched once, in however many prompts it is.
async fn holding(tx: &mut Tx<'_>, scope: u32, text: &str) -> Result<Vec<TextRow>> {
    let json = json_form(text)?;
    let sql = format!(
        "SELECT DISTINCT scope, conversation, turn, inference, hash FROM prompt_text \
         WHERE tenant = $1 AND scope = $2 AND hash IN (SELECT hash FROM text WHERE tenant = $1 \
         AND hash IN (SELECT hash FROM prompt_text WHERE tenant = $1 AND scope = $2) \
         AND ({} OR {}))",
        tx.holds("body", "$3"),
        tx.holds("body", "$4"),
    );
    let text = Value::Body(text.to_owned());
    tx.query(&sql, (scope, text, Value::Body(json))).await
}

/// A text as it stands inside a JSON string. Without it every prompt would seem to contain the text,
/// so a failure is an error.
fn json_form(text: &str) -> Result<String> {
    let json = serde_json::to_string(text)
        .map_err(|error| StoreError::failed(format!("a text cannot be searched: {error}")))?;
    Ok(json.trim_matches('"').to_owned())
}

/// Makes a search for the texts of messages, plainly and in their JSON form; none if all of them
/// are so short that they occur in others by chance.
fn finder(messages: &[(MessageId, String)]) -> Result<Option<AhoCorasick>> {
    let texts = messages.iter().map(|(_, text)| text.as_str());
    let texts: BTreeSet<&str> = texts.filter(|text| text.len() >= SHORTEST).collect();
    if texts.is_empty() {
        return Ok(None);
    }
    let json: Result<Vec<String>> = texts.iter().map(|text| json_form(text)).collect();
    let needles = texts.iter().map(|text| (*text).to_owned()).chain(json?);
    let found = AhoCorasick::new(needles);
    found.map(Some).map_err(|error| {
        StoreError::failed(format!("the forgotten texts cannot be looked for: {error}"))
    })
}

/// The number of prompts' texts that are read at a time.
const PAGE: u32 = 200;

/// The texts in prompts of a scope that contain one of many. Each text is read once.
async fn holding_any(tx: &mut Tx<'_>, scope: u32, texts: &AhoCorasick) -> Result<Vec<TextRow>> {
    let sql = format!(
        "SELECT hash, body FROM text WHERE tenant = $1 AND hash > $3 AND hash IN \
         (SELECT hash FROM prompt_text WHERE tenant = $1 AND scope = $2) ORDER BY hash LIMIT {PAGE}"
    );
    let mut found = Vec::new();
    let mut after = Value::Blob(Vec::new());
    loop {
        let page = tx.query::<(Hash, String)>(&sql, (scope, after)).await?;
        let Some((last, _)) = page.last() else {
            break;
        };
        after = Value::from(*last);
        let holding = page.iter().filter(|(_, body)| texts.is_match(body));
        found.extend(holding.map(|(hash, _)| Value::from(*hash)));
    }
    let mut rows = Vec::new();
    for some in found.chunks(500) {
        let sql = format!(
            "SELECT DISTINCT scope, conversation, turn, inference, hash FROM prompt_text \
             WHERE tenant = $1 AND scope = $2 AND hash IN ({})",
            placeholders(3, some.len())
        );
        rows.extend(tx.query::<TextRow>(&sql, (scope, some.to_vec())).await?);
    }
    Ok(rows)
}

/// The texts in prompts of a message's conversation that may hold a sentence of it, such as a
/// summary. Those of turns that were answered before the message came know nothing of it.
async fn derived(tx: &mut Tx<'_>, id: MessageId) -> Result<Vec<TextRow>> {
    let sql = "SELECT DISTINCT prompt_text.origin, prompt_text.scope, prompt_text.conversation, \
               prompt_text.turn, prompt_text.inference, prompt_text.hash \
               FROM prompt_text JOIN turn ON turn.tenant = prompt_text.tenant \
               AND turn.scope = prompt_text.scope AND turn.conversation = prompt_text.conversation \
               AND turn.id = prompt_text.turn WHERE prompt_text.tenant = $1 AND prompt_text.scope = $2 \
               AND prompt_text.conversation = $3 AND (turn.reply IS NULL OR turn.reply >= $4)";
    let found = tx.query::<(String, TextRow)>(sql, id).await?.into_iter();
    let derived = found.filter(|(origin, _)| is_derived_from_messages(origin));
    Ok(derived.map(|(_, row)| row).collect())
}

/// Removes the prompts of a conversation.
pub(super) async fn remove_of_conversation(tx: &mut Tx<'_>, id: ConversationId) -> Result<u64> {
    let mut taken = BTreeSet::new();
    take_texts(tx, "scope = $2 AND conversation = $3", id, &mut taken).await?;
    drop_taken_texts(tx, taken).await?;
    let sql = "DELETE FROM prompt WHERE tenant = $1 AND scope = $2 AND conversation = $3";
    tx.execute(sql, id).await
}
