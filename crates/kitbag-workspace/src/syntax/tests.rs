//! Properties that hold for any text: nothing panics, units cover the file, lines are verbatim.

mod frames;
mod outlines;

mod sound;
mod units;

use proptest::prelude::*;

use super::{Lines, Rendered, Syntax, View, parse, windows};
use crate::language::Language;

/// One small source in every language.
const FIXTURES: [(Language, &str); 18] = [
    (Language::Python, include_str!("tests/fixtures/sample.py")),
    (Language::Rust, include_str!("tests/fixtures/sample.rs")),
    (
        Language::JavaScript,
        include_str!("tests/fixtures/sample.js"),
    ),
    (
        Language::TypeScript,
        include_str!("tests/fixtures/sample.ts"),
    ),
    (Language::Tsx, include_str!("tests/fixtures/sample.tsx")),
    (Language::Go, include_str!("tests/fixtures/sample.go")),
    (Language::Java, include_str!("tests/fixtures/Sample.java")),
    (Language::C, include_str!("tests/fixtures/sample.c")),
    (Language::Cpp, include_str!("tests/fixtures/sample.cpp")),
    (Language::CSharp, include_str!("tests/fixtures/sample.cs")),
    (Language::Ruby, include_str!("tests/fixtures/sample.rb")),
    (Language::Php, include_str!("tests/fixtures/sample.php")),
    (Language::Bash, include_str!("tests/fixtures/sample.sh")),
    (Language::Kotlin, include_str!("tests/fixtures/sample.kt")),
    (Language::Swift, include_str!("tests/fixtures/sample.swift")),
    (Language::Scala, include_str!("tests/fixtures/sample.scala")),
    (Language::Lua, include_str!("tests/fixtures/sample.lua")),
    (Language::Markdown, include_str!("tests/fixtures/sample.md")),
];

fn check(text: &str, syntax: &Syntax) {
    let lines = Lines::of(text);
    let mut next = 1;
    for unit in &syntax.units {
        assert_eq!(
            unit.first, next,
            "units follow each other: {:?}",
            syntax.units
        );
        assert!(unit.first <= unit.last, "no unit is empty");
        next = unit.last + 1;
    }
    assert_eq!(next, lines.count() + 1, "the units cover the file");
    let view = View::new(text, syntax);
    if let Some(outline) = view.outline() {
        verbatim(&lines, &outline);
    }
    let all: Vec<usize> = (0..syntax.units.len()).collect();
    let whole = view.slice(&all);
    if lines.count() > 0 {
        assert_eq!(whole.lines, [(1, lines.count())]);
    }
    for index in all.iter().step_by(3) {
        let part = view.slice(&[*index]);
        let unit = &syntax.units[*index];
        assert!(
            part.lines
                .iter()
                .any(|l| l.0 <= unit.first && unit.last <= l.1)
        );
        verbatim(&lines, &part);
        verbatim(&lines, &view.excerpt(unit.first, unit.first + 2));
    }
    let bytes = postcard::to_allocvec(syntax).unwrap();
    assert_eq!(&postcard::from_bytes::<Syntax>(&bytes).unwrap(), syntax);
}

/// Every line that is listed stands in the content, in order; each gap is one comment that counts
/// its lines, or nothing where it is blank.
fn verbatim(lines: &Lines<'_>, rendered: &Rendered) {
    let mut content = rendered.content.as_str();
    let mut next = 1;
    let gap = |content: &mut &str, next: u32, to: u32| {
        let left_out = lines.span(next, to.saturating_sub(1));
        if next < to && !left_out.trim().is_empty() {
            let (line, rest) = content.split_once('\n').expect("a comment for the gap");
            assert!(
                line.contains(&format!("... ({} line", to - next)),
                "{line:?}"
            );
            *content = rest;
        }
    };
    for &(first, last) in &rendered.lines {
        gap(&mut content, next, first);
        let span = lines.span(first, last);
        content = content.strip_prefix(span).expect("the lines verbatim");
        if !span.ends_with('\n') {
            content = content.strip_prefix('\n').expect("a line break at the end");
        }
        next = last + 1;
    }
    gap(&mut content, next, lines.count() + 1);
    assert_eq!(content, "");
}

#[test]
fn a_shell_script_may_hold_any_character() {
    for odd in ['é', '\u{8000}', '\u{1f600}', '\u{80000}', '\u{10ffff}'] {
        let text = format!("größe() {{\n  echo {{{odd}..3}} {{1..{odd}}}\n}}\n");
        let syntax = parse(Language::Bash, &text);
        check(&text, &syntax);
        assert_eq!(syntax.definitions[0].name, "größe");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>(), language in 0..Language::NAMES.len()) {
        check(&text, &parse(Language::NAMES[language].0, &text));
        check(&text, &windows(&text));
    }

    #[test]
    fn any_soup_of_tokens_is_read(
        words in prop::collection::vec(prop::sample::select(vec![
            "def f(x):", "class A:", "{", "}", "(", ")", "\n", "\n", "\n    ", "\n\n", "fn g() ", "struct S ",
            "function h() ", "=> ", "const a = ", "import b", "#include \"c.h\"", "#ifdef D", "#endif", "/*", "*/",
            "//", "\"", "'", "`", "<?php ", "end", "do |x|", "module M", "if", "else", ";", ",", "@", "\r\n", "\t",
            "impl X for Y ", "func (r *T) m() ", "namespace n ", "template <class T> ", "return", "é", "0",
        ]), 0..200),
        language in 0..Language::NAMES.len(),
    ) {
        let text = words.concat();
        check(&text, &parse(Language::NAMES[language].0, &text));
    }

    #[test]
    fn any_damaged_source_is_read(
        fixture in 0..FIXTURES.len(),
        from in 0.0..1.0,
        length in 0..80_usize,
        instead in "[\\PC\n]{0,12}",
    ) {
        let (language, text) = FIXTURES[fixture];
        let mut text: Vec<char> = text.chars().collect();
        let from = (from * text.len() as f64) as usize;
        let to = (from + length).min(text.len());
        text.splice(from..to, instead.chars());
        let text: String = text.into_iter().collect();
        check(&text, &parse(language, &text));
    }
}

#[test]
fn fixtures_are_read() {
    for (language, text) in FIXTURES {
        check(text, &parse(language, text));
        check(
            &text.replace('\n', "\r\n"),
            &parse(language, &text.replace('\n', "\r\n")),
        );
    }
}

#[test]
fn pathological_texts_are_read() {
    let pieces = [
        "(",
        "{",
        "<a>",
        "a ? ",
        "\n ",
        "f(function() {",
        "`${",
        "\"",
        "#if 1\n",
    ];
    for (language, _) in Language::NAMES {
        for piece in pieces {
            let text = piece.repeat(2_000);
            check(&text, &parse(language, &text));
        }
    }
}
