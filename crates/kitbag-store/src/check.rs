//! Checking a store: what the rows say, against what they should say.

mod links;

use std::collections::BTreeMap;

use kitbag_core::recall::analyse;

use crate::error::StoreError;
use crate::history;
use crate::id::{ConversationId, TurnId};
use crate::index;
use crate::prompt::Hash;
use crate::scope::{Scope, Share};
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;

impl Store {
    /// Looks for what is wrong with the tenant's rows and indexes, and with the file. Nothing is
    /// changed. Each problem is told in words.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = Vec::new();
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            problems.extend(file.outside(integrity).await?);
        }
        let scopes = self.read(Scope::all).await?;
        for scope in scopes {
            let found = self
                .read(async move |tx| check_scope(tx, scope.id).await)
                .await?;
            problems.extend(found);
        }
        let links = self.read(links::check);
        problems.extend(links.await?);
        let rest = self.read(check_rest);
        problems.extend(rest.await?);
        let states = self.read(state::check);
        problems.extend(states.await?);
        for (turn, inference) in self.archived().await? {
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
async fn check_scope(tx: &mut Tx<'_>, id: u32) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    let Some(scope) = Scope::get(tx, id).await? else {
        return Ok(problems);
    };
    let mut conversations = BTreeMap::new();
    let rows = tx
        .query(
            "SELECT id, messages FROM conversation WHERE tenant = $1 AND scope = $2",
            [id.into()],
        )
        .await?;
    for mut row in rows {
        conversations.insert(row.u32()?, row.u32()?);
    }
    let sql = format!(
        "SELECT arrival, terms, {} FROM message WHERE tenant = $1 AND scope = $2 ORDER BY arrival",
        history::COLUMNS
    );
    let mut counted = scope.clone();
    (counted.passages, counted.words) = (0, 0);
    let mut expected = index::Expected::default();
    for mut row in tx.query(&sql, [id.into()]).await? {
        let (arrival, terms) = (row.u32()?, row.blob_or_null()?);
        let stored = match history::read(id, &mut row) {
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
        let is_indexed = arrival <= scope.indexed;
        let carries = analysis
            .as_ref()
            .map(|one| index::encode_terms(&one.passages));
        if scope.analysis == index::ANALYSIS {
            if is_indexed {
                expected.add(name, analysis.as_ref());
            } else if terms != carries {
                problems.push(format!(
                    "message {name} does not carry the words of its text"
                ));
            }
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

impl Store {
    /// The prompts that should come out again as they were sent.
    async fn archived(&self) -> Result<Vec<(TurnId, u32)>, StoreError> {
        self.read(async move |tx| {
            let rows = tx
                .query(
                    "SELECT scope, conversation, turn, inference FROM prompt \
                         WHERE tenant = $1 AND forgotten IS NULL \
                         ORDER BY scope, conversation, turn, inference",
                    [],
                )
                .await?;
            rows.into_iter()
                .map(|mut row| {
                    let conversation = ConversationId {
                        scope: row.u32()?,
                        number: row.u32()?,
                    };
                    let turn = TurnId {
                        conversation,
                        number: row.u32()?,
                    };
                    Ok((turn, row.u32()?))
                })
                .collect()
        })
        .await
    }
}

/// Facts, and the texts of prompts.
async fn check_rest(tx: &mut Tx<'_>) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    let twice = tx
        .query(
            "SELECT sender, key FROM fact WHERE tenant = $1 AND until IS NULL \
             GROUP BY sender, key HAVING count(*) > 1",
            [],
        )
        .await?;
    for mut row in twice {
        let (sender, key) = (row.text()?, row.text()?);
        problems.push(format!("fact `{key}` of `{sender}` has two values at once"));
    }
    let missing = tx
        .query(
            "SELECT DISTINCT scope, conversation, turn FROM prompt_text WHERE tenant = $1 \
             AND NOT EXISTS (SELECT 1 FROM text WHERE text.tenant = prompt_text.tenant \
             AND text.hash = prompt_text.hash)",
            [],
        )
        .await?;
    for mut row in missing {
        let (scope, conversation, turn) = (row.int()?, row.int()?, row.int()?);
        problems.push(format!(
            "turn {scope}.{conversation}.{turn} lacks a text of its prompt"
        ));
    }
    for mut row in tx
        .query("SELECT hash, body FROM text WHERE tenant = $1", [])
        .await?
    {
        let hash = Hash::from_bytes(&row.blob()?)?;
        if row.text().map(|body| Hash::of(&body)).ok() != Some(hash) {
            problems.push(format!("text {} of a prompt was altered", hash.to_hex()));
        }
    }
    Ok(problems)
}
