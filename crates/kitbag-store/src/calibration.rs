//! Tokens as they were counted and as they were billed, by model. The correction is computed by the
//! core.

use kitbag_core::calibration::Calibration;
use kitbag_core::record::TurnRecord;

use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{FromRow, Row};

const OF_MODEL: &str = "SELECT tokenizer, answers, counted, billed, factor FROM calibration \
                        WHERE tenant = $1 AND model = $2";

impl Store {
    /// The bills of a model's latest answers against our counts, if there were any.
    ///
    /// # Errors
    /// When the row is damaged, or the store fails.
    pub async fn calibration(&self, model: &str) -> Result<Option<Calibration>> {
        let model = model.to_owned();
        self.read(async move |tx| of_row(tx.query_one(OF_MODEL, model.as_str()).await?))
            .await
    }
}

/// Adds the samples of a turn.
pub(crate) async fn learn(tx: &mut Tx<'_>, record: &TurnRecord) -> Result<()> {
    let samples = record.inferences.iter();
    let samples = samples.filter_map(|one| one.model.as_ref().zip(one.sample.as_ref()));
    let mut samples: Vec<_> = samples.collect();
    // In one order everywhere: two turns that asked the same models would otherwise lock them
    // crosswise.
    samples.sort_by_key(|(model, _)| *model);
    for (model, sample) in samples {
        // A model's first answer finds no row that it could lock, so a name is locked instead.
        tx.lock_exclusive(&format!("calibration/{model}")).await?;
        let row = tx.query_one(OF_MODEL, model.as_str()).await?;
        // A row that cannot be read is replaced: losing the answer over it would be worse.
        let known = of_row(row).unwrap_or_default();
        let mut calibration = known.unwrap_or_else(|| Calibration::new(sample));
        calibration.add(sample);
        let or = "ON CONFLICT (tenant, model) DO UPDATE SET tokenizer = excluded.tokenizer, \
                  answers = excluded.answers, counted = excluded.counted, \
                  billed = excluded.billed, factor = excluded.factor";
        // Sums are far below this; the column is signed because SQLite has no other integers.
        let number = |sum: u64| i64::try_from(sum).unwrap_or(i64::MAX);
        let row = (
            model,
            &calibration.tokenizer,
            calibration.answers,
            number(calibration.counted),
            number(calibration.billed),
            calibration.factor_permille,
        );
        let into = "calibration (tenant, model, tokenizer, answers, counted, billed, factor)";
        tx.insert_or(into, or, [row]).await?;
    }
    Ok(())
}

fn of_row(row: Option<Row>) -> Result<Option<Calibration>> {
    row.map(|mut row| row.read()).transpose()
}

impl FromRow for Calibration {
    fn from_row(row: &mut Row) -> Result<Self> {
        let mut calibration = Self::default();
        calibration.tokenizer = row.read()?;
        calibration.answers = row.read()?;
        calibration.counted = row.read()?;
        calibration.billed = row.read()?;
        calibration.factor_permille = row.read()?;
        match calibration.factor_permille {
            0 => Err(StoreError::damaged(
                "calibration",
                "its factor is 0".to_owned(),
            )),
            _ => Ok(calibration),
        }
    }
}
