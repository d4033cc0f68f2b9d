//! Checking a store: what the rows say, against what they should say.

mod links;

use std::collections::BTreeMap;

use kitbag_core::recall::analyse;

use crate::error::{Result, StoreError};
use crate::history;
use crate::id::TurnId;
use crate::index;
use crate::message::StoredMessage;
use crate::prompt::Hash;
use crate::scope::{Scope, Share};
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::Row;

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

/// The messages of a scope, their numbers, and the index over their words.
async fn check_scope(tx: &mut Tx<'_>, id: u32) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let Some(scope) = Scope::get(tx, id).await? else {
        return Ok(problems);
    };
    let sql = "SELECT id, messages FROM conversation WHERE tenant = $1 AND scope = $2";
    let conversations = tx.query::<(u32, u32)>(sql, id).await?;
    let conversations: BTreeMap<u32, u32> = conversations.into_iter().collect();
    let sql = format!(
        "SELECT arrival, terms, {} FROM message WHERE tenant = $1 AND scope = $2 ORDER BY arrival",
        history::COLUMNS
    );
    let mut counted = scope.clone();
    (counted.passages, counted.words) = (0, 0);
    let mut expected = index::Expected::default();
    for mut row in tx.query::<Row>(&sql, id).await? {
        let (arrival, terms): (u32, Option<Vec<u8>>) = row.read()?;
        let stored: StoredMessage = match row.read() {
            Ok(stored) => stored,
            Err(error) => {
                problems.push(error.to_string());
                continue;
            }
        };
        let name = stored.id;
        if arrival > scope.arrivals {
            problems.push(format!("message {name} has a number that was never given"));
        }
        match conversations.get(&name.conversation.number) {
            Some(messages) if name.seq <= *messages => {}
            Some(_) => problems.push(format!("message {name} is not counted in its conversation")),
            None => problems.push(format!("message {name} has no conversation")),
        }
        let analysis = stored.recallable.then(|| analyse(&stored.text()));
        if let Some(analysis) = &analysis {
            counted.add(Share::of(analysis));
        }
        if scope.analysis != index::ANALYSIS {
            continue;
        }
        let carries = analysis.map(|one| index::encode_terms(&one.passages));
        if arrival <= scope.indexed {
            expected.add(&stored, carries.as_deref());
        } else if terms != carries {
            problems.push(format!(
                "message {name} does not carry the words of its text"
            ));
        }
    }
    if scope.analysis == index::ANALYSIS {
        if (counted.passages, counted.words) != (scope.passages, scope.words) {
            problems.push(format!(
                "the totals of scope {id} are not those of its messages"
            ));
        }
        problems.extend(expected.compare(tx, &scope).await?);
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
    let twice = "SELECT sender, key FROM fact WHERE tenant = $1 AND until IS NULL \
                 GROUP BY sender, key HAVING count(*) > 1";
    for (sender, key) in tx.query::<(String, String)>(twice, ()).await? {
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
    let texts = "SELECT hash, body FROM text WHERE tenant = $1";
    for mut row in tx.query::<Row>(texts, ()).await? {
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
    Ok(problems)
}
