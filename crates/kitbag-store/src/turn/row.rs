//! The row of a turn.

use jiff::Timestamp;
use kitbag_core::record::TurnRecord;

use super::{StoredTurn, TurnStatus};
use crate::error::{Result, StoreError};
use crate::id::TurnId;
use crate::transaction::Tx;
use crate::value::{FromRow, LenientU32, Row, Value};

pub(super) const COLUMNS: &str =
    "scope, conversation, id, status, message, reply, inferences, problem, record";

impl FromRow for StoredTurn {
    fn from_row(row: &mut Row) -> Result<Self> {
        let id: TurnId = row.read()?;
        let status: String = row.read()?;
        let known = TurnStatus::ALL
            .into_iter()
            .find(|known| known.as_str() == status);
        let message = |seq| id.conversation.message(seq);
        Ok(Self {
            id,
            status: known.ok_or_else(|| {
                StoreError::damaged("turn", format!("turn {id} has the status `{status}`"))
            })?,
            message: message(row.read()?),
            reply: row.read::<LenientU32>()?.0.map(message),
            inferences: row.read()?,
            problem: row.read()?,
            record: read_record(row.read()?),
        })
    }
}

impl StoredTurn {
    pub(crate) async fn get(tx: &mut Tx<'_>, id: TurnId) -> Result<Self> {
        let sql = format!(
            "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND id = $4"
        );
        let turn = tx.query_one(&sql, id).await?;
        turn.ok_or_else(|| StoreError::missing("turn", id))
    }

    pub(super) async fn with_key(tx: &mut Tx<'_>, scope: u32, key: &str) -> Result<Option<Self>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND idempotency_key = $3"
        );
        tx.query_one(&sql, (scope, key)).await
    }

    pub(super) async fn insert(
        &self,
        tx: &mut Tx<'_>,
        key: Option<String>,
        now: Timestamp,
    ) -> Result<()> {
        let into = "turn (tenant, scope, conversation, id, idempotency_key, status, message, \
                    inferences, accepted)";
        let status = self.status.as_str();
        let row = (self.id, key, status, self.message.seq, self.inferences, now);
        tx.insert(into, [row]).await
    }

    /// Writes the changeable columns back. `ended` is the time when the turn ended, if it has.
    pub(crate) async fn update(&self, tx: &mut Tx<'_>, ended: Option<Timestamp>) -> Result<()> {
        let reply = self.reply.map(|reply| reply.seq);
        let problem = self.problem.clone().map(Value::Body);
        let record = self.record_json()?;
        tx.execute(
            "UPDATE turn SET status = $2, reply = $3, inferences = $4, ended = $5, problem = $6, \
             record = $7 WHERE tenant = $1 AND scope = $8 AND conversation = $9 AND id = $10",
            (
                self.status.as_str(),
                reply,
                self.inferences,
                ended,
                problem,
                record,
                self.id,
            ),
        )
        .await?;
        Ok(())
    }

    /// Writes the record back, and nothing else.
    pub(super) async fn update_record(&self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = "UPDATE turn SET record = $2 \
                   WHERE tenant = $1 AND scope = $3 AND conversation = $4 AND id = $5";
        let record = self.record_json()?;
        tx.execute(sql, (record, self.id)).await.map(drop)
    }

    fn record_json(&self) -> Result<Value> {
        let record = serde_json::to_string(&self.record).map_err(|error| {
            StoreError::failed(format!(
                "the record of turn {} cannot be written: {error}",
                self.id
            ))
        })?;
        Ok(Value::Body(record))
    }
}

/// The record of a turn. Turns of older versions have none, and a turn is not refused because its
/// record cannot be read.
fn read_record(json: Option<String>) -> TurnRecord {
    let record = json.and_then(|json| serde_json::from_str(&json).ok());
    record.unwrap_or_default()
}
