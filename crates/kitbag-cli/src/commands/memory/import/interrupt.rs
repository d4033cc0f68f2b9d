//! A signal during an import: the batch under way is finished, and the result is reported.

use std::process;
use std::sync::Arc;
use std::thread;

use tokio::sync::Mutex;

use super::keep::{ImportCounts, Unit};
use crate::interrupt::interrupted;
use crate::output;

const AGAIN: &str = "import it again for the rest: messages with a `ref` are not kept twice";

/// Ends the program when it is interrupted, and reports the messages that are kept. It runs on a thread of
/// its own, since the one that imports may be waiting for input.
pub(super) fn watch(kept: &Arc<Mutex<ImportCounts>>, unit: Unit) {
    let kept = Arc::clone(kept);
    let watch = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        // Without a runtime, a signal simply ends the program.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let interrupt = interrupted().await;
            // The lock is held while a batch is kept, so waiting for it waits for the batch. A single
            // transaction for all is rolled back by ending the program.
            let kept = match unit {
                Unit::All => kept.try_lock().ok(),
                Unit::Batch => Some(kept.lock().await),
            };
            let (told, hint) = match &kept {
                Some(kept) if unit == Unit::Batch => (kept.in_words(""), Some(AGAIN)),
                _ => ("nothing was imported".to_owned(), None),
            };
            output::say_error(&format!("interrupted; {told}"), hint);
            process::exit(interrupt.exit_code().into());
        });
    };
    // It ends with the program.
    drop(thread::Builder::new().name("interrupt".into()).spawn(watch));
}
