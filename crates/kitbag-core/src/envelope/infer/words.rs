//! A request as words: lower case, without code, paths and identifiers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::text::Script;

/// The word in place of an identifier, a path or a piece of code.
const THING: &str = "_";

/// Compounds that mention faults without reporting one.
const NO_FAULTS: &str = "error handling, error handler, error handlers, error message, \
error messages, error page, error pages, error type, error types, error code, error codes, \
error reporting, exception handling, exception handler, crash reports, bug tracker";

/// The number of bytes below the title that are read.
const BODY_BYTES: usize = 8_000;

/// Words, each with a blank before and after, so that a phrase is found by looking for its text.
#[derive(Debug, Default)]
pub(in crate::envelope) struct Words {
    text: String,
    /// Set if a question mark ends them.
    pub(super) is_question: bool,
}

impl Words {
    /// The words of a whole request.
    pub(in crate::envelope) fn of_request(request: &str) -> Self {
        prose(request)
    }

    /// Looks for a word of any language among them. Where words are not parted it may stand inside.
    pub(in crate::envelope) fn has(&self, word: &str) -> bool {
        let first = word.chars().next().and_then(Script::of);
        match first {
            Some(Script::Unspaced) => self.text.contains(word),
            _ => self.contains(word),
        }
    }

    pub(super) fn contains(&self, phrase: &str) -> bool {
        self.position(phrase).is_some()
    }

    /// Returns the place where the phrase begins.
    pub(super) fn position(&self, phrase: &str) -> Option<usize> {
        self.text.find(&format!(" {phrase} "))
    }

    pub(in crate::envelope) fn iter(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace()
    }

    /// Returns the words after `phrase`, if they begin with it.
    pub(super) fn after(&self, phrase: &str) -> Option<Self> {
        let rest = self.text.strip_prefix(&format!(" {phrase}"))?;
        rest.starts_with(' ').then(|| Self {
            text: rest.into(),
            is_question: self.is_question,
        })
    }
}

/// Cuts a title into sentences. A colon ends one too: `Parser: handle tabs`.
pub(super) fn sentences(title: &str) -> Vec<Words> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut spaced = without_code(title);
    for mark in ["？", "！", "。", "；", "："] {
        // No blank follows them.
        spaced = spaced.replace(mark, &format!("{mark} "));
    }
    for token in spaced.split_whitespace() {
        push_words(token, &mut current);
        // Such as `feat(parser)!:` and `fix.`, but not `e.g.` and `v1.2`.
        let end = token.trim_end_matches([')', '"', '\'']).chars().next_back();
        let ends = matches!(
            end,
            Some('.' | '?' | '!' | ';' | ':' | '？' | '！' | '。' | '；' | '：')
        ) && !is_abbreviation(token);
        if ends {
            let asks = matches!(end, Some('?' | '？'));
            close(&mut current, asks, &mut sentences);
        }
    }
    close(&mut current, false, &mut sentences);
    sentences
}

/// Returns all words of the text below the title, without blocks of code and quotations.
pub(super) fn prose(body: &str) -> Words {
    let end = body.floor_char_boundary(BODY_BYTES);
    let mut text = String::from(" ");
    for token in without_code(body.get(..end).unwrap_or(body)).split_whitespace() {
        push_words(token, &mut text);
    }
    Words {
        text,
        is_question: false,
    }
}

/// Tells whether the text holds the output of a program that failed.
pub(super) fn shows_a_trace(request: &str) -> bool {
    let end = request.floor_char_boundary(4 * BODY_BYTES);
    let text = request.get(..end).unwrap_or(request);
    let printed = [
        "Traceback (most recent call last)",
        "' panicked at ",
        "panicked at src/",
        "Exception in thread \"",
        "goroutine 1 [running]",
        "Segmentation fault (core dumped)",
        "Unhandled exception",
        "Uncaught TypeError",
        "Uncaught ReferenceError",
        "AddressSanitizer",
        "stack backtrace:",
    ];
    let frames = || {
        let lines = text.lines().map(str::trim_start);
        lines.filter(|line| {
            let at = line.strip_prefix("at ");
            at.is_some_and(|at| at.ends_with(')') && at.contains('(') && at.contains(':'))
        })
    };
    // One line in the shape of a stack frame may be prose.
    printed.iter().any(|sign| text.contains(sign)) || frames().count() >= 2
}

fn close(text: &mut String, asks: bool, sentences: &mut Vec<Words>) {
    if text.trim().is_empty() {
        return;
    }
    let mut text = format!(" {}", core::mem::take(text));
    for compound in NO_FAULTS.split(", ") {
        text = text.replace(&format!(" {compound} "), &format!(" {THING} "));
    }
    sentences.push(Words {
        text,
        is_question: asks,
    });
}

/// Replaces code between backticks, and leaves out fenced code and quoted lines.
fn without_code(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) if start.starts_with('>') => {}
            (None, None) => {
                for (index, part) in line.split('`').enumerate() {
                    prose.push_str(if index % 2 == 0 { part } else { THING });
                }
                prose.push('\n');
            }
        }
    }
    prose
}

/// Adds the words of a token, each followed by a blank.
fn push_words(token: &str, words: &mut String) {
    // A commit's prefix: `feat(parser)!:`.
    let token = match token.split_once('(') {
        Some((kind, rest)) if rest.ends_with("):") || rest.ends_with(")!:") => kind,
        _ => token,
    };
    let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    if token.is_empty() {
        return;
    }
    if is_error_name(token) {
        // A name such as `ValueError` is code, and still means a fault.
        words.push_str("exception ");
        return;
    }
    if is_thing(token) {
        words.push_str(THING);
        words.push(' ');
        return;
    }
    // So that `long-running` has the words of its parts.
    for word in token.split('-') {
        for c in word.chars().flat_map(char::to_lowercase) {
            words.push(if c == '’' { '\'' } else { c });
        }
        words.push(' ');
    }
}

/// Tells whether a token names something in code or on disk: `a_b`, `aB`, `a.b`, `a/b`, `a::b`,
/// `f()`.
fn is_thing(token: &str) -> bool {
    let mut pairs = token.chars().zip(token.chars().skip(1));
    pairs.any(|(before, c)| before.is_lowercase() && c.is_uppercase() || "_./\\:(=<@$".contains(c))
}

/// Tells whether a token is the name of an error, such as `ValueError` or `java.io.IOException`.
fn is_error_name(token: &str) -> bool {
    let name = token.rsplit(['.', ':']).next().unwrap_or(token);
    ["Error", "Exception", "Panic"]
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty()))
}

fn is_abbreviation(token: &str) -> bool {
    ["e.g.", "i.e.", "etc.", "vs.", "cf."]
        .iter()
        .any(|known| token.eq_ignore_ascii_case(known))
}
