//! The texts of a workspace that stays in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::Workspace;
use super::occurrences::{Identifiers, MatchingIdentifiers, Occurrences};
use crate::matcher::Matcher;
use crate::parsed::Parsed;
use crate::walk::Skipped;

/// A file as a scan reads it: its bytes, or why it is left out.
pub(crate) type Scannable = Result<Arc<[u8]>, Skipped>;

/// The most bytes that are kept: a larger tree is read again, in part.
const MOST: u64 = 128 << 20;

/// The texts that were read, in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<KeptText>,
    bytes: AtomicU64,
    /// Those of earlier workspaces as well.
    identifiers: Arc<RwLock<Identifiers>>,
}

#[derive(Debug, Default)]
struct KeptText {
    text: OnceLock<Scannable>,
    occurrences: OnceLock<Occurrences>,
    parsed: OnceLock<Arc<Parsed>>,
    /// The same divided at blank lines, where parsing would take too long.
    windows: OnceLock<Arc<Parsed>>,
}

impl Texts {
    /// The same for so many files.
    pub(super) fn of(mut self, files: usize) -> Self {
        self.texts.resize_with(files, KeptText::default);
        self
    }

    /// The texts of files that both workspaces have and that `is_same` holds for.
    pub(crate) fn taken_over(
        before: &Workspace,
        now: &Workspace,
        is_same: impl Fn(&str) -> bool,
    ) -> Self {
        let mut taken = Self::default().of(now.files.len());
        let Some(known) = &before.texts else {
            return taken;
        };
        // Counts refer to identifiers by number, so the numbers have to stay the same.
        taken.identifiers = Arc::clone(&known.identifiers);
        for (file, place) in now.files.iter().zip(&mut taken.texts) {
            // Both lists are sorted by path, but files may have come and gone.
            let index = before
                .files
                .binary_search_by(|other| other.path.cmp(&file.path));
            let kept = index.ok().and_then(|index| known.texts.get(index));
            let Some(kept) = kept.filter(|_| is_same(&file.path)) else {
                continue;
            };
            if let Some(Ok(text)) = kept.text.get() {
                *taken.bytes.get_mut() += text.len() as u64;
            }
            *place = KeptText {
                text: kept.text.clone(),
                occurrences: kept.occurrences.clone(),
                parsed: kept.parsed.clone(),
                windows: kept.windows.clone(),
            };
        }
        taken
    }

    /// A text that is kept.
    pub(crate) fn get(&self, file: usize) -> Option<&Scannable> {
        self.texts.get(file)?.text.get()
    }

    /// The identifiers of a file with their counts, where those were counted.
    pub(crate) fn occurrences(&self, file: usize) -> Option<&Occurrences> {
        self.texts.get(file)?.occurrences.get()
    }

    /// The structure of a text, which is parsed once if the text is kept.
    pub(crate) fn parsed(&self, file: usize, parse: impl FnOnce() -> Parsed) -> Arc<Parsed> {
        match self.kept(file) {
            Some(kept) => Arc::clone(kept.parsed.get_or_init(|| Arc::new(parse()))),
            None => Arc::new(parse()),
        }
    }

    /// A text divided at its blank lines, once if it is kept.
    pub(crate) fn windows(&self, file: usize, text: &str) -> Arc<Parsed> {
        let divide = || Arc::new(Parsed::windows(text));
        match self.kept(file) {
            Some(kept) => Arc::clone(kept.windows.get_or_init(divide)),
            None => divide(),
        }
    }

    fn kept(&self, file: usize) -> Option<&KeptText> {
        let kept = self.texts.get(file)?;
        matches!(kept.text.get(), Some(Ok(_))).then_some(kept)
    }

    /// Counts the identifiers of a text that is kept.
    pub(crate) fn count_identifiers(&self, file: usize) {
        let identifiers = self.identifiers.write();
        let mut identifiers = identifiers.unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = self.texts.get(file)
            && let Some(Ok(text)) = kept.text.get()
            && let Some(counted) = identifiers.count(text)
        {
            // Whoever was first has counted the same.
            let _ = kept.occurrences.set(counted);
        }
    }

    /// The identifiers that have terms of a query.
    pub(crate) fn search(&self, matcher: &Matcher) -> MatchingIdentifiers {
        let identifiers = self.identifiers.read();
        let identifiers = identifiers.unwrap_or_else(PoisonError::into_inner);
        identifiers.search(matcher)
    }

    /// The bytes of all texts that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Keeps a text where there is room for it.
    pub(crate) fn keep(&self, file: usize, text: impl FnOnce() -> Scannable, size: usize) {
        let size = size as u64;
        let Some(place) = self.texts.get(file) else {
            return;
        };
        // Added first and taken back if it is too much: threads that keep texts at once cannot pass
        // the limit together.
        if self.bytes.fetch_add(size, Ordering::Relaxed) + size > MOST {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            return;
        }
        // Whoever was first has kept the same.
        let _ = place.text.set(text());
    }
}
