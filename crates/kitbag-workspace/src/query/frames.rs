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
            let path = frame
                .name("path")
                .or(frame.name("python"))
                .or(frame.name("swift"))?;
            let line = frame
                .name("line")
                .or(frame.name("python_line"))
                .or(frame.name("swift_line"))?;
            Some(Frame {
                path: path
                    .as_str()
                    .replace('\\', "/")
                    .trim_start_matches("./")
                    .to_owned(),
                line: line.as_str().parse().ok().filter(|&line| line > 0)?,
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
        File\s"(?P<python>[^"\n]+)",\sline\s(?P<python_line>\d{1,7})
        | (?P<path>(?:[A-Za-z]:)?[\w./\\@+~-]*[\w-]\.[A-Za-z][\w]{0,5})
          (?: : (?:line\s)? | \( | \son\sline\s | ,\s+line\s | \#L )
          (?P<line>\d{1,7})\b
        | (?P<swift>[\w./-]+\.[A-Za-z][\w]{0,5}) "? ,? \s line:? \s (?P<swift_line>\d{1,7})
        "#,
    )
});
