//! What a caller may ask of a walk.

/// Narrows and widens a walk. The default lists everything that is worth reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkOptions<'a> {
    /// Only files that match one of these are listed; empty means all.
    ///
    /// The patterns are those of `.gitignore`, so `src` takes the folder and `*.rs` files at any
    /// depth; braces list alternatives. A pattern that itself names something usually skipped, such
    /// as `*.min.js`, `Cargo.lock` or `vendor/lib`, lifts that skip. None lifts an ignore file.
    pub include: Vec<String>,
    /// Files and folders that match one of these are left out, with the same patterns.
    pub exclude: Vec<String>,
    /// Paths below the root that are wanted whatever the rules say.
    pub named: Vec<String>,
    /// The paths below the root that git tracks, where git was asked.
    pub tracked: Option<&'a [String]>,
}

impl<'a> WalkOptions<'a> {
    /// Lists only what matches one of `patterns`.
    #[must_use]
    pub fn with_include(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.include = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Leaves out what matches one of `patterns`.
    #[must_use]
    pub fn with_exclude(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.exclude = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Lists these paths whatever the rules say.
    #[must_use]
    pub fn with_named(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named = paths.into_iter().map(Into::into).collect();
        self
    }

    /// Says which paths git tracks: no `.gitignore` leaves them out.
    #[must_use]
    pub fn with_tracked(mut self, paths: &'a [String]) -> Self {
        self.tracked = Some(paths);
        self
    }
}
