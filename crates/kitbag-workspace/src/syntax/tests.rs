//! Properties that hold for any text: nothing panics, units cover the file, lines are verbatim.

use proptest::prelude::*;

use super::{Lines, Rendered, Syntax, excerpt, outline, parse, slice, windows};
use crate::language::Language;

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
    verbatim(&lines, &outline(&lines, syntax));
    let all: Vec<usize> = (0..syntax.units.len()).collect();
    let whole = slice(&lines, syntax, &all);
    if lines.count() > 0 {
        assert_eq!(whole.lines, [(1, lines.count())]);
    }
    for index in all.iter().step_by(3) {
        let part = slice(&lines, syntax, &[*index]);
        let unit = &syntax.units[*index];
        assert!(
            part.lines
                .iter()
                .any(|l| l.0 <= unit.first && unit.last <= l.1)
        );
        verbatim(&lines, &part);
        verbatim(&lines, &excerpt(&lines, syntax, unit.first, unit.first + 2));
    }
    let bytes = postcard::to_allocvec(syntax).unwrap();
    assert_eq!(&postcard::from_bytes::<Syntax>(&bytes).unwrap(), syntax);
}

/// Every line that is listed stands in the content, in order, and all else is a comment.
fn verbatim(lines: &Lines<'_>, rendered: &Rendered) {
    let mut content = rendered.content.as_str();
    let mut next = 1;
    let mut skip = |content: &mut &str, first: u32| {
        if next < first && content.trim_start_matches([' ', '\t']).contains("... (") {
            let (line, rest) = content.split_once('\n').unwrap();
            if line.contains("... (") && !content.starts_with(lines.span(first, first)) {
                *content = rest;
            }
        }
        next = first;
    };
    for &(first, last) in &rendered.lines {
        skip(&mut content, first);
        let span = lines.span(first, last);
        content = content
            .strip_prefix(span)
            .unwrap_or_else(|| panic!("{first}-{last} is not verbatim: {content:?}"));
        content = content
            .strip_prefix('\n')
            .filter(|_| !span.ends_with('\n'))
            .unwrap_or(content);
    }
    assert!(
        content.is_empty() || content.lines().count() == 1,
        "{content:?}"
    );
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>(), language in 0..Language::ALL.len()) {
        check(&text, &parse(Language::ALL[language], &text));
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
        language in 0..Language::ALL.len(),
    ) {
        let text = words.concat();
        check(&text, &parse(Language::ALL[language], &text));
    }
}
