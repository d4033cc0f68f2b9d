//! Which language a file is written in, and how that language writes a comment.
//!
//! It goes by names and first lines alone; it never opens a file.

mod comment;

use serde::{Deserialize, Serialize};

pub use self::comment::Comment;

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
    /// Every language, in the order of the enum.
    pub const ALL: [Self; 18] = [
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Ruby,
        Self::Php,
        Self::Bash,
        Self::Kotlin,
        Self::Swift,
        Self::Scala,
        Self::Lua,
        Self::Markdown,
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
        let extension = file
            .rsplit_once('.')
            .map(|(_, extension)| extension.to_ascii_lowercase());
        of_name(file)
            .or_else(|| extension.as_deref().and_then(of_extension))
            .or_else(|| of_shebang(first_line))
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
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Bash => "bash",
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
            Self::Scala => "scala",
            Self::Lua => "lua",
            Self::Markdown => "markdown",
        }
    }

    /// How it writes a comment on one line.
    #[must_use]
    pub const fn comment(self) -> Comment {
        match self {
            Self::Python | Self::Ruby | Self::Bash => Comment::HASH,
            Self::Lua => Comment::DASHES,
            Self::Markdown => Comment::MARKUP,
            Self::Rust
            | Self::JavaScript
            | Self::TypeScript
            | Self::Tsx
            | Self::Go
            | Self::Java
            | Self::C
            | Self::Cpp
            | Self::CSharp
            | Self::Php
            | Self::Kotlin
            | Self::Swift
            | Self::Scala => Comment::SLASHES,
        }
    }
}

fn of_extension(extension: &str) -> Option<Language> {
    Some(match extension {
        "rs" => Language::Rust,
        "py" | "pyi" | "pyw" | "bzl" => Language::Python,
        "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "go" => Language::Go,
        "java" => Language::Java,
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" | "tpp"
        | "cu" | "cuh" | "ino" => Language::Cpp,
        "cs" | "csx" => Language::CSharp,
        "rb" | "rake" | "gemspec" | "ru" | "podspec" => Language::Ruby,
        "php" | "phtml" | "php5" | "php7" | "php8" => Language::Php,
        "sh" | "bash" | "zsh" | "ksh" | "bats" => Language::Bash,
        "kt" | "kts" => Language::Kotlin,
        "swift" => Language::Swift,
        "scala" | "sc" | "sbt" => Language::Scala,
        "lua" => Language::Lua,
        "md" | "markdown" | "mdx" | "mdown" => Language::Markdown,
        _ => return None,
    })
}

fn of_name(file: &str) -> Option<Language> {
    Some(match file {
        "Rakefile" | "Gemfile" | "Guardfile" | "Podfile" | "Vagrantfile" | "Fastfile"
        | "Appfile" | "Brewfile" | "Capfile" | "Dangerfile" => Language::Ruby,
        "SConstruct" | "SConscript" | "wscript" | "BUILD.bazel" | "WORKSPACE" => Language::Python,
        ".bashrc" | ".bash_profile" | ".profile" | ".zshrc" | "PKGBUILD" | "configure" => {
            Language::Bash
        }
        "Jakefile" => Language::JavaScript,
        _ => return None,
    })
}

/// The interpreter of a `#!` line, without its version.
fn of_shebang(first_line: &str) -> Option<Language> {
    let command = first_line.strip_prefix("#!")?;
    let program = command
        .split_whitespace()
        .filter(|word| !word.starts_with('-') && !word.contains('='))
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env")?;
    Some(
        match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "python" | "pypy" => Language::Python,
            "node" | "nodejs" | "bun" => Language::JavaScript,
            "deno" | "ts-node" | "tsx" => Language::TypeScript,
            "ruby" | "jruby" => Language::Ruby,
            "php" => Language::Php,
            "sh" | "bash" | "zsh" | "ksh" | "dash" | "ash" => Language::Bash,
            "lua" | "luajit" => Language::Lua,
            "swift" => Language::Swift,
            "scala" => Language::Scala,
            "kotlin" => Language::Kotlin,
            _ => return None,
        },
    )
}

/// Whether a header says something that only C++ can say, at the start of a line.
fn has_cpp_marks(text: &str) -> bool {
    const MARKS: [&str; 11] = [
        "namespace ",
        "template ",
        "template<",
        "class ",
        "using ",
        "public:",
        "private:",
        "protected:",
        "constexpr ",
        "virtual ",
        "#include <string>",
    ];
    // `extern "C"` under `#ifdef __cplusplus` is how a C header serves C++: it is no mark.
    text.lines().any(|line| {
        let line = line.trim_start();
        MARKS.iter().any(|mark| line.starts_with(mark))
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
    fn all_lists_each_language_once() {
        let names: std::collections::BTreeSet<_> = Language::ALL.iter().map(|l| l.name()).collect();
        assert_eq!(names.len(), Language::ALL.len());
    }
}
