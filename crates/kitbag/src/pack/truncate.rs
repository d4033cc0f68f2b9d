//! Shorter levels for code that came with one level alone.

use kitbag_core::chunk::{ContextChunk, Detail};
use kitbag_workspace::language::Language;
use kitbag_workspace::levels;

/// Gives a chunk of code that has only its whole text the levels of a file: parts of it and its
/// outline. Without them a chunk that is too long is left out. The language is that of the metadata,
/// or the source tells it; other chunks stay as they are.
pub fn truncatable(chunk: &mut ContextChunk) {
    let [whole] = chunk.levels.as_slice() else {
        return;
    };
    let named = chunk.language().and_then(|name| {
        let mut known = Language::NAMES.into_iter();
        known.find(|(_, known)| known.eq_ignore_ascii_case(name))
    });
    let named = named.map(|(language, _)| language);
    let language = named.or_else(|| Language::of_text(&chunk.source, &whole.content));
    let Some(language) = language.filter(|_| whole.level == Detail::Full) else {
        return;
    };
    let mut levels = levels::of_code(language, &chunk.source, &whole.content);
    // The caller's own level stands for the whole.
    levels.retain(|level| level.level != Detail::Full);
    chunk.levels.extend(levels);
}
