//! The counter of an engine, and its recalibration by what the model's provider billed.

use std::sync::Arc;

#[cfg(feature = "store")]
use kitbag_core::problem::Problem;
use kitbag_core::tokens::TokenCounter;
#[cfg(feature = "store")]
use kitbag_store::StoreError;

#[cfg(feature = "store")]
use super::Engine;
#[cfg(feature = "store")]
use crate::engine::{Contribution, TurnRequest};
use crate::tokens::Counter;

/// Counts tokens.
#[derive(Clone)]
pub(crate) enum EngineCounter {
    /// The counter of the model in the catalogue, which bills may correct.
    OfModel(Counter),
    /// A counter of the calling program, which is never corrected.
    Given(Arc<dyn TokenCounter>),
}

impl EngineCounter {
    pub(super) fn usual(&self) -> &dyn TokenCounter {
        match self {
            Self::OfModel(counter) => counter,
            Self::Given(counter) => counter.as_ref(),
        }
    }

    pub(super) fn shared(&self) -> Arc<dyn TokenCounter> {
        match self {
            Self::OfModel(counter) => Arc::new(counter.clone()),
            Self::Given(counter) => Arc::clone(counter),
        }
    }
}

#[cfg(feature = "store")]
impl Engine {
    /// The counter of the next prompt: the model's own, or its estimate with the factor that the bills
    /// of its latest answers have shown.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn calibrated_counter(&self) -> Result<Arc<dyn TokenCounter>, StoreError> {
        let (EngineCounter::OfModel(counter), Some(store), Some(model)) =
            (&self.counter, &self.store, &self.model)
        else {
            return Ok(self.counter.shared());
        };
        let Some(calibration) = store.calibration(model).await? else {
            return Ok(self.counter.shared());
        };
        let calibrated = counter.calibrated(&calibration);
        tracing::debug!(
            event = "counter_calibrated",
            model,
            tokenizer = calibrated.name(),
            answers = calibration.answers,
            difference_permille = calibration.lasting_difference(),
        );
        Ok(Arc::new(calibrated))
    }

    /// The counter before anything is known of the model's bills.
    #[cfg(feature = "providers")]
    pub(crate) fn counter_of_model(&self) -> Arc<dyn TokenCounter> {
        self.counter.shared()
    }

    /// The same for a turn, which continues with the usual factor if the store fails.
    pub(super) async fn counter_of(&self, request: &mut TurnRequest) -> Arc<dyn TokenCounter> {
        match self.calibrated_counter().await {
            Ok(counter) => counter,
            Err(error) => {
                let mut told = Contribution::default();
                told.problems.push(Problem::failed("calibration", error));
                request.contributions.push(told);
                self.counter.shared()
            }
        }
    }
}
