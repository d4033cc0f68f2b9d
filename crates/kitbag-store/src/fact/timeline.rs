//! The values that a key has had, in the order in which they were stated, and the period for which
//! each holds.
//!
//! Messages arrive in any order and may be forgotten, so the ends of values are computed from the
//! values that exist. A told value holds everywhere until another one is told. A drawn value holds
//! on the channel of its message until another one is drawn there or any value is told. The told
//! value stays meanwhile; where both are visible the drawn one is the later of the two
//! ([`current`](super::current)). A retraction is a drawn value too, and counts where the value
//! that it takes back holds. Unsetting a fact ends all of its values. A repeated value ends at
//! once: the first statement of it holds, and the others stand by in case its message is forgotten.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Fact, NewFact};
use crate::error::Result;
use crate::id::MessageId;
use crate::transaction::Tx;
use crate::value::Value;

/// All values of a key, and the times when it was unset.
pub(crate) struct Timeline {
    sender: String,
    key: String,
    values: Vec<Fact>,
    unset: Vec<Timestamp>,
    /// The number of leading values that are stored already; the others were added.
    kept: usize,
}

impl Timeline {
    /// Reads the values of a key. The caller holds the [`lock`](super::lock).
    pub(crate) async fn read(tx: &mut Tx<'_>, sender: &str, key: &str) -> Result<Self> {
        let sql = format!(
            "SELECT {} FROM fact WHERE tenant = $1 AND sender = $2 AND key = $3 ORDER BY version",
            super::COLUMNS
        );
        let values: Vec<Fact> = tx.query(&sql, (sender, key)).await?;
        Ok(Self::of(sender, key, values))
    }

    fn of(sender: &str, key: &str, values: Vec<Fact>) -> Self {
        // An end that is no other value's beginning can only come from unsetting the key.
        let begins = |at: &Timestamp| values.iter().any(|value| value.since == *at);
        let ends = values.iter().filter_map(|value| value.until);
        let mut unset: Vec<Timestamp> = ends.filter(|at| !begins(at)).collect();
        unset.sort_unstable();
        Self {
            sender: sender.to_owned(),
            key: key.to_owned(),
            unset,
            kept: values.len(),
            values,
        }
    }

    /// The values, in the order in which they came.
    pub(crate) fn values(&self) -> &[Fact] {
        &self.values
    }

    /// Returns true if the latest value is this one and was told.
    pub(crate) fn is_told(&self, value: &str) -> bool {
        let holding = self.values.iter().filter(|one| one.until.is_none());
        let latest = holding.max_by_key(|one| (one.since, one.version));
        latest.is_some_and(|latest| !latest.drawn && latest.value == value)
    }

    /// Returns true if the value was told by the same message, or told already at that time.
    pub(crate) fn knows(&self, fact: &NewFact, at: Timestamp) -> bool {
        let held = |one: &Fact| one.since <= at && one.until.is_none_or(|until| until > at);
        let mut told = self.values.iter().filter(|one| !one.drawn);
        told.any(|one| {
            let is_same = one.source == fact.source || one.since == at || held(one);
            one.value == fact.value && is_same
        })
    }

