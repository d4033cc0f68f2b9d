//! Hides macros that a C or C++ grammar would take for something else.
//!
//! `EXPORT_BEGIN` alone on a line swallows the definitions after it, and `class EXPORT name` looks
//! like a function. Such words become blanks of the same length: every position stays true.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// The text as the parser should see it.
pub(super) fn hidden(text: &str) -> Cow<'_, str> {
    let mut bytes: Option<Vec<u8>> = None;
    // Most files need no change, so the copy is made with the first one.
    let mut hide = |range: std::ops::Range<usize>| {
        let bytes = bytes.get_or_insert_with(|| text.as_bytes().to_vec());
        for byte in bytes.get_mut(range).into_iter().flatten() {
            *byte = b' ';
        }
    };
    for found in ALONE.find_iter(text) {
        let before = text.get(..found.start()).unwrap_or("").trim_end();
        let after = text.get(found.end()..).unwrap_or("").trim_start();
        // A macro that has a body is a definition; one in a macro or an expression is part of it.
        if !after.starts_with('{')
            && !before.ends_with(['\\', '=', '(', ',', '|', '&', '+', '-', '?', ':'])
            && !after.starts_with(['=', ')', ',', '|', '&', '+', '-', '?', '.', '('])
        {
            hide(found.range());
        }
    }
    // Searched in the original text: blanks that were put in by the first pass change no positions.
    for found in BEFORE_A_NAME.captures_iter(text) {
        if let Some(word) = found.get(1) {
            hide(word.range());
        }
    }
    match bytes.map(String::from_utf8) {
        Some(Ok(hidden)) => Cow::Owned(hidden),
        _ => Cow::Borrowed(text),
    }
}

static ALONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:\([^()\n]*\))?[ \t]*$"));

static BEFORE_A_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9]*_[A-Z0-9_]*(?:\([^()\n]*\))?)[ \t]+[A-Za-z_]\w*[^;()=,*&>\n]*$",
    )
});

#[expect(clippy::expect_used, reason = "the patterns are constants and tested")]
fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn words_that_mislead_become_blanks() {
        assert_eq!(hidden("LIB_BEGIN\nint f();\n"), "         \nint f();\n");
        assert_eq!(hidden("class LIB_API a : b {\n"), "class         a : b {\n");
    }

    #[test]
    fn words_that_mean_something_stay() {
        for text in [
            "MY_TEST(a)\n{\n}\n",
            "int x =\n    MAX_SIZE\n;",
            "struct MY_TYPE f(void) {\n",
            "struct MY_TYPE x;\n",
            "#define A \\\n    B_C\n",
        ] {
            assert_eq!(hidden(text), text);
        }
    }
}
