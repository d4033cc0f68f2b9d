//! Waits between attempts, longer each time, so that a fleet does not knock all at once.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::{Result, StoreError};

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);

/// Attempts within a time, which begins with the first failure: a backup may have run for long before it.
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

    /// Waits before the next attempt; gives the error back once the time is over.
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

/// Between half of the pause and all of it. Without randomness it is all of it.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [u8::MAX];
    let share = match getrandom::fill(&mut byte) {
        Ok(()) => u32::from(byte[0]),
        Err(_) => u32::from(u8::MAX),
    };
    pause / 2 + pause * share / (2 * u32::from(u8::MAX))
}
