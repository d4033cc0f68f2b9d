//! Results of tools that were cut when they were recorded: the whole of each, beside its conversation, and
//! gone with it.

use std::fmt;
use std::str::FromStr;

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::id::{ConversationId, TurnId};
use crate::lease::Lease;
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::Value;

/// The name of a result: `7.12.3/1`, the first of turn 3 that was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultId {
    turn: TurnId,
    number: u32,
}

impl ResultId {
    /// The result of a turn with this number, counted from 1.
    #[must_use]
    pub const fn new(turn: TurnId, number: u32) -> Self {
        Self { turn, number }
    }

    /// The conversation that the result belongs to.
    #[must_use]
    pub fn conversation(self) -> ConversationId {
        self.turn.conversation()
    }

    /// The kind under which it stands in the state of its conversation.
    fn kind(self) -> String {
        format!("result/{}/{}", self.turn.number(), self.number)
    }
}

impl fmt::Display for ResultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.turn, self.number)
    }
}

impl FromStr for ResultId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        let found = text.split_once('/').and_then(|(turn, number)| {
            let turn = turn.parse().ok()?;
            Some(Self::new(turn, number.parse().ok()?))
        });
        found.ok_or_else(|| {
            let text = text.escape_debug();
            let problem = format!("`{text}` is no handle such as 7.12.3/1");
            StoreError::invalid("the result", problem)
        })
    }
}

/// More of a result is not kept.
const MOST_BYTES: usize = 4 << 20;

impl Store {
    /// Keeps the whole of a result of the turn that is under way.
    ///
    /// # Errors
    /// When the lease was lost, or the store fails.
    pub async fn keep_result(&self, lease: &Lease, number: u32, text: &str) -> Result<ResultId> {
        let id = ResultId::new(lease.turn, number);
        let text = text.get(..text.floor_char_boundary(MOST_BYTES));
        let text = self.secrets().masked(text.unwrap_or_default().to_owned());
        let json = serde_json::Value::from(text).to_string();
        let lease = lease.clone();
        self.write(async move |tx| {
            Conversation::lock(tx, id.conversation()).await?;
            lease.check(tx).await?;
            let into = "state (tenant, scope, conversation, kind, json)";
            let or =
                "ON CONFLICT (tenant, scope, conversation, kind) DO UPDATE SET json = excluded.json";
            let row = (id.conversation(), id.kind(), Value::Body(json));
            tx.insert_or(into, or, [row]).await?;
            Ok(id)
        })
        .await
    }

    /// The whole of a result; none where there is no such result, or where it was forgotten.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn result(&self, id: ResultId) -> Result<Option<String>> {
        self.read(async move |tx| {
            let sql = "SELECT json FROM state \
                       WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND kind = $4";
            let json: Option<String> = tx.query_one(sql, (id.conversation(), id.kind())).await?;
            let text = json.map(|json| serde_json::from_str(&json)).transpose();
            text.map_err(|error| StoreError::damaged("state", format!("result {id}: {error}")))
        })
        .await
    }
}

/// Forgets the results of a conversation: any of them may tell of what is gone.
pub(crate) async fn forget(tx: &mut Tx<'_>, id: ConversationId) -> Result<()> {
    let sql = format!(
        "DELETE FROM state WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND {}",
        state::IS_RESULT
    );
    tx.execute(&sql, id).await.map(drop)
}
