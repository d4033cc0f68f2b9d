//! Finds lines that read as a mark of the flat prompt, and puts a backslash before them.
//!
//! Lenient on purpose: what a model could take for a heading counts, not only what the parser
//! would. Lines end at every character that is shown as a line break.

use alloc::borrow::Cow;
use alloc::string::String;

/// The beginning of the line above a fenced source.
pub(super) const SOURCE: &str = "[Source ";

/// The names that may not follow an opening bracket at the beginning of a line, and whether the
/// bracket must close right after them.
const MARKS: [(&str, Closed); 4] = [
    ("system", Closed::Directly),
    ("user", Closed::Directly),
    ("assistant", Closed::Directly),
    ("source", Closed::Later),
];

#[derive(Clone, Copy, PartialEq)]
enum Closed {
    Directly,
    Later,
}

/// Puts a backslash before every mark that begins a line of `text`.
#[must_use]
pub fn neutralise(text: &str) -> Cow<'_, str> {
    rewrite(text, |backslashes, out| {
        for _ in 0..=backslashes {
            out.push('\\');
        }
    })
}

/// Takes off what [`neutralise`] put on.
#[must_use]
pub fn restore(text: &str) -> Cow<'_, str> {
    rewrite(text, |backslashes, out| {
        for _ in 1..backslashes {
            out.push('\\');
        }
    })
}

/// Copies `text`, with the backslashes before each mark written by `write`.
fn rewrite(text: &str, write: impl Fn(usize, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_open) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        let lead = prefix(line, |c| c.is_whitespace() || is_invisible(c));
        let marked = line.strip_prefix(lead).unwrap_or_default();
        let slashes = prefix(marked, |c| c == '\\');
        let body = marked.strip_prefix(slashes).unwrap_or_default();
        out.push_str(lead);
        if begins_with_mark(body) {
            write(slashes.len(), &mut out);
        } else {
            out.push_str(slashes);
        }
        out.push_str(body);
        rest = after;
    }
    Cow::Owned(out)
}

/// Splits off the first line, its line break included.
fn split_line(text: &str) -> (&str, &str) {
    match text.char_indices().find(|&(_, c)| is_line_break(c)) {
        Some((at, c)) => text.split_at(at + c.len_utf8()),
        None => (text, ""),
    }
}

fn prefix(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    // Line breaks end a line, so they never count as its leading white space.
    let end = text
        .char_indices()
        .find(|&(_, c)| is_line_break(c) || !belongs(c));
    end.map_or(text, |(at, _)| text.split_at(at).0)
}

fn begins_with_mark(text: &str) -> bool {
    let mut letters = text
        .chars()
        .take_while(|&c| !is_line_break(c))
        .filter(|&c| !c.is_whitespace() && !is_invisible(c))
        .map(plain_letter);
    if !letters.next().is_some_and(is_open) {
        return false;
    }
    let name: String = letters
        .clone()
        .take_while(|c| c.is_alphanumeric())
        .collect();
    MARKS.iter().any(|&(mark, closed)| match closed {
        Closed::Directly => name == mark && letters.clone().nth(mark.len()).is_some_and(is_close),
        Closed::Later => name.starts_with(mark),
    })
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_open(c: char) -> bool {
    matches!(c, '[' | '［' | '【' | '〔' | '〖' | '⁅' | '❲' | '⟦')
}

fn is_close(c: char) -> bool {
    matches!(c, ']' | '］' | '】' | '〕' | '〗' | '⁆' | '❳' | '⟧')
}

/// Characters that take no room on the screen.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// The lower-case ASCII letter that a letter looks like, else the letter itself.
fn plain_letter(c: char) -> char {
    let c = match c {
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' => u32::from(c)
            .checked_sub(0xfee0)
            .and_then(char::from_u32)
            .unwrap_or(c),
        'А' | 'а' | 'Α' | 'α' => 'a',
        'С' | 'с' => 'c',
        'Е' | 'е' | 'Ε' => 'e',
        'І' | 'і' | 'Ι' | 'ı' => 'i',
        'М' | 'м' | 'Μ' => 'm',
        'О' | 'о' | 'Ο' | 'ο' => 'o',
        'г' => 'r',
        'Ѕ' | 'ѕ' => 's',
        'Т' | 'т' | 'Τ' => 't',
        'У' | 'у' | 'Υ' => 'y',
        'Ν' | 'п' => 'n',
        'υ' | 'ц' => 'u',
        _ => c,
    };
    c.to_ascii_lowercase()
}
