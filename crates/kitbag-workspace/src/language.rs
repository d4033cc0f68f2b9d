//! The language that a file is written in, and the comments of that language.
//!
//! It goes by names and first lines alone; it never opens a file.

mod comment;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use self::comment::Comment;
use crate::relative::name_of;
use crate::table::{Meanings, meanings};

/// A language whose structure can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Language {
    /// Rust.
    Rust,
    /// Python, with its stub files.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript without JSX.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Shell scripts.
    Bash,
    /// Kotlin.
    Kotlin,
    /// Swift.
    Swift,
    /// Scala.
    Scala,
    /// Lua.
    Lua,
    /// Markdown.
    Markdown,
}

impl Language {
    /// Every language with the name that a fenced block carries, in the order of the enum.
    pub const NAMES: [(Self, &'static str); 18] = [
        (Self::Rust, "rust"),
        (Self::Python, "python"),
        (Self::JavaScript, "javascript"),
        (Self::TypeScript, "typescript"),
        (Self::Tsx, "tsx"),
        (Self::Go, "go"),
        (Self::Java, "java"),
        (Self::C, "c"),
        (Self::Cpp, "cpp"),
        (Self::CSharp, "csharp"),
        (Self::Ruby, "ruby"),
        (Self::Php, "php"),
        (Self::Bash, "bash"),
        (Self::Kotlin, "kotlin"),
        (Self::Swift, "swift"),
        (Self::Scala, "scala"),
        (Self::Lua, "lua"),
        (Self::Markdown, "markdown"),
    ];

    /// The language of a file by its path and its first line, if either tells.
    ///
    /// A `.h` file counts as C here; [`Language::of_text`] looks further.
    ///
    /// ```
    /// use kitbag_workspace::language::Language;
    ///
    /// assert_eq!(Language::of("src/app.py", ""), Some(Language::Python));
    /// assert_eq!(Language::of("bin/serve", "#!/usr/bin/env ruby"), Some(Language::Ruby));
    /// assert_eq!(Language::of("logo.svg", ""), None);
    /// ```
    #[must_use]
    pub fn of(path: &str, first_line: &str) -> Option<Self> {
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let extension = file.rsplit_once('.').map(|(_, extension)| extension);
        let known = |name: &str| LANGUAGES.get(name).copied();
        // From the surest evidence to the weakest: the whole name, the extension, the interpreter.
        known(file)
            .or_else(|| known(&format!("*.{}", extension?.to_ascii_lowercase())))
            .or_else(|| known(&format!("#!{}", interpreter(first_line)?)))
    }

    /// The language of a file by its path and its whole text, which tells C++ headers from C ones.
    #[must_use]
    pub fn of_text(path: &str, text: &str) -> Option<Self> {
        let language = Self::of(path, text.lines().next().unwrap_or(""))?;
        let header = path.ends_with(".h") || path.ends_with(".H");
        Some(if language == Self::C && header && has_cpp_marks(text) {
            Self::Cpp
        } else {
            language
        })
    }

    /// The name that a fenced block carries.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.into_iter();
        let found = names.find(|(language, _)| *language == self);
        found.map_or("", |(_, name)| name)
    }

    /// The form of its comments on one line.
    #[must_use]
    pub const fn comment(self) -> Comment {
        match self {
            Self::Python | Self::Ruby | Self::Bash => Comment::HASH,
            Self::Lua => Comment::DASHES,
            Self::Markdown => Comment::MARKUP,
            _ => Comment::SLASHES,
        }
    }
}

/// By file name, by extension (`*.rs`) and by interpreter (`#!python`).
static LANGUAGES: Meanings<Language> =
    LazyLock::new(|| meanings(include_str!("language/languages.txt")));

/// The interpreter of a `#!` line, without its version.
fn interpreter(first_line: &str) -> Option<&str> {
    let mut words = first_line.strip_prefix("#!")?.split_whitespace();
    let program = words
        .find(|word| !word.starts_with('-') && !word.contains('=') && name_of(word) != "env")?;
    Some(name_of(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Tells if a line of a header starts with something that only C++ can say.
fn has_cpp_marks(text: &str) -> bool {
    let words = "namespace template class using constexpr virtual";
    let marks = [
        "template<",
        "public:",
        "private:",
        "protected:",
        "#include <string>",
    ];
    // `extern "C"` under `#ifdef __cplusplus` is how a C header serves C++: it is no mark.
    text.lines().map(str::trim_start).any(|line| {
        let word = line.split_once(' ').map(|(word, _)| word);
        word.is_some_and(|word| words.split(' ').any(|mark| mark == word))
            || marks.iter().any(|mark| line.starts_with(mark))
    })
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn extensions_names_and_shebangs_tell() {
        let of = Language::of;
        assert_eq!(of("a/b.TSX", ""), Some(Language::Tsx));
        assert_eq!(of("a/Rakefile", ""), Some(Language::Ruby));
        assert_eq!(
            of("run", "#!/usr/bin/python3.12 -u"),
            Some(Language::Python)
        );
        assert_eq!(
            of("run", "#!/usr/bin/env -S FOO=1 node --x"),
            Some(Language::JavaScript)
        );
        assert_eq!(of("run", "#!/bin/sh"), Some(Language::Bash));
        assert_eq!(of("run", "#!"), None);
        assert_eq!(of("Makefile", "all:"), None);
        assert_eq!(of("", ""), None);
    }

    #[test]
    fn a_header_is_cpp_only_when_it_says_so() {
        assert_eq!(Language::of("a.h", ""), Some(Language::C));
        let c = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n";
        assert_eq!(Language::of_text("a.h", c), Some(Language::C));
        let cpp = "#pragma once\nnamespace a {\nint f();\n}\n";
        assert_eq!(Language::of_text("a.h", cpp), Some(Language::Cpp));
        assert_eq!(Language::of_text("a.c", cpp), Some(Language::C));
    }

    #[test]
    fn names_list_each_language_once() {
        assert!(Language::NAMES.is_sorted_by(|a, b| a.0 < b.0));
        let names: std::collections::BTreeSet<_> =
            Language::NAMES.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), Language::NAMES.len());
    }
}
