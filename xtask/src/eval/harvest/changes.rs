//! Reads a diff: the files that a commit changes, and the lines of them in its parent.

use anyhow::Result;
use regex::Regex;

/// Folders and files that hold no source of the project, matched against the path in lower case.
const NOT_OWN: &str = concat!(
    r"(^|/)(docs?|documentation|examples?|samples?|demos?|bench(es|marks?)?|website|site|vendor(ed)?",
    r"|third[_-]party|node_modules|dist|fuzz|deps)(/|$)|\.d\.[cm]?ts$|\.min\.js$",
);

/// A file of a commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedFile {
    pub(super) path: String,
    /// The lines that the commit takes away, first and last, counted from 1; of an insertion the line
    /// before it.
    pub(super) spans: Vec<(usize, usize)>,
    /// True if the commit changes it, and neither makes nor removes it.
    pub(super) is_in_parent: bool,
}

/// Reads diffs, and tells the project's own files.
pub(super) struct Changes {
    hunk: Regex,
    not_own: Regex,
}

impl Changes {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            hunk: Regex::new(r"^@@ -(\d+)(?:,(\d+))? \+")?,
            not_own: Regex::new(NOT_OWN)?,
        })
    }

    /// False for documents, examples and the code of others.
    pub(super) fn is_own(&self, path: &str) -> bool {
        !self.not_own.is_match(&path.to_lowercase())
    }

    /// The files of a diff without context.
    pub(super) fn read(&self, diff: &str) -> Vec<ChangedFile> {
        let mut files: Vec<ChangedFile> = Vec::new();
        let mut in_header = false;
        for line in diff.lines() {
            if line.starts_with("diff --git ") {
                let path = line.rsplit_once(" b/").map_or("", |(_, path)| path);
                files.push(ChangedFile {
                    path: path.to_owned(),
                    spans: Vec::new(),
                    is_in_parent: true,
                });
                in_header = true;
                continue;
            }
            let Some(file) = files.last_mut() else {
                continue;
            };
            let is_other = ["new file", "deleted file", "Binary files"];
            if in_header && is_other.iter().any(|start| line.starts_with(start)) {
                file.is_in_parent = false;
            }
            // A line of the text has a sign before it, so that none looks like this.
            if let Some(span) = self.span(line) {
                in_header = false;
                file.spans.push(span);
            }
        }
        files
    }

    fn span(&self, line: &str) -> Option<(usize, usize)> {
        let hunk = self.hunk.captures(line)?;
        let number = |group: usize| hunk.get(group)?.as_str().parse::<usize>().ok();
        let (first, count) = (number(1)?.max(1), number(2).unwrap_or(1));
        Some((first, first + count.max(1) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_tells_the_lines_of_the_parent() {
        let diff = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
            @@ -3,2 +3 @@ fn a()\n-one\n-two\n+new file\n@@ -0,0 +9,2 @@\n+x\n+y\n@@ -20 +22,0 @@\n-z\n\
            diff --git a/b.rs b/b.rs\nnew file mode 100644\n--- /dev/null\n+++ b/b.rs\n@@ -0,0 +1 @@\n+x\n";
        let changed = |path: &str, spans: &[(usize, usize)], is_in_parent| ChangedFile {
            path: path.to_owned(),
            spans: spans.to_vec(),
            is_in_parent,
        };
        assert_eq!(
            Changes::new().unwrap().read(diff),
            [
                changed("src/a.rs", &[(3, 4), (1, 1), (20, 20)], true),
                changed("b.rs", &[(1, 1)], false),
            ]
        );
    }

    #[test]
    fn the_code_of_others_is_not_own() {
        let changes = Changes::new().unwrap();
        assert!(changes.is_own("src/docs.rs") && changes.is_own("lib/Site.php"));
        for path in [
            "docs/a.py",
            "a/vendor/b.go",
            "types/index.d.ts",
            "Examples/a.c",
        ] {
            assert!(!changes.is_own(path), "{path}");
        }
    }
}
