//! Waits between attempts, longer each time and with jitter, so that a fleet does not come back all
//! at once.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::{Result, StoreError};

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);

/// Attempts within a period that begins with the first failure: a long operation, such as a backup,
/// may have run for longer than that before it.
pub(super) struct Retry {
    time: Duration,
    until: Option<Instant>,
    pause: Duration,
}

impl Retry {
    pub(super) const fn for_at_most(time: Duration) -> Self {
        Self {
            time,
            until: None,
            pause: FIRST,
        }
    }

    /// Waits before the next attempt, or returns the error once the period is over.
    pub(super) async fn wait_after(&mut self, error: StoreError) -> Result<()> {
        let now = Instant::now();
        let until = *self.until.get_or_insert(now + self.time);
        if now + self.pause > until {
            return Err(error);
        }
        sleep(jittered(self.pause)).await;
        self.pause = (self.pause * 2).min(LONGEST);
        Ok(())
    }
}

/// A random time between half of the pause and all of it; all of it if the system has no
/// randomness.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [u8::MAX];
    let share = match getrandom::fill(&mut byte) {
        Ok(()) => u32::from(byte[0]),
        Err(_) => u32::from(u8::MAX),
    };
    pause / 2 + pause * share / (2 * u32::from(u8::MAX))
}
