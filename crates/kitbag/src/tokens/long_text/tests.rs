//! Cut and shortened texts have the count of the whole, with every vocabulary in the build.

use proptest::prelude::*;

use super::super::char_class::FormatChars;
use super::super::vocabulary::Vocabulary;
use super::{count, segment, shorten};

/// Characters that patterns treat apart, and sequences that they treat together.
const ALPHABET: &[&str] = &[
    " ", "  ", "\t", "\n", "\r\n", "\r", "/", "//", ".", "'", "'s", "'LL", "a", "the", "B", "Ab",
    "é", "É", "ж", "Ж", "ǅ", "ʰ", "中", "文", "あ", "カ", "한", "々", "\u{3000}", "\u{a0}",
    "\u{85}", "\u{2028}", "1", "234", "٣", "Ⅷ", "\u{301}", "\u{903}", "\0", "\u{7f}", "\u{200d}",
    "😀", "ⓐ", "！", "—", "$", "<|", "・", "゠", "゛", "⺀", "、", "，", "〇", "ー", "ﾞ", "²", "½",
    "ª", "’", "\u{ad}", "\u{378}", "\u{e000}", "ᜀ", "𠀀",
];

/// Characters, each class apart, of which a run is one piece.
const CLASSES: &[&[char]] = &[
    &['a', 'e', 'q', 'x', 't', 'h'],
    &['A', 'E', 'Q', 'X', 'T', 'H'],
    &['=', '-', '.', '\'', '$', '<'],
    &['/'],
    &[' '],
    &[' ', '\t'],
    &['\n'],
    &['\r', '\n'],
    &[' ', ' ', ' ', '\n'],
    &['\t', ' ', '\r', '\n'],
    &['п', 'р', 'и', 'в', 'е', 'т', 'ё'],
    &['П', 'Р', 'И', 'В', 'Е', 'Т', 'Ё'],
    &['中', '文', '的', '是', '龥', '丐'],
    &['あ', 'ん', 'カ', 'の', 'ヺ'],
    &['한', '국', '어', '힣', '뷁'],
];

/// What may stand before or behind a run.
const NEIGHBOURS: &[&str] = &[
    "", "x", "X", "é", "É", "中", "カ", "7", ".", "'", "'s ", ". ", ".\n", "a\n", "/", "\n/", " ",
    "\t", "\n \n", "\u{301}", "\u{3000}", "😀", "ж", "Ж",
];

fn segments_of(text: &str, target: usize, format: FormatChars) -> Vec<&str> {
    let mut segments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (segment, after) = segment::split_off(rest, target, format);
        segments.push(segment);
        rest = after;
    }
    segments
}

/// Characters of a class in an order that looks random and is always the same.
fn shuffled(class: &[char], length: usize) -> String {
    let mut state = 0x9E37_79B9_u32;
    let mut run = String::new();
    while run.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        run.push(class[usize::try_from(state >> 16).unwrap() % class.len()]);
    }
    run
}

#[test]
fn segments_are_cut_at_white_space_and_after_lines() {
    let segments = |text| segments_of(text, 1, FormatChars::Together);
    assert_eq!(segments("one two\nthree"), ["one", " two\n", "three"]);
    assert_eq!(segments("..\n\n  b"), ["..\n\n", "  b"]);
    // A slash may belong to the line end before it, and this line end to the dot.
    assert_eq!(segments("..\n/b"), ["..\n/b"]);
    assert_eq!(segments("don't,12a"), ["don't", ",12", "a"]);
    let chinese = segments("\u{3000}\u{3000}他。\n\u{3000}\u{3000}她・");
    assert_eq!(
        chinese,
        ["\u{3000}\u{3000}他", "。\n", "\u{3000}\u{3000}她・"]
    );
    let joined = segments_of("😀\u{200d}😀", 1, FormatChars::Apart);
    assert_eq!(joined, ["😀", "\u{200d}😀"]);
}

proptest! {
    #[test]
    fn segments_add_up(parts in prop::collection::vec(prop::sample::select(ALPHABET), 0..60)) {
        let text = parts.concat();
        for vocabulary in Vocabulary::available() {
            let segments = segments_of(&text, 1, vocabulary.format_chars());
            prop_assert_eq!(segments.concat(), text.as_str());
            let table = vocabulary.table();
            let sum: usize = segments.iter().map(|segment| table.count(segment)).sum();
            prop_assert_eq!(sum, table.count(&text), "{} {:?}", vocabulary, &segments);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn shortened_runs_keep_their_count(
        before in prop::sample::select(NEIGHBOURS),
        first in prop::sample::select(CLASSES),
        between in prop::sample::select(NEIGHBOURS),
        second in prop::sample::select(CLASSES),
        after in prop::sample::select(NEIGHBOURS),
        length in 16_500..40_000_usize,
    ) {
        let first = shuffled(first, length);
        let second = shuffled(second, 17_000);
        let text = [before, &first, between, &second, after].concat();
        for vocabulary in Vocabulary::available() {
            let (table, case) = (vocabulary.table(), vocabulary.letter_case());
            let whole = table.count(&text);
            prop_assert_eq!(shorten::count(table, case, &text), whole, "{}", vocabulary);
            prop_assert_eq!(count(vocabulary, &text), whole, "{}", vocabulary);
        }
    }
}

#[test]
fn every_class_is_shortened_and_not_counted_whole() {
    for vocabulary in Vocabulary::available() {
        let (table, case) = (vocabulary.table(), vocabulary.letter_case());
        for class in CLASSES {
            let text = format!("({}x", shuffled(class, 36_000));
            let shortened = shorten::count_shortened(table, case, &text);
            assert_eq!(
                shortened,
                Some(table.count(&text)),
                "{vocabulary} {class:?}"
            );
        }
    }
}

#[test]
fn periodic_runs_are_shortened() {
    let table = Vocabulary::O200kBase.table();
    let case = Vocabulary::O200kBase.letter_case();
    for pattern in [
        "a",
        "ab",
        "aab",
        "abcdefghijklm",
        "=",
        "=-",
        "中",
        "中文",
        " ",
        "\n",
        "\r\n",
    ] {
        let text = format!("x {}y", pattern.repeat(90_000 / pattern.len()));
        let shortened = shorten::count_shortened(table, case, &text);
        assert_eq!(shortened, Some(table.count(&text)), "{pattern:?}");
    }
}
