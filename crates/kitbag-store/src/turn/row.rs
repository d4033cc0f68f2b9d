//! A turn as a row.

use jiff::Timestamp;

use super::{StoredTurn, TurnStatus};
use crate::error::StoreError;
use crate::id::{ConversationId, MessageId, TurnId};
use crate::transaction::Tx;
use crate::value::{Row, Value};

pub(super) const COLUMNS: &str = "conversation, id, status, message, reply, inferences, problem";

impl StoredTurn {
    pub(super) fn read(scope: u32, mut row: Row) -> Result<Self, StoreError> {
        let conversation = ConversationId {
            scope,
            number: row.u32()?,
        };
        let id = TurnId {
            conversation,
            number: row.u32()?,
        };
        let status = row.text()?;
        let known = TurnStatus::ALL
            .into_iter()
            .find(|known| known.as_str() == status);
        let message = |seq| MessageId { conversation, seq };
        Ok(Self {
            id,
            status: known.ok_or_else(|| StoreError::Damaged {
                table: "turn",
                reason: format!("turn {id} has the status `{status}`"),
            })?,
            message: message(row.u32()?),
            reply: row
                .int_or_null()?
                .and_then(|seq| u32::try_from(seq).ok())
                .map(message),
            inferences: row.u32()?,
            problem: row.text_or_null()?,
        })
    }

    pub(crate) async fn get(tx: &mut Tx<'_>, id: TurnId) -> Result<Self, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND id = $4"
        );
        let at = id.conversation;
        let row = tx
            .query_one(&sql, [at.scope.into(), at.number.into(), id.number.into()])
            .await?
            .ok_or_else(|| StoreError::missing("turn", id))?;
        Self::read(at.scope, row)
    }

    pub(super) async fn with_key(
        tx: &mut Tx<'_>,
        scope: u32,
        key: &str,
    ) -> Result<Option<Self>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND idempotency_key = $3"
        );
        let row = tx.query_one(&sql, [scope.into(), key.into()]).await?;
        row.map(|row| Self::read(scope, row)).transpose()
    }

    pub(super) async fn insert(
        &self,
        tx: &mut Tx<'_>,
        key: Option<String>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        tx.insert(
            "turn (tenant, scope, conversation, id, idempotency_key, status, message, inferences, accepted)",
            vec![[
                self.id.conversation.scope.into(),
                self.id.conversation.number.into(),
                self.id.number.into(),
                key.into(),
                self.status.as_str().into(),
                self.message.seq.into(),
                self.inferences.into(),
                now.as_microsecond().into(),
            ]],
        )
        .await
    }

    /// Writes that a prompt was sent.
    pub(crate) async fn sent(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.update(tx, None).await
    }

    pub(super) async fn end(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<(), StoreError> {
        self.update(tx, Some(now)).await
    }

    async fn update(&self, tx: &mut Tx<'_>, ended: Option<Timestamp>) -> Result<(), StoreError> {
        tx.execute(
            "UPDATE turn SET status = $2, reply = $3, inferences = $4, ended = $5, problem = $6 \
             WHERE tenant = $1 AND scope = $7 AND conversation = $8 AND id = $9",
            [
                self.status.as_str().into(),
                self.reply.map(|reply| reply.seq).into(),
                self.inferences.into(),
                ended.map(Timestamp::as_microsecond).into(),
                self.problem.clone().map_or(Value::Null, Value::Body),
                self.id.conversation.scope.into(),
                self.id.conversation.number.into(),
                self.id.number.into(),
            ],
        )
        .await?;
        Ok(())
    }
}
