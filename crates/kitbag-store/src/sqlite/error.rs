//! Translates SQLite's errors.

use rusqlite::ErrorCode;

use super::open::PATIENCE;
use crate::error::StoreError;

/// The failure of a statement.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands in `map_err` everywhere"
)]
pub(crate) fn failed(error: rusqlite::Error) -> StoreError {
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked {
            seconds: PATIENCE.as_secs(),
        },
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied,
        ) => StoreError::Write { reason },
        // A text beyond SQLite's limit is the caller's mistake and no failure of the store.
        Some(ErrorCode::TooBig) => StoreError::invalid("a text", format!("is too long: {reason}")),
        _ if is_not_a_store(&error) => StoreError::DamagedFile { reason },
        _ => StoreError::Failed { reason },
    }
}

/// Returns true when the file itself is the problem.
pub(super) fn is_not_a_store(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
