//! Patterns over the text of a task.
//!
//! The classes of Unicode make a pattern large and slow to compile, at every start of the program. A
//! task needs less: `\w` is a letter or digit of the common scripts, or `_`; `\d` and `\s` are those
//! of ASCII, and `\b` looks at ASCII alone. `\B` is left as it is.

use regex::Regex;

/// Letters of ASCII, Latin, Greek to Georgian and the scripts of South Asia, and East Asia's.
const WORD: &str = r"0-9A-Za-z_\u{C0}-\u{24F}\u{370}-\u{1FFF}\u{3040}-\u{D7A3}";

/// Compiles a pattern in which `\w` stands in brackets.
#[expect(clippy::expect_used, reason = "the patterns are constants, and tested")]
pub(super) fn pattern(pattern: &str) -> Regex {
    let plain = pattern
        .replace(r"\w", WORD)
        .replace(r"\d", "[0-9]")
        .replace(r"\s", r"[\t\n\r\x20]")
        .replace(r"\b", r"(?-u:\b)");
    Regex::new(&plain).expect("the pattern is a regular expression")
}
