//! The stages of a turn as they end, with their times.

use std::fmt::Display;
use std::time::{Duration, Instant};

use kitbag_core::record::{InferenceRecord, StageRecord, TurnRecord};

use crate::extension::ExtensionHost;

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
        self.add(stage, result, now.duration_since(self.begun));
        self.begun = now;
    }

    /// Adds a stage that ran at the same time as the one that has not ended yet.
    pub(super) fn add(&mut self, stage: &'static str, result: impl Display, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(event = "stage", stage, %result, micros);
        let result = result.to_string();
        self.ended.push(StageRecord::new(stage, result, micros));
    }

    /// Adds what extensions have done since this was last asked for.
    pub(super) fn tell_extensions(&mut self, host: &mut ExtensionHost) {
        for told in std::mem::take(&mut host.told) {
            self.add("extension", told.result, told.time);
        }
    }

    pub(super) fn into_record(self, inferences: Vec<InferenceRecord>) -> TurnRecord {
        let mut record = TurnRecord::default();
        record.stages = self.ended;
        record.inferences = inferences;
        record
    }
}
