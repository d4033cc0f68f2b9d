//! Repairs a store: rebuilds everything that derives from messages, and removes rows that cannot be
//! read.
//!
//! There are two steps, so that nothing is lost between them: [`Store::damaged_rows`] returns the
//! rows that must go, the caller saves them elsewhere, and [`Store::repair`] removes them and mends
//! the rest. A conversation loses only the cells that cannot be read, since all of its other rows
//! depend on it.

mod conversation;
mod counts;
mod damaged;
mod prompts;

use crate::error::{Result, StoreError};
use crate::fact::{self, Timeline};
use crate::index;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;

pub use damaged::{DamagedRow, Remedy};

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The problems before the repair.
    pub found: Vec<String>,
    /// The problems that remain.
    pub left: Vec<String>,
}

impl Store {
    /// Lists the rows that cannot be read or belong to nothing, which [`repair`](Self::repair)
    /// mends or removes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn damaged_rows(&self) -> Result<Vec<DamagedRow>> {
        self.read(damaged::find).await
    }

    /// Removes damaged rows or their unreadable cells, and rebuilds indexes, counts and totals from
    /// the messages. Each scope is one transaction, so others can work meanwhile. Everything
    /// derived from a removed row goes too: prompts that held it can no longer be rebuilt, and
    /// facts no longer name it as their source.
    ///
    /// # Errors
    /// When the store fails; then it can be run again.
    pub async fn repair(&self, damaged: Vec<DamagedRow>) -> Result<Repaired> {
        let found = self.problems().await;
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            // SQLite's own indexes first: reading by a damaged one would miss rows.
            file.outside(|connection| connection.execute_batch("REINDEX"))
                .await?;
        }
        self.write(async move |tx| {
            tx.lock_exclusive(crate::prompt::TEXTS).await?;
            damaged::remedy(tx, damaged).await?;
            prompts::without_texts(tx).await?;
            counts::of_tenant(tx).await?;
            facts(tx).await
        })
        .await?;
        let scopes = self.read(async |tx| {
            let sql = "SELECT id FROM scope WHERE tenant = $1 ORDER BY id";
            tx.query::<u32>(sql, ()).await
        });
        for id in scopes.await? {
            self.write(async move |tx| {
                counts::of_scope(tx, id).await?;
                if let Some(mut scope) = Scope::lock_by_number(tx, id).await? {
                    index::reindex(tx, &mut scope).await?;
                    scope.save(tx).await?;
                }
                Ok(())
            })
            .await?;
        }
        // Last, since prompts are compared with the rows that remain.
        self.give_up_prompts().await?;
        Ok(Repaired {
            found,
            left: self.problems().await,
        })
    }

    /// Returns the problems that a check finds. A check that cannot continue is a problem too.
    async fn problems(&self) -> Vec<String> {
        match self.check().await {
            Ok(problems) => problems,
            Err(error) => vec![error.to_string()],
        }
    }

    /// Empties prompts that no longer rebuild to what was sent.
    async fn give_up_prompts(&self) -> Result<()> {
        for (turn, inference) in self.read(prompts::archived).await? {
            if let Err(StoreError::Replay { .. }) = self.replay(turn, Some(inference)).await {
                self.write(async move |tx| prompts::give_up(tx, turn, inference).await)
                    .await?;
            }
        }
        Ok(())
    }
}

/// Removes sources that do not exist from facts, and leaves one value of each key: the one stated
/// last, which need not be the one written last.
async fn facts(tx: &mut Tx<'_>) -> Result<()> {
    let sql = "UPDATE fact SET source_scope = NULL, source_conversation = NULL, source_seq = NULL \
               WHERE tenant = $1 AND source_scope IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM message WHERE message.tenant = $1 \
               AND message.scope = source_scope AND message.conversation = source_conversation \
               AND message.seq = source_seq)";
    tx.execute(sql, ()).await?;
    let several = format!(
        "SELECT DISTINCT sender, key FROM fact WHERE tenant = $1 AND until IS NULL \
         GROUP BY sender, key, {} HAVING count(*) > 1 ORDER BY sender, key",
        fact::seen_in("fact")
    );
    for (sender, key) in tx.query::<(String, String)>(&several, ()).await? {
        fact::lock(tx, &sender).await?;
        Timeline::read(tx, &sender, &key).await?.save(tx).await?;
    }
    Ok(())
}
