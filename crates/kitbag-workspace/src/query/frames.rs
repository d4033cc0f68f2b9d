//! Places in files that a task points at: `src/a.rs:12`, and the frames of stack traces.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The path as the task has it, with `/` between its parts; it may begin anywhere.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
}

/// The frames of a task, each once.
pub(super) fn frames(task: &str) -> Vec<Frame> {
    let found: BTreeSet<Frame> = FRAME
        .captures_iter(task)
        .filter_map(|frame| {
            // Each way to write a frame has two groups.
            let mut groups = frame.iter().skip(1).flatten();
            let (path, line) = (groups.next()?.as_str(), groups.next()?.as_str());
            let path = path.replace('\\', "/");
            Some(Frame {
                path: path.trim_start_matches("./").to_owned(),
                line: line.parse().ok().filter(|&line| line > 0)?,
            })
        })
        .collect();
    found.into_iter().take(200).collect()
}

/// Python's `File "a.py", line 3`; `a.js:3:14`, `a.rs:3`, `(A.java:3)`, `a.php(3)`, `a.php on line
/// 3`, `a.cs:line 3`.
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        File\s"([^"\n]+)",\sline\s(\d{1,7})
        | ((?:[A-Za-z]:)?[\w./\\@+~-]*[\w-]\.[A-Za-z][\w]{0,5})
          (?: : (?:line\s)? | \( | \son\sline\s | ,\s+line\s | \#L )
          (\d{1,7})\b
        | ([\w./-]+\.[A-Za-z][\w]{0,5}) "? ,? \s line:? \s (\d{1,7})
        "#,
    )
});
