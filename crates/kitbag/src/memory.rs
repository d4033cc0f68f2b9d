//! Import of conversations into memory: reading the files.
//!
//! [`read_import`] turns a file of JSON lines, or the export of a chat service, into [`ImportLine`]s.
//! Nothing is stored or searched here.

mod export;
mod export_chatgpt;
mod export_claude;
mod import;

#[cfg(feature = "store")]
pub(crate) use export::REMEMBERED_BY;
pub use import::{
    Fate, Import, ImportDefaults, ImportError, ImportFormat, ImportLine, ImportTally,
    MAX_RECORD_BYTES, Place, RecordKind, UnknownImportFormat, read_import,
};
