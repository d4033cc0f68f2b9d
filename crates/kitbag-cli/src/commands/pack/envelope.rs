//! Reads a `TaskEnvelope` from JSON.

use std::path::Path;

use kitbag::core::envelope::TaskEnvelope;

use crate::failure::Failure;
use crate::input;

/// Reads the envelope in a file; `-` is stdin.
pub(crate) fn read(file: &Path) -> Result<TaskEnvelope, Failure> {
    let (name, text) = input::read_data(file, "the envelope")?;
    let mut json = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        Failure::new(format_args!("{name} is not a task envelope: {error}")).hint(
            "it needs `task_type`, `user_request`, `original_input`, `session_id` and `created_at`",
        )
    })
}
