//! Ctrl-C during an import: what is being kept is kept to its end, and told.

use std::process;
use std::sync::Arc;
use std::thread;

use tokio::sync::Mutex;

use super::keep::{Kept, Unit};
use crate::interrupt::{EXIT_CODE, interrupted};
use crate::output;

const AGAIN: &str = "import it again for the rest: messages with a `ref` are not kept twice";

/// Ends the program when it is interrupted, and tells what is kept. A thread of its own, since the one
/// that imports may be waiting for input.
pub(super) fn watch(kept: &Arc<Mutex<Kept>>, unit: Unit) {
    let kept = Arc::clone(kept);
    let watch = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        // Without it the program ends as any other does.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            interrupted().await;
            // Whoever keeps a batch holds it. All at once are undone by ending the program.
            let kept = match unit {
                Unit::All => kept.try_lock().ok(),
                Unit::Batch => Some(kept.lock().await),
            };
            let (told, hint) = match &kept {
                Some(kept) if unit == Unit::Batch => (kept.told(""), Some(AGAIN)),
                _ => ("nothing was imported".to_owned(), None),
            };
            output::say_error(&format!("interrupted; {told}"), hint);
            process::exit(EXIT_CODE.into());
        });
    };
    // It ends with the program.
    drop(thread::Builder::new().name("interrupt".into()).spawn(watch));
}
