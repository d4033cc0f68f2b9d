//! The form of a comment on one line, also for files whose structure cannot be read.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Language;

/// The signs before and after the text of a comment on one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comment {
    /// The sign that opens it, with the blank before the text.
    pub before: &'static str,
    /// The sign that closes it; mostly nothing.
    pub after: &'static str,
}

impl Comment {
    /// The comments of a file by its path and its first line; none if neither tells, or if such
    /// files have no comments.
    ///
    /// ```
    /// use kitbag_workspace::language::Comment;
    ///
    /// assert_eq!(Comment::of("schema.sql", "").map(|comment| comment.before), Some("-- "));
    /// assert_eq!(Comment::of("package.json", ""), None);
    /// ```
    #[must_use]
    pub fn of(path: &str, first_line: &str) -> Option<Self> {
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = file.split('.').next().unwrap_or(file);
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        let known = |name: &str| COMMENTS.get(name).copied();
        Language::of(path, first_line)
            .map(Language::comment)
            .or_else(|| known(file))
            // `Makefile.am` is read as a makefile.
            .or_else(|| known(&format!("{stem}.*")))
            .or_else(|| known(&format!("*.{}", extension.to_ascii_lowercase())))
            .or_else(|| first_line.starts_with("#!").then_some(Self::HASH))
    }

    pub(super) const HASH: Self = Self::line("# ");
    pub(super) const SLASHES: Self = Self::line("// ");
    pub(super) const DASHES: Self = Self::line("-- ");
    pub(super) const MARKUP: Self = Self::block("<!-- ", " -->");

    const fn line(before: &'static str) -> Self {
        Self::block(before, "")
    }

    const fn block(before: &'static str, after: &'static str) -> Self {
        Self { before, after }
    }
}

/// By file name, by its beginning (`Makefile.*`) and by extension. Each line of the file shows such a
/// comment, and names files that have it.
static COMMENTS: LazyLock<HashMap<&str, Comment>> = LazyLock::new(|| {
    let lines = include_str!("comments.txt").lines();
    let row = |line: &'static str| {
        let (comment, files) = line.split_once(": ")?;
        let (before, after) = comment.split_once("...")?;
        Some(
            files
                .split(' ')
                .map(move |file| (file, Comment::block(before, after))),
        )
    };
    lines.filter_map(row).flatten().collect()
});

#[cfg(test)]
mod tests {
    use super::Comment;

    #[test]
    fn names_extensions_and_shebangs_tell() {
        let shown = |path: &str| {
            let comment = Comment::of(path, "").unwrap_or_default();
            format!("{}...{}", comment.before, comment.after)
        };
        assert_eq!(shown("a/b.YAML"), "# ...");
        assert_eq!(shown("Makefile"), "# ...");
        assert_eq!(shown("deploy/Dockerfile.dev"), "# ...");
        assert_eq!(shown("CMakeLists.txt"), "# ...");
        assert_eq!(shown("app/main.dart"), "// ...");
        assert_eq!(shown("site.css"), "/* ... */");
        assert_eq!(shown("Main.hs"), "-- ...");
        assert_eq!(shown("core.clj"), "; ...");
        assert_eq!(shown("App.vue"), "<!-- ... -->");
        assert_eq!(shown("a.rs"), "// ...");
        assert_eq!(shown("notes.txt"), "...");
        assert_eq!(shown("data.json"), "...");
        assert_eq!(Comment::of("run", "#!/usr/bin/perl"), Some(Comment::HASH));
        assert_eq!(Comment::of("run", ""), None);
    }
}
