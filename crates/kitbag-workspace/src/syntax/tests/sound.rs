//! What is shown of a source still parses: no statement, string or block is cut in half.

use proptest::prelude::*;

use super::{FIXTURES, Lines, Rendered, View, parse, verbatim};
use crate::language::Language;
use crate::syntax::{grammar, macros};

/// Whether a text parses without an error.
pub(super) fn is_sound(language: Language, text: &str) -> bool {
    let grammar = grammar::of(language).expect("a grammar");
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&grammar.language).unwrap();
    let text = match language {
        Language::C | Language::Cpp => macros::hidden(text),
        _ => text.into(),
    };
    !parser.parse(&*text, None).unwrap().root_node().has_error()
}

fn check(language: Language, lines: &Lines<'_>, shown: &Rendered) {
    verbatim(lines, shown);
    assert!(
        is_sound(language, &shown.content),
        "{language:?}\n{}",
        shown.content
    );
}

#[test]
fn p08_any_line_of_a_fixture_is_shown_in_its_frame() {
    for (language, text) in FIXTURES {
        if language == Language::Markdown {
            continue;
        }
        let lines = Lines::of(text);
        let syntax = parse(language, text);
        let view = View::new(text, &syntax);
        for line in 1..=lines.count() {
            check(language, &lines, &view.excerpt(line, line));
        }
    }
}

/// The languages that a generated program is written in.
const WRITTEN: [Language; 8] = [
    Language::Python,
    Language::Rust,
    Language::JavaScript,
    Language::Go,
    Language::Java,
    Language::C,
    Language::Ruby,
    Language::Php,
];

#[derive(Debug, Clone)]
enum Step {
    Call,
    LongCall(usize),
    Text(usize),
    Comment,
    Blank,
    If(Vec<Self>, Vec<Self>),
    Loop(Vec<Self>),
}

fn step() -> impl Strategy<Value = Step> {
    let leaf = prop_oneof![
        4 => Just(Step::Call),
        1 => (1..5_usize).prop_map(Step::LongCall),
        1 => (1..6_usize).prop_map(Step::Text),
        1 => Just(Step::Comment),
        1 => Just(Step::Blank),
    ];
    leaf.prop_recursive(4, 120, 12, |inner| {
        let steps = prop::collection::vec(inner, 1..12);
        prop_oneof![
            (steps.clone(), steps.clone()).prop_map(|(then, other)| Step::If(then, other)),
            steps.prop_map(Step::Loop),
        ]
    })
}

/// Writes a program of functions in a language.
fn program(language: Language, functions: &[Vec<Step>]) -> String {
    let mut text = match language {
        Language::Go => "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n".to_owned(),
        Language::Php => "<?php\n\n".to_owned(),
        Language::Java => "class Program {\n".to_owned(),
        _ => String::new(),
    };
    for (index, steps) in functions.iter().enumerate() {
        let head = match language {
            Language::Python => format!("def f{index}(a, b):"),
            Language::Rust => format!("fn f{index}(a: u8, b: u8) {{"),
            Language::Go => format!("func f{index}(a int, b int) {{"),
            Language::Java => format!("void f{index}(int a,\n    int b) {{"),
            Language::C => format!("static int\nf{index}(int a, int b)\n{{"),
            Language::Ruby => format!("def f{index}(a, b)"),
            _ => format!("function f{index}($a, $b) {{"),
        };
        text += &format!("{head}\n");
        write(language, steps, 1, &mut text);
        text += match language {
            Language::Python => "    return os\n\n\n",
            Language::Ruby => "end\n\n",
            _ => "}\n\n",
        };
    }
    if language == Language::Java {
        text += "}\n";
    }
    text
}

fn write(language: Language, steps: &[Step], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let is_python = language == Language::Python;
    let is_ruby = language == Language::Ruby;
    let end = if is_python || is_ruby { "" } else { ";" };
    let mark = if is_python || is_ruby { "#" } else { "//" };
    let (first, other, last) = match language {
        Language::Python => ("if a:", "else:", None),
        Language::Ruby => ("if a", "else", Some("end")),
        Language::Rust | Language::Go => ("if a {", "} else {", Some("}")),
        _ => ("if (a) {", "} else {", Some("}")),
    };
    let repeat = match language {
        Language::Python => "while a:",
        Language::Ruby => "while a",
        Language::Rust => "while a {",
        Language::Go => "for a {",
        _ => "while (a) {",
    };
    for step in steps {
        let line = |text: &mut String, line: &str| *text += &format!("{indent}{line}\n");
        match step {
            Step::Call => line(text, &format!("call(a){end}")),
            Step::LongCall(arguments) => {
                line(text, "call(");
                for _ in 0..*arguments {
                    line(text, "    a,");
                }
                line(text, &format!("    b){end}"));
            }
            Step::Text(length) => {
                let (open, close) = match language {
                    Language::Python | Language::Java => ("call(\"\"\"", "\"\"\")"),
                    Language::Rust => ("call(r#\"", "\"#)"),
                    Language::JavaScript | Language::Go => ("call(`", "`)"),
                    Language::Ruby => ("call(<<~TEXT)", "TEXT"),
                    Language::C => ("call(\"\\", "\")"),
                    _ => ("call('", "')"),
                };
                let inside = if language == Language::C {
                    "{ \\\n"
                } else {
                    "{ } else (\n"
                };
                *text += &format!("{indent}{open}\n{}{close}{end}\n", inside.repeat(*length));
            }
            Step::Comment => line(text, &format!("{mark} a remark {{")),
            Step::Blank => *text += "\n",
            Step::If(then, otherwise) => {
                line(text, first);
                write(language, then, depth + 1, text);
                line(text, &format!("    call(b){end}"));
                line(text, other);
                write(language, otherwise, depth + 1, text);
                line(text, &format!("    call(b){end}"));
                last.into_iter().for_each(|last| line(text, last));
            }
            Step::Loop(inner) => {
                line(text, repeat);
                write(language, inner, depth + 1, text);
                line(text, &format!("    call(b){end}"));
                last.into_iter().for_each(|last| line(text, last));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn p08_any_part_of_a_program_still_parses(
        functions in prop::collection::vec(prop::collection::vec(step(), 1..25), 1..4),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        length in 0..20_u32,
    ) {
        for language in WRITTEN {
            let text = program(language, &functions);
            prop_assert!(is_sound(language, &text), "{:?}\n{}", language, text);
            let lines = Lines::of(&text);
            let syntax = parse(language, &text);
            let view = View::new(&text, &syntax);
            let chosen: Vec<usize> = picks.iter().map(|pick| pick.index(syntax.units.len())).collect();
            check(language, &lines, &view.slice(&chosen));
            for pick in &picks {
                let first = 1 + u32::try_from(pick.index(lines.count() as usize)).unwrap();
                check(language, &lines, &view.excerpt(first, first + length));
            }
            if let Some(outline) = view.outline() {
                check(language, &lines, &outline);
            }
        }
    }

    #[test]
    fn p08_any_part_of_a_fixture_still_parses(
        fixture in 0..FIXTURES.len() - 1,
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        length in 0..20_u32,
    ) {
        let (language, text) = FIXTURES[fixture];
        let lines = Lines::of(text);
        let syntax = parse(language, text);
        let view = View::new(text, &syntax);
        let chosen: Vec<usize> = picks.iter().map(|pick| pick.index(syntax.units.len())).collect();
        check(language, &lines, &view.slice(&chosen));
        for pick in &picks {
            let first = 1 + u32::try_from(pick.index(lines.count() as usize)).unwrap();
            check(language, &lines, &view.excerpt(first, first + length));
        }
    }
}
