//! Checks a store: compares its rows with each other and with the rows that they were derived from.

mod links;
mod scope;

use crate::error::{Result, StoreError};
use crate::fact;
use crate::id::TurnId;
use crate::prompt::Hash;
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Cell as _, Row, Value};

impl Store {
    /// Looks for problems with the tenant's rows and indexes, and with the file. Nothing is
    /// changed. Each problem is a sentence.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check(&self) -> Result<Vec<String>> {
        // One transaction for each scope and prompt: a check of a large store must not hold up
        // others, nor hold all of it in memory.
        let mut problems = Vec::new();
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            problems.extend(file.outside(integrity).await?);
        }
        let scopes = "SELECT id FROM scope WHERE tenant = $1 ORDER BY id";
        let scopes = self.read(async move |tx| tx.query::<Value>(scopes, ()).await);
        for id in scopes.await? {
            let Some(id) = number(&id) else {
                problems.push(out_of_range("scope", &shown(&id)));
                continue;
            };
            let found = self.read(async move |tx| scope::check(tx, id).await);
            problems.extend(found.await?);
        }
        problems.extend(self.read(links::check).await?);
        problems.extend(self.read(check_rest).await?);
        problems.extend(self.read(state::check).await?);
        for prompt in self.read(archived).await? {
            let (turn, inference) = match prompt {
                Ok(prompt) => prompt,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            match self.replay(turn, Some(inference)).await {
                // It was forgotten or removed since it was listed.
                Err(StoreError::Missing { .. }) | Ok(_) => {}
                Err(StoreError::Replay { turn, reason }) => {
                    problems.push(format!("the prompt of turn {turn}: {reason}"));
                }
                Err(error) => {
                    problems.push(unreadable(error, &format!("the prompt of turn {turn}"))?)
                }
            }
        }
        Ok(problems)
    }
}

/// Reads a number that the store may have given out: they count from 1.
fn number(value: &Value) -> Option<u32> {
    u32::from_value(value.clone()).filter(|number| *number > 0)
}

fn out_of_range(what: &str, number: &str) -> String {
    format!("{what} {number} has a number out of range")
}

/// A cell for an error message, whatever it holds.
fn shown(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) | Value::Body(text) => format!("`{text}`"),
        Value::Null | Value::Blob(_) => "without a number".to_owned(),
    }
}

/// The problem that some rows cannot be read. Any other failure ends the check.
fn unreadable(error: StoreError, what: &str) -> Result<String> {
    match error {
        StoreError::Failed { reason } | StoreError::DamagedFile { reason } => {
            Ok(format!("{what} cannot be read: {reason}"))
        }
        error @ StoreError::Damaged { .. } => Ok(error.to_string()),
        other => Err(other),
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

/// The number of rows that are read at a time.
const PAGE: u32 = 1_000;

/// The archived prompts that should replay as they were sent. A row with a wrong number is a
/// problem instead.
async fn archived(tx: &mut Tx<'_>) -> Result<Vec<Result<(TurnId, u32), String>>> {
    let sql = "SELECT scope, conversation, turn, inference FROM prompt \
               WHERE tenant = $1 AND forgotten IS NULL ORDER BY scope, conversation, turn, inference";
    let prompts = tx.query::<Row>(sql, ()).await?;
    let prompts = prompts.into_iter().map(|row| {
        let cells = row.into_cells();
        Row::new(cells.clone()).read().map_err(|_| {
            let numbers = cells.iter().take(3).map(shown);
            let turn = numbers.collect::<Vec<_>>().join(".");
            format!("the prompt of turn {turn} has a number out of range")
        })
    });
    Ok(prompts.collect())
}

/// Checks facts and the texts of prompts.
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
    // Read as plain numbers, so that one out of range is reported like any other.
    for (scope, conversation, turn) in tx.query::<(i64, i64, i64)>(missing, ()).await? {
        problems.push(format!(
            "turn {scope}.{conversation}.{turn} lacks a text of its prompt"
        ));
    }
    // The hash stands first: the next page begins behind it, even if the rest of the row cannot be
    // read.
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
