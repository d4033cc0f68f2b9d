//! Cuts the text of people into words, whatever script it is written in.
//!
//! Scripts that put no spaces between words come out as runs, for the caller to cut into grams.
//! Identifiers of programs are another matter: see [`words`](super::words()).

use alloc::borrow::Cow;
use alloc::string::String;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::script::Script;

/// A word as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'t> {
    /// The byte at which it begins.
    pub start: usize,
    /// The byte at which it ends.
    pub end: usize,
    /// The script it is written in.
    pub script: Script,
    /// The word in lower case and composed; without `'s`, `l'` and the like.
    pub word: Cow<'t, str>,
}

/// Returns the words of a text in their order.
///
/// ```
/// use kitbag_core::text::tokens;
///
/// let words: Vec<_> = tokens("L'été, don't! C++ 10,000 猫です").map(|token| token.word).collect();
/// assert_eq!(words, ["été", "don", "c++", "10000", "猫です"]);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    core::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let skipped = rest.find(|c| Script::of(c).is_some())?;
            let start = at + skipped;
            let tail = text.get(start..)?;
            let script = tail.chars().next().and_then(Script::of)?;
            let end = start + length(tail, script);
            at = end;
            let word = written(text.get(start..end)?);
            if !word.is_empty() {
                return Some(Token {
                    start,
                    end,
                    script,
                    word,
                });
            }
        }
    })
}

/// Text without spaces is cut after this many characters, so that it has passages too.
const LONGEST_RUN: usize = 40;

/// Returns the number of bytes of `tail`, which begins with a letter of `script`, in its first
/// word.
fn length(tail: &str, script: Script) -> usize {
    // Most words are ASCII to their end, and need no look at each character.
    let mut end = match script {
        Script::Latin => tail.bytes().take_while(u8::is_ascii_alphanumeric).count(),
        _ => 0,
    };
    let begun = end;
    let (head, rest) = tail.split_at_checked(begun).unwrap_or(("", tail));
    let mut before = head.chars().next_back().unwrap_or(' ');
    let most = if script.is_spaced() {
        usize::MAX
    } else {
        LONGEST_RUN
    };
    let mut chars = rest.char_indices().take(most).peekable();
    while let Some((at, c)) = chars.next() {
        let at = begun + at;
        let next = chars.peek().map(|&(_, next)| next);
        let goes_on = match Script::of(c) {
            // Each emoji is a word of its own.
            Some(Script::Symbol) => at == 0,
            Some(found) => script != Script::Symbol && found.is_spaced() == script.is_spaced(),
            None => is_inner(before, c, next) || is_suffix(end, c, next),
        };
        if !goes_on {
            break;
        }
        end = at + c.len_utf8();
        before = c;
    }
    end
}

/// Tells whether a sign belongs to the word around it: a mark on a letter, an apostrophe between
/// letters, the point or comma of a number.
fn is_inner(before: char, c: char, next: Option<char>) -> bool {
    // Most signs are ASCII, and none of those is a mark.
    if !c.is_ascii() && is_combining_mark(c) {
        return true;
    }
    let Some(next) = next else { return false };
    match c {
        '\'' | '’' | 'ʼ' => before.is_alphabetic() && next.is_alphabetic(),
        '.' | ',' => before.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    }
}

/// Tells whether a sign ends a name of one letter: C++, F#.
fn is_suffix(length: usize, c: char, next: Option<char>) -> bool {
    match c {
        '+' => (length == 1 && next == Some('+')) || length == 2,
        '#' => length == 1 && !next.is_some_and(char::is_alphanumeric),
        _ => false,
    }
}

/// Returns the word in the form in which it is compared; most words are written in that form.
fn written(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if word.bytes().all(is_plain) {
        return word.into();
    }
    let lower: String = if word.is_ascii() {
        word.to_ascii_lowercase()
    } else {
        word.nfkc().flat_map(char::to_lowercase).collect()
    };
    if lower.starts_with(|c: char| c.is_ascii_digit()) {
        return lower.replace(',', "").into();
    }
    if lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return lower.into();
    }
    // The pieces around an apostrophe are grammar in most languages: the longest is the word.
    let mut longest = "";
    for piece in lower.split(['\'', '’', 'ʼ']) {
        if piece.len() > longest.len() {
            longest = piece;
        }
    }
    String::from(longest).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<Cow<'_, str>> {
        tokens(text).map(|token| token.word).collect()
    }

    #[test]
    fn x04_signs_inside_words_follow_what_people_mean() {
        assert_eq!(
            words("Caroline's dog, isn't it?"),
            ["caroline", "dog", "isn", "it"]
        );
        assert_eq!(words("qu'est-ce que l’eau"), ["est", "ce", "que", "eau"]);
        assert_eq!(
            words("3.5 km at 10:30, 1,250 in all."),
            ["3.5", "km", "at", "10", "30", "1250", "in", "all"]
        );
        assert_eq!(
            words("C++ and C# but a+b"),
            ["c++", "and", "c#", "but", "a", "b"]
        );
        assert_eq!(words("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(words("e\u{301}te\u{301} ＡＢＣ"), ["été", "abc"]);
        assert_eq!(words("party 🎉🎉!"), ["party", "🎉", "🎉"]);
        assert_eq!(words("iPhone用の充電器"), ["iphone", "用の充電器"]);
        assert_eq!(words("?!... --"), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn x04_any_text_is_cut_at_characters(text in any::<String>()) {
            let mut before = 0;
            for token in tokens(&text) {
                prop_assert!(token.start >= before && token.end > token.start);
                prop_assert!(text.get(token.start..token.end).is_some());
                before = token.end;
            }
        }
    }
}
