//! Notes for the reader of a prompt: paths that stand for others, twins, a task that says too little.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level};

/// More of them are not read.
const MOST: usize = 6;

/// The chunk of some notes; none where there is nothing to tell.
pub(super) fn chunk(notes: &[String]) -> Option<ContextChunk> {
    if notes.is_empty() {
        return None;
    }
    let lines = notes.iter().take(MOST).map(|note| format!("- {note}\n"));
    let kind = ChunkType::Other("notes".into());
    let mut chunk =
        ContextChunk::new(kind, "notes on this context", "").with_priority(ContextPriority::High);
    chunk.levels = vec![Level::new(Detail::Full, lines.collect::<String>())];
    Some(chunk)
}
