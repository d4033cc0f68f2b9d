//! One scope: its counts, its conversations, its messages, and the index over their words.
//!
//! Cells are read one by one: a wrong one is a problem, and the check goes on with everything that
//! does not need it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kitbag_core::recall::Analyser;

use super::{PAGE, number, out_of_range, shown, unreadable};
use crate::error::Result;
use crate::history;
use crate::index::{self, Comparison};
use crate::message::StoredMessage;
use crate::scope::{Scope, Share};
use crate::transaction::Tx;
use crate::value::{Cell, Row, Value};

/// Looks for problems with a scope.
pub(super) async fn check(tx: &mut Tx<'_>, id: u32) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let counts = check_counts(tx, id).await?;
    let scope = match counts.is_empty() {
        // Without readable counts there is nothing to compare with; the messages are checked all
        // the same.
        true => Scope::get(tx, id).await?,
        false => None,
    };
    problems.extend(counts);
    let conversations = check_conversations(tx, id, &mut problems).await?;
    let messages = Messages {
        conversations,
        scope: id,
        arrivals: scope.as_ref().map(|scope| scope.arrivals),
        // Words of an older analysis differ from those of today. They are written again with the
        // next message.
        indexed: match scope.filter(|scope| scope.analysis == index::ANALYSIS) {
            Some(scope) => Indexed::begin(tx, scope, &mut problems).await?,
            None => None,
        },
    };
    messages.check(tx, &mut problems).await?;
    Ok(problems)
}

/// The cells of the scope's own row that cannot be read.
async fn check_counts(tx: &mut Tx<'_>, id: u32) -> Result<Vec<String>> {
    let columns = ["conversations", "arrivals", "blocks"];
    let totals = ["passages", "words", "analysis"];
    let all = [columns, totals].concat().join(", ");
    let sql = format!("SELECT {all} FROM scope WHERE tenant = $1 AND id = $2");
    let mut problems = Vec::new();
    for row in tx.query::<Row>(&sql, id).await? {
        let mut cells = Cells::new(row, format!("scope {id}"), &mut problems);
        for column in columns {
            cells.read::<u32>(column);
        }
        for column in totals {
            cells.read::<i64>(column);
        }
    }
    Ok(problems)
}

/// The conversations of a scope, with the number of messages that each has ever had; none if that
/// number cannot be read.
async fn check_conversations(
    tx: &mut Tx<'_>,
    scope: u32,
    problems: &mut Vec<String>,
) -> Result<BTreeMap<u32, Option<u32>>> {
    let sql = "SELECT id, name, title, began, active, closed, messages, turns FROM conversation \
               WHERE tenant = $1 AND scope = $2 ORDER BY id";
    let mut conversations = BTreeMap::new();
    for mut row in tx.query::<Row>(sql, scope).await? {
        let id: Value = row.read()?;
        let name = format!("conversation {scope}.{}", shown(&id));
        let Some(id) = number(&id) else {
            problems.push(out_of_range(
                "conversation",
                &format!("{scope}.{}", shown(&id)),
            ));
            continue;
        };
        let mut cells = Cells::new(row, name, problems);
        cells.read::<Option<String>>("name");
        cells.read::<Option<String>>("title");
        cells.read::<Timestamp>("began");
        cells.read::<Timestamp>("active");
        cells.read::<Option<Timestamp>>("closed");
        conversations.insert(id, cells.read("messages"));
        cells.read::<u32>("turns");
    }
    check_kept(tx, scope, problems).await?;
    Ok(conversations)
}

/// Finds conversations whose count of messages that people may see is wrong.
async fn check_kept(tx: &mut Tx<'_>, scope: u32, problems: &mut Vec<String>) -> Result<()> {
    let sql = "SELECT id, kept, visible FROM (SELECT id, kept, (SELECT count(*) FROM message \
               WHERE message.tenant = $1 AND message.scope = $2 \
               AND message.conversation = conversation.id AND internal = 0) AS visible \
               FROM conversation WHERE tenant = $1 AND scope = $2) AS counted \
               WHERE kept IS NOT NULL AND kept <> visible ORDER BY id";
    for (id, kept, visible) in tx.query::<(Value, Value, Value)>(sql, scope).await? {
        problems.push(format!(
            "conversation {scope}.{} counts {} messages that people may see and has {}",
            shown(&id),
            shown(&kept),
            shown(&visible)
        ));
    }
    Ok(())
}