    /// The time from which the latest value holds or held.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.values.iter().map(|value| value.since).max()
    }

    /// Returns true if a message has stated something about the key.
    pub(crate) fn has_source(&self, source: MessageId) -> bool {
        self.values.iter().any(|value| value.source == Some(source))
    }

    /// Adds a value that holds from `since`, until the next one stated after that.
    pub(crate) fn add(&mut self, fact: &NewFact, since: Timestamp) {
        let version = self.values.iter().map(|value| value.version).max();
        self.values.push(Fact {
            key: self.key.clone(),
            value: fact.value.clone(),
            version: version.unwrap_or(0).saturating_add(1),
            since,
            until: None,
            source: fact.source,
            drawn: fact.drawn,
            speaker: fact.speaker.clone(),
            is_retraction: fact.is_retraction,
        });
    }

    /// Writes the added values and the ends that have changed.
    pub(crate) async fn save(mut self, tx: &mut Tx<'_>) -> Result<()> {
        let before: Vec<Option<Timestamp>> = self.values.iter().map(|value| value.until).collect();
        self.settle();
        let sql = "UPDATE fact SET until = $2 \
                   WHERE tenant = $1 AND sender = $3 AND key = $4 AND version = $5";
        for (value, before) in self.values.iter().zip(before).take(self.kept) {
            if value.until != before {
                let of = (&self.sender, &self.key, value.version);
                tx.execute(sql, (value.until.map(Value::from), of)).await?;
            }
        }
        let sender = self.sender;
        let added = self.values.into_iter().skip(self.kept).map(|fact| {
            let source = |of: fn(MessageId) -> u32| fact.source.map(of);
            // The sum matches the column: a retraction is always drawn, so it becomes 2.
            let drawn = u32::from(fact.drawn) + u32::from(fact.is_retraction);
            (
                (sender.clone(), fact.key, fact.version),
                (
                    Value::Body(fact.value),
                    fact.since,
                    fact.until.map(Value::from),
                ),
                source(|id| id.conversation.scope),
                source(|id| id.conversation.number),
                source(|id| id.seq),
                (drawn, fact.speaker),
            )
        });
        tx.insert(
            "fact (tenant, sender, key, version, value, since, until, source_scope, \
             source_conversation, source_seq, drawn, speaker)",
            added,
        )
        .await
    }

    /// Settles and saves the values that remain after others were deleted from the store.
    pub(crate) async fn save_without(
        mut self,
        tx: &mut Tx<'_>,
        is_gone: impl Fn(&Fact) -> bool,
    ) -> Result<()> {
        self.values.retain(|value| !is_gone(value));
        self.kept = self.values.len();
        self.save(tx).await
    }

    /// Computes the end of each value.
    fn settle(&mut self) {
        let mut order: Vec<&mut Fact> = self.values.iter_mut().collect();
        // The version breaks ties between values of the same moment, in the order of their arrival.
        order.sort_by_key(|value| (value.since, value.version));
        let mut told: Option<&mut Fact> = None;
        let mut drawn: BTreeMap<u32, &mut Fact> = BTreeMap::new();
        for value in order {
            value.until = None;
            let now = value.since;
            let is_unset = |held: &mut &mut Fact| {
                held.until = first_unset(&self.unset, held.since).filter(|at| *at <= now);
                held.until.is_some()
            };
            told.take_if(is_unset);
            drawn.retain(|_, held| !is_unset(held));
            if !value.drawn {
                // Even if it is the same value: telling it confirms the drawn one.
                for (_, held) in std::mem::take(&mut drawn) {
                    held.until = Some(now);
                }
                match &mut told {
                    Some(held) if held.value == value.value => value.until = Some(now),
                    Some(held) => {
                        held.until = Some(now);
                        told = Some(value);
                    }
                    None => told = Some(value),
                }
                continue;
            }
            let scope = value.source.map_or(0, |source| source.conversation.scope);
            // A told value counts here too, unless a drawn one has replaced it on this channel.
            let held = drawn.get(&scope).or(told.as_ref());
            let held = held.filter(|held| !held.is_retraction);
            let counts = match value.is_retraction {
                true => held.is_some_and(|held| takes_back(value, held)),
                false => held.is_none_or(|held| held.value != value.value),
            };
            if !counts {
                // A repeated value, or a retraction of something that does not hold: it ends as it
                // begins.
                value.until = Some(now);
            } else if let Some(held) = drawn.insert(scope, value) {
                held.until = Some(now);
            }
        }
        // Whatever still holds at the end may have been unset later.
        for last in drawn.into_values().chain(told) {
            last.until = first_unset(&self.unset, last.since);
        }
    }
}

fn first_unset(unset: &[Timestamp], from: Timestamp) -> Option<Timestamp> {
    unset.iter().copied().find(|at| *at > from)
}

/// Returns true if a retraction is about a value.
fn takes_back(retraction: &Fact, held: &Fact) -> bool {
    let lower = |fact: &Fact| fact.value.to_lowercase();
    retraction.value == super::ANY_VALUE || lower(retraction) == lower(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// A timeline of values said at times, in the order of their arrival, as (value, since, until).
    fn settled(said: &[(&str, i64)], unset: &[i64]) -> Vec<(String, i64, Option<i64>)> {
        let mut timeline = Timeline::of("ann", "home", Vec::new());
        timeline.unset = unset.iter().map(|second| at(*second)).collect();
        for (value, second) in said {
            timeline.add(&NewFact::new("home", *value), at(*second));
        }
        timeline.settle();
        let row = |fact: Fact| {
            let until = fact.until.map(Timestamp::as_second);
            (fact.value, fact.since.as_second(), until)
        };
        let mut rows: Vec<_> = timeline.values.into_iter().map(row).collect();
        rows.sort_by_key(|row| row.1);
        rows
    }

    #[test]
    fn x12_values_hold_in_the_order_in_which_they_were_said() {
        let expected = [
            ("Porto".to_owned(), 1, Some(3)),
            ("Faro".to_owned(), 3, Some(5)),
            ("Lisbon".to_owned(), 5, None),
        ];
        let said = [("Porto", 1), ("Faro", 3), ("Lisbon", 5)];
        assert_eq!(settled(&said, &[]), expected);
        let arrived = [("Lisbon", 5), ("Porto", 1), ("Faro", 3)];
        assert_eq!(settled(&arrived, &[]), expected);
    }

    #[test]
    fn x12_a_value_said_again_stands_by() {
        let rows = settled(
            &[("Porto", 1), ("Porto", 2), ("Faro", 3), ("Porto", 4)],
            &[],
        );
        let ends: Vec<Option<i64>> = rows.iter().map(|row| row.2).collect();
        assert_eq!(ends, [Some(3), Some(2), Some(4), None]);
    }

    #[test]
    fn x12_an_unset_value_stays_unset_until_it_is_said_again() {
        let rows = settled(&[("Porto", 1)], &[2]);
        assert_eq!(rows[0].2, Some(2));
        let rows = settled(&[("Porto", 1), ("Porto", 3)], &[2]);
        assert_eq!((rows[0].2, rows[1].2), (Some(2), None));
    }
}
