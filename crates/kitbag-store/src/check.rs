//! Checking a store: what the rows say, against what they should say.

mod links;

use std::collections::BTreeMap;

use kitbag_core::recall::Analyser;

use crate::error::{Result, StoreError};
use crate::fact;
use crate::history;
use crate::id::TurnId;
use crate::index;
use crate::message::StoredMessage;
use crate::prompt::Hash;
use crate::scope::{Scope, Share};
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Row, Value};

impl Store {
    /// Looks for what is wrong with the tenant's rows and indexes, and with the file. Nothing is
    /// changed. Each problem is told in words.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            problems.extend(file.outside(integrity).await?);
        }
        for scope in self.read(Scope::all).await? {
            let found = self.read(async move |tx| check_scope(tx, scope.id).await);
            problems.extend(found.await?);
        }
        problems.extend(self.read(links::check).await?);
        problems.extend(self.read(check_rest).await?);
        problems.extend(self.read(state::check).await?);
        for (turn, inference) in self.read(archived).await? {
            match self.replay(turn, Some(inference)).await {
                // It was forgotten or removed meanwhile.
                Err(StoreError::Missing { .. }) | Ok(_) => {}
                Err(StoreError::Replay { turn, reason }) => {
                    problems.push(format!("the prompt of turn {turn}: {reason}"));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(problems)
    }
}

#[cfg(feature = "sqlite")]
fn integrity(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?;
    let found: rusqlite::Result<Vec<String>> = found.collect();
    let problems = found?.into_iter().filter(|line| line != "ok");
    Ok(problems.map(|line| format!("the file: {line}")).collect())
}

/// The number of rows that are held at a time.
const PAGE: u32 = 1_000;

/// The messages of a scope, their numbers, and the index over their words.
async fn check_scope(tx: &mut Tx<'_>, id: u32) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let Some(scope) = Scope::get(tx, id).await? else {
        return Ok(problems);
    };
    let sql = "SELECT id, messages FROM conversation WHERE tenant = $1 AND scope = $2";
    let conversations = tx.query::<(u32, u32)>(sql, id).await?;
    let conversations: BTreeMap<u32, u32> = conversations.into_iter().collect();
    let mut analyser = Analyser::new();
    let mut counted = scope.clone();
    (counted.passages, counted.words) = (0, 0);
    let is_current = scope.analysis == index::ANALYSIS;
    let mut comparison = index::Comparison::begin(tx, &scope).await?;
    let sql = format!(
        "SELECT arrival, {} FROM message WHERE tenant = $1 AND scope = $2 AND arrival > $3 \
         ORDER BY arrival LIMIT $4",
        history::COLUMNS
    );
    let mut before = -1_i64;
    loop {
        let rows = tx.query::<Row>(&sql, (id, before, PAGE)).await?;
        if rows.is_empty() {
            break;
        }
        for mut row in rows {
            before = row.read()?;
            let stored: StoredMessage = match row.read() {
                Ok(stored) => stored,
                Err(error) => {
                    problems.push(error.to_string());
                    continue;
                }
            };
            let name = stored.id;
            let arrival = u32::try_from(before).unwrap_or(u32::MAX);
            if arrival > scope.arrivals {
                problems.push(format!("message {name} has a number that was never given"));
            }
            match conversations.get(&name.conversation.number) {
                Some(messages) if name.seq <= *messages => {}
                Some(_) => {
                    problems.push(format!("message {name} is not counted in its conversation"));
                }
                None => problems.push(format!("message {name} has no conversation")),
            }
            if stored.recallable && is_current {
                let analysis = analyser.analyse(&stored.text());
                counted.add(Share::of(&analysis));
                let terms = index::encode_terms(&analysis.passages);
                comparison.add(tx, arrival, &stored, &terms).await?;
            }
        }
    }
    if is_current {
        if (counted.passages, counted.words) != (scope.passages, scope.words) {
            problems.push(format!(
                "the totals of scope {id} are not those of its messages"
            ));
        }
        problems.extend(comparison.finish(tx).await?);
    }
    Ok(problems)
}

/// The prompts that should come out again as they were sent.
async fn archived(tx: &mut Tx<'_>) -> Result<Vec<(TurnId, u32)>> {
    let sql = "SELECT scope, conversation, turn, inference FROM prompt \
               WHERE tenant = $1 AND forgotten IS NULL ORDER BY scope, conversation, turn, inference";
    tx.query(sql, ()).await
}

/// Facts, and the texts of prompts.
async fn check_rest(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let twice = format!(
        "SELECT DISTINCT sender, key FROM fact WHERE tenant = $1 AND until IS NULL \
         GROUP BY sender, key, {} HAVING count(*) > 1",
        fact::seen_in("fact")
    );
    for (sender, key) in tx.query::<(String, String)>(&twice, ()).await? {
        problems.push(format!("fact `{key}` of `{sender}` has two values at once"));
    }
    let missing = "SELECT DISTINCT scope, conversation, turn FROM prompt_text WHERE tenant = $1 \
                   AND NOT EXISTS (SELECT 1 FROM text WHERE text.tenant = prompt_text.tenant \
                   AND text.hash = prompt_text.hash)";
    // Numbers are read as they are: one out of range is named like the others.
    for (scope, conversation, turn) in tx.query::<(i64, i64, i64)>(missing, ()).await? {
        problems.push(format!(
            "turn {scope}.{conversation}.{turn} lacks a text of its prompt"
        ));
    }
    let texts = "SELECT hash, hash, body FROM text WHERE tenant = $1 AND hash > $2 \
                 ORDER BY hash LIMIT $3";
    let mut before = Value::Blob(Vec::new());
    loop {
        let rows = tx.query::<Row>(texts, (before.clone(), PAGE)).await?;
        if rows.is_empty() {
            break;
        }
        for mut row in rows {
            before = row.read()?;
            let hash: Hash = match row.read() {
                Ok(hash) => hash,
                Err(error) => {
                    problems.push(error.to_string());
                    continue;
                }
            };
            if row.read().map(|body: String| Hash::of(&body)).ok() != Some(hash) {
                problems.push(format!("text {} of a prompt was altered", hash.to_hex()));
            }
        }
    }
    Ok(problems)
}