/// The messages of a scope, with the rows to compare them with.
struct Messages {
    scope: u32,
    conversations: BTreeMap<u32, Option<u32>>,
    /// The number of messages that the scope has ever had, if it can be read.
    arrivals: Option<u32>,
    indexed: Option<Indexed>,
}

impl Messages {
    async fn check(mut self, tx: &mut Tx<'_>, problems: &mut Vec<String>) -> Result<()> {
        let sql = format!(
            "SELECT arrival, {} FROM message WHERE tenant = $1 AND scope = $2 AND arrival > $3 \
             ORDER BY arrival LIMIT $4",
            history::COLUMNS
        );
        // One analyser for all messages: a word that comes again is not analysed again.
        let mut analyser = Analyser::new();
        let mut after = Value::Int(i64::MIN);
        loop {
            let rows = tx
                .query::<Row>(&sql, (self.scope, after.clone(), PAGE))
                .await?;
            if rows.is_empty() {
                break;
            }
            for mut row in rows {
                after = row.read()?;
                let stored: StoredMessage = match row.read() {
                    Ok(stored) => stored,
                    Err(error) => {
                        problems.push(error.to_string());
                        continue;
                    }
                };
                problems.extend(self.wrong_number(&stored, &after));
                if let (Some(indexed), Some(arrival)) = (&mut self.indexed, number(&after))
                    && stored.recallable
                {
                    indexed.add(tx, arrival, &stored, &mut analyser).await?;
                }
            }
        }
        match self.indexed {
            Some(indexed) => indexed.finish(tx, problems).await,
            None => Ok(()),
        }
    }

    /// The problems with a message's numbers.
    fn wrong_number(&self, stored: &StoredMessage, arrival: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        let id = stored.id;
        match (number(arrival), self.arrivals) {
            (None, _) => {
                let arrival = shown(arrival);
                problems.push(format!(
                    "message {id} has arrival {arrival}, which is out of range"
                ));
            }
            (Some(arrival), Some(arrivals)) if arrival > arrivals => {
                problems.push(format!("message {id} has a number that was never given"));
            }
            _ => {}
        }
        match self.conversations.get(&id.conversation.number) {
            Some(Some(messages)) if id.seq > *messages => {
                problems.push(format!("message {id} is not counted in its conversation"));
            }
            Some(_) => {}
            None => problems.push(format!("message {id} has no conversation")),
        }
        problems
    }
}

/// The expected index and totals of a scope, after the messages read so far.
struct Indexed {
    scope: Scope,
    counted: Scope,
    comparison: Comparison,
}

impl Indexed {
    async fn begin(
        tx: &mut Tx<'_>,
        scope: Scope,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>> {
        let comparison = match Comparison::begin(tx, &scope).await {
            Ok(comparison) => comparison,
            Err(error) => {
                let what = format!("the index of scope {}", scope.id);
                problems.push(unreadable(error, &what)?);
                return Ok(None);
            }
        };
        let mut counted = scope.clone();
        (counted.passages, counted.words) = (0, 0);
        Ok(Some(Self {
            scope,
            counted,
            comparison,
        }))
    }

    async fn add(
        &mut self,
        tx: &mut Tx<'_>,
        arrival: u32,
        stored: &StoredMessage,
        analyser: &mut Analyser,
    ) -> Result<()> {
        let analysis = analyser.analyse(&stored.text());
        self.counted.add(Share::of(&analysis));
        let terms = index::encode_terms(&analysis.passages);
        self.comparison.add(tx, arrival, stored, &terms).await
    }

    async fn finish(self, tx: &mut Tx<'_>, problems: &mut Vec<String>) -> Result<()> {
        let totals = |scope: &Scope| (scope.passages, scope.words);
        if totals(&self.counted) != totals(&self.scope) {
            let id = self.scope.id;
            problems.push(format!(
                "the totals of scope {id} are not those of its messages"
            ));
        }
        problems.extend(self.comparison.finish(tx).await?);
        Ok(())
    }
}

/// The cells of a row, read in order and by name.
struct Cells<'p> {
    row: Row,
    of: String,
    problems: &'p mut Vec<String>,
}

impl<'p> Cells<'p> {
    fn new(row: Row, of: String, problems: &'p mut Vec<String>) -> Self {
        Self { row, of, problems }
    }

    /// Reads the next cell. One that the schema does not allow is noted as a problem.
    fn read<T: Cell>(&mut self, column: &str) -> Option<T> {
        let cell = self.row.cell();
        if let Err(wrong) = &cell {
            let (of, expected) = (&self.of, wrong.expected);
            self.problems
                .push(format!("`{column}` of {of} is not {expected}"));
        }
        cell.ok()
    }
}
