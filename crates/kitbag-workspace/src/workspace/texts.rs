//! The texts of a workspace that stays in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::Workspace;
use crate::walk::Skipped;

/// A file as a scan reads it: its bytes, or why it is left out.
pub(crate) type Scannable = Result<Arc<[u8]>, Skipped>;

/// The most bytes that are kept: a larger tree is read again, in part.
const MOST: u64 = 128 << 20;

/// The texts that were read, in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<OnceLock<Scannable>>,
    bytes: AtomicU64,
}

impl Texts {
    /// The same for so many files.
    pub(super) fn of(mut self, files: usize) -> Self {
        self.texts.resize_with(files, OnceLock::new);
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
        for (file, place) in now.files.iter().zip(&mut taken.texts) {
            let index = before
                .files
                .binary_search_by(|other| other.path.cmp(&file.path));
            let text = index.ok().and_then(|index| known.get(index));
            if let Some(text) = text.filter(|_| is_same(&file.path)) {
                *taken.bytes.get_mut() += text.as_ref().map_or(0, |text| text.len() as u64);
                *place = OnceLock::from(text.clone());
            }
        }
        taken
    }

    /// A text that is kept.
    pub(crate) fn get(&self, file: usize) -> Option<&Scannable> {
        self.texts.get(file)?.get()
    }

    /// Keeps a text where there is room for it.
    pub(crate) fn keep(&self, file: usize, text: impl FnOnce() -> Scannable, size: usize) {
        let size = size as u64;
        let Some(place) = self.texts.get(file) else {
            return;
        };
        if self.bytes.fetch_add(size, Ordering::Relaxed) + size > MOST {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            return;
        }
        // Whoever was first has kept the same.
        let _ = place.set(text());
    }
}
