//! The stages of a turn as they end, with their times.

use std::fmt::Display;
use std::time::Instant;

use kitbag_core::record::{InferenceRecord, StageRecord, TurnRecord};

/// Times the stages of a turn: each begins where the one before it ended.
pub(crate) struct Stages {
    ended: Vec<StageRecord>,
    begun: Instant,
}

impl Stages {
    pub(crate) fn begin() -> Self {
        Self {
            ended: Vec::new(),
            begun: Instant::now(),
        }
    }

    pub(crate) fn end(&mut self, stage: &'static str, result: impl Display) {
        let now = Instant::now();
        let micros = now.duration_since(self.begun).as_micros();
        let micros = u64::try_from(micros).unwrap_or(u64::MAX);
        tracing::debug!(event = "stage", stage, %result, micros);
        let result = result.to_string();
        self.ended.push(StageRecord::new(stage, result, micros));
        self.begun = now;
    }

    pub(super) fn into_record(self, inferences: Vec<InferenceRecord>) -> TurnRecord {
        let mut record = TurnRecord::default();
        record.stages = self.ended;
        record.inferences = inferences;
        record
    }
}
