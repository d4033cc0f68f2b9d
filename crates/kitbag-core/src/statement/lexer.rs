//! Cuts a message into sentences of words, without what its signs show to be somebody else's: code, quoted
//! lines and texts in quotation marks.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use unicode_normalization::UnicodeNormalization as _;

use super::own_lines::own_lines;
use crate::text::{Script, fold};

/// A sentence: its words, and how it ends.
#[derive(Debug, Default)]
pub(super) struct Sentence<'t> {
    pub(super) words: Vec<Word<'t>>,
    pub(super) is_question: bool,
    /// The byte at which its line begins: sentences of one line have the same.
    pub(super) line: usize,
}

/// A word of a sentence.
#[derive(Debug)]
pub(super) struct Word<'t> {
    /// As it stands in the text.
    pub(super) written: &'t str,
    /// In lower case and without accents, as it is compared.
    pub(super) folded: Cow<'t, str>,
    /// The byte of the text at which it begins.
    pub(super) start: usize,
    /// The sign before it.
    pub(super) gap: Gap,
}

impl Word<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.written.len()
    }

    /// Tells whether it is written like a name. In scripts without capitals no word is.
    pub(super) fn is_capitalised(&self) -> bool {
        self.written.chars().next().is_some_and(char::is_uppercase)
    }

    /// Tells whether it is this word in lower case, with the same accents.
    pub(super) fn is_written(&self, accented: &str) -> bool {
        // An accent may be a character of its own.
        let written = self.written.chars().flat_map(char::to_lowercase);
        written.nfc().eq(accented.chars())
    }

    /// Tells whether it is written in capitals: `IT`.
    pub(super) fn is_acronym(&self) -> bool {
        self.written.len() > 1 && self.written.bytes().all(|byte| byte.is_ascii_uppercase())
    }

    /// Tells whether it is a character of a script without spaces between words.
    pub(super) fn is_unspaced(&self) -> bool {
        self.written.chars().next().is_some_and(is_unspaced)
    }
}

/// The sign between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing that separates them.
    Space,
    /// A comma.
    Comma,
    /// The end of a clause: a bracket, a dash, a semicolon.
    Clause,
    /// A colon, or something that was left out: what follows may be somebody else's words.
    Other,
    /// The end of a sentence.
    End,
    /// The end of a question.
    Question,
}

/// Cuts a text into sentences.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut sentence = Sentence::default();
    for line in own_lines(text) {
        sentence.line = line.start;
        let mut gap = Gap::Space;
        let mut quote = None;
        let mut rest = line.text;
        while let Some(c) = rest.chars().next() {
            if let Some(behind) = rest.strip_prefix(' ') {
                rest = behind;
                continue;
            }
            let length = word_length(rest);
            let (head, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
            // Counted from the beginning of the message, from which values are copied.
            let start = line.start + line.text.len() - rest.len();
            rest = tail;
            // Quoted words are somebody else's, up to the sign that ends them.
            if let Some(closing) = quote {
                if c == closing {
                    quote = None;
                }
                continue;
            }
            if length > 0 && is_word(c) {
                if gap >= Gap::End {
                    sentence.is_question = gap == Gap::Question;
                    sentences.push(core::mem::take(&mut sentence));
                    sentence.line = line.start;
                    gap = Gap::Space;
                }
                sentence.words.push(Word {
                    written: head,
                    folded: folded(head),
                    start,
                    gap,
                });
                gap = Gap::Space;
                continue;
            }
            let found = match closing_quote(c, tail) {
                Some(closing) => {
                    quote = Some(closing);
                    Gap::Other
                }
                None => sign(c, tail, sentence.words.last()),
            };
            // Of several signs the one that separates most counts.
            gap = gap.max(found);
        }
        if !sentence.words.is_empty() {
            sentence.is_question = gap == Gap::Question;
            sentences.push(core::mem::take(&mut sentence));
        }
    }
    sentences
}

/// Returns the number of bytes of the word, or the sign, that a text begins with.
fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let Some((_, first)) = chars.next() else {
        return 0;
    };
    if !is_word(first) || is_unspaced(first) {
        return first.len_utf8();
    }
    let mut end = first.len_utf8();
    // Most words are ASCII to their end, and need no look at each character.
    let plain = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if plain > 0 {
        end = plain;
        match text.as_bytes().get(plain) {
            None | Some(b' ' | b',' | b'!' | b'?' | b'\n') => return plain,
            Some(_) => chars = text.char_indices().peekable(),
        }
        while chars.next_if(|&(at, _)| at < plain).is_some() {}
    }
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        let is_inner = matches!(c, '\'' | '’' | '@' | '.' | '+' | '-')
            && next.is_some_and(|next| is_word(next) && !is_unspaced(next))
            || matches!(c, '\u{300}'..='\u{36f}');
        if !is_inner && (!is_word(c) || is_unspaced(c)) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric())
}

/// Tells whether a character is of a script without spaces. Korean has spaces, unlike for
/// [`Script`], which looks at the grammar inside its words.
fn is_unspaced(c: char) -> bool {
    !c.is_ascii()
        && Script::of(c) == Some(Script::Unspaced)
        && !matches!(u32::from(c), 0xac00..=0xd7ff)
}

fn folded(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.into();
    }
    match word.is_ascii() {
        true => word.to_ascii_lowercase().into(),
        false => fold(&word.to_lowercase().replace('’', "'")).into(),
    }
}

/// Returns the sign that ends a quotation which `c` begins, if it ends before the line does.
fn closing_quote(c: char, tail: &str) -> Option<char> {
    let closing = match c {
        '"' | '`' => c,
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        _ => return None,
    };
    tail.contains(closing).then_some(closing)
}

/// Reads the sign between two words.
fn sign(c: char, tail: &str, before: Option<&Word<'_>>) -> Gap {
    let ends = tail.chars().next().is_none_or(char::is_whitespace);
    match c {
        '?' | '？' | '؟' => Gap::Question,
        '!' | '…' | '。' | '！' | '\n' => Gap::End,
        '.' if ends && !is_abbreviated(before) && !is_day(before, tail) => Gap::End,
        '.' if tail.starts_with('.') => Gap::End,
        ',' | '，' | '、' => Gap::Comma,
        ';' | '；' | '(' | ')' | '—' | '–' | '（' | '）' => Gap::Clause,
        // A dash; a hyphen has a letter behind it.
        '-' if ends => Gap::Clause,
        ':' | '：' | '=' | '"' | '“' | '”' | '„' | '«' | '»' | '`' => Gap::Other,
        _ if Script::of(c) == Some(Script::Symbol) => Gap::Clause,
        _ => Gap::Space,
    }
}

/// Tells whether the point behind a number makes it the day of a month, as in German: `am 3. Mai`.
fn is_day(before: Option<&Word<'_>>, tail: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez",
    ];
    let is_number = |word: &&Word<'_>| {
        word.written.len() <= 2 && word.written.bytes().all(|byte| byte.is_ascii_digit())
    };
    let next = tail.trim_start_matches(' ');
    before.filter(is_number).is_some() && MONTHS.iter().any(|month| next.starts_with(month))
}

/// Tells whether the point behind a word belongs to it: `St.`, `J.`.
fn is_abbreviated(before: Option<&Word<'_>>) -> bool {
    before.is_some_and(|word| {
        let is_initial = word.is_capitalised() && word.written.chars().nth(1).is_none();
        (is_initial && word.folded != "i")
            || matches!(word.folded.as_ref(), "st" | "mr" | "mrs" | "ms" | "dr")
    })
}
