//! Keeps text from outside from opening or closing a tag that frames a prompt.
//!
//! A tag counts as reserved as soon as a reader could take it for one: case, blanks, invisible
//! characters, separators and letters that look like others do not hide it. Such a tag is shown
//! with a backslash behind its bracket, which [`restore`] takes away again. Characters that cannot
//! be seen and change what is seen, or say something that only a machine reads, are shown by their
//! number ([`show_hidden`]).
//!
//! Headings of the flat prompt are kept apart by `kitbag_core::flat`, not here.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use crate::value::{Map, Value};

/// The names of tags that only a layout and the wrapper of the query may write.
pub const RESERVED_TAGS: [&str; 10] = [
    "user_query",
    "system_prompt",
    "crewx_system_prompt",
    "kitbag_system_prompt",
    "system-reminder",
    "conversation_history",
    "agent_profile",
    "available_skills",
    "available_tools",
    "document",
];

/// Puts a backslash into every reserved tag and shows what is hidden.
///
/// ```
/// use kitbag_layout::reserved::neutralise;
///
/// assert_eq!(neutralise("a < /User_Query >"), "a <\\ /User_Query >");
/// assert_eq!(neutralise("if a < user { <b>"), "if a < user { <b>");
/// ```
#[must_use]
pub fn neutralise(text: &str) -> Cow<'_, str> {
    match show_hidden(text) {
        Cow::Borrowed(text) => rewrite(text, Backslash::Add),
        Cow::Owned(shown) => Cow::Owned(rewrite(&shown, Backslash::Add).into_owned()),
    }
}

/// Takes off the backslashes that [`neutralise`] put on.
///
/// ```
/// use kitbag_layout::reserved::{neutralise, restore};
///
/// let text = r"<\user_query> and </system_prompt>";
/// assert_eq!(restore(&neutralise(text)), text);
/// ```
#[must_use]
pub fn restore(text: &str) -> Cow<'_, str> {
    rewrite(text, Backslash::Remove)
}

/// Whether the text has a reserved tag that is not neutralised.
#[must_use]
pub fn has_tag(text: &str) -> bool {
    brackets(text).any(|(at, after)| is_reserved(text.get(..at).unwrap_or_default(), after))
}

/// Shows characters that change the order of others, that only a machine reads, or that control a
/// terminal, as their number.
///
/// Joiners and marks of direction that ordinary text needs stay.
///
/// ```
/// use kitbag_layout::reserved::show_hidden;
///
/// assert_eq!(show_hidden("a\u{202e}b"), "a[U+202E]b");
/// ```
#[must_use]
pub fn show_hidden(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if is_hidden(char) {
            shown.push_str(&format!("[U+{:04X}]", u32::from(char)));
        } else {
            shown.push(char);
        }
    }
    Cow::Owned(shown)
}

/// Neutralises every text and every key of a value.
#[must_use]
pub fn neutralise_value(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(neutralise(text).into_owned()),
        Value::List(list) => Value::List(list.iter().map(neutralise_value).collect()),
        Value::Map(map) => Value::Map(
            map.iter()
                .map(|(key, value)| (neutralise(key).into_owned(), neutralise_value(value)))
                .collect::<Map>(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Backslash {
    Add,
    Remove,
}

fn rewrite(text: &str, backslash: Backslash) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (at, after) in brackets(text) {
        let body = after.trim_start_matches('\\');
        let has_backslash = body.len() < after.len();
        let before = text.get(..at).unwrap_or_default();
        if (backslash == Backslash::Remove && !has_backslash) || !is_reserved(before, body) {
            continue;
        }
        let behind = text.len() - after.len();
        out.push_str(text.get(copied..behind).unwrap_or_default());
        copied = behind;
        match backslash {
            Backslash::Add => out.push('\\'),
            Backslash::Remove => copied += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where each opening bracket stands, and what stands behind it.
fn brackets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.char_indices()
        .filter(|(_, char)| is_bracket(*char))
        .filter_map(|(at, char)| Some((at, text.get(at + char.len_utf8()..)?)))
}

/// Whether what follows a bracket names a reserved tag, opening or closing, or may begin one that
/// goes on in the text behind this one.
fn is_reserved(before: &str, after: &str) -> bool {
    let mut seen = after
        .chars()
        .filter(|char| !is_invisible(*char))
        .flat_map(plain)
        .skip_while(|char| char.is_whitespace() || *char == '/')
        .peekable();
    let names = reserved_names();
    let first = seen.peek().copied();
    if first.is_some() && !names.iter().any(|name| name.first() == first) {
        return false;
    }
    // However many blanks stand between the words of a name, one is enough to know it.
    let mut shown = String::new();
    for char in seen {
        if !(is_separator(char) && shown.ends_with(is_separator)) {
            shown.push(char);
        }
        if shown.len() > LONGEST_NAME {
            break;
        }
    }
    let may_be_type = is_type(before, after);
    names
        .iter()
        .filter(|name| !may_be_type || name.words.len() > 1)
        .any(|name| name.begins(&shown))
}

/// `Vec<Document>` is code, and stays as it is where nobody takes it for a tag.
fn is_type(before: &str, after: &str) -> bool {
    let name: String = after
        .chars()
        .take_while(|char| char.is_alphanumeric())
        .collect();
    before.ends_with(|char: char| char.is_alphanumeric())
        && name.starts_with(char::is_uppercase)
        && after
            .strip_prefix(name.as_str())
            .is_some_and(|rest| rest.starts_with(['>', ',']))
}

/// No reserved name is longer, as its letters look.
const LONGEST_NAME: usize = 40;

/// A reserved name as its letters look.
struct Name {
    words: Vec<String>,
}

impl Name {
    fn first(&self) -> Option<char> {
        self.words.first()?.chars().next()
    }

    /// Whether a tag of this name begins with these letters, or the letters end before it does.
    fn begins(&self, shown: &str) -> bool {
        let mut rest = shown;
        for word in &self.words {
            rest = rest.trim_start_matches(is_separator);
            if word.starts_with(rest) && rest.len() < word.len() {
                return true;
            }
            let Some(behind) = rest.strip_prefix(word.as_str()) else {
                return false;
            };
            rest = behind;
        }
        !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_' || char == '-')
    }
}

fn reserved_names() -> &'static [Name] {
    static NAMES: OnceLock<Vec<Name>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let word = |word: &str| word.chars().flat_map(plain).collect();
        RESERVED_TAGS
            .iter()
            .map(|name| Name {
                words: name.split(['_', '-']).map(word).collect(),
            })
            .collect()
    })
}

/// The letters that a letter looks like, in lower case: the same for all that look alike.
fn plain(char: char) -> impl Iterator<Item = char> {
    static ASCII: LazyLock<Vec<Vec<char>>> =
        LazyLock::new(|| (0..128_u8).map(|byte| looks_of(byte.into())).collect());
    // Nearly every letter is one of these, and looking others up is slow.
    let known = ASCII.get(char as usize).map(Vec::as_slice);
    let looked_up = known.is_none().then(|| looks_of(char));
    known
        .into_iter()
        .flatten()
        .copied()
        .chain(looked_up.into_iter().flatten())
}

fn looks_of(char: char) -> Vec<char> {
    // Only the plain one is the mark of a tag that was neutralised.
    if matches!(char, '＼' | '﹨') {
        return vec!['/'];
    }
    let lower: String = char.nfkc().flat_map(char::to_lowercase).collect();
    let looks = skeleton(&lower).flat_map(char::to_lowercase);
    let alike = looks.map(|char| match char {
        'i' | '1' | '|' => 'l',
        '∕' | '⁄' | '╱' | '⧸' | '∖' | '⧵' => '/',
        small => SMALL_CAPITALS
            .iter()
            .find_map(|(capital, letter)| (*capital == small).then_some(*letter))
            .unwrap_or(small),
    });
    alike.collect()
}

/// Letters that Unicode's table does not count as alike, and that read the same.
const SMALL_CAPITALS: [(char, char); 22] = [
    ('ᴀ', 'a'),
    ('ʙ', 'b'),
    ('ᴄ', 'c'),
    ('ᴅ', 'd'),
    ('ᴇ', 'e'),
    ('ꜰ', 'f'),
    ('ɢ', 'g'),
    ('ʜ', 'h'),
    ('ɪ', 'l'),
    ('ᴋ', 'k'),
    ('ʟ', 'l'),
    ('ɴ', 'n'),
    ('ᴏ', 'o'),
    ('ᴘ', 'p'),
    ('ʀ', 'r'),
    ('ꜱ', 's'),
    ('ᴛ', 't'),
    ('ᴜ', 'u'),
    ('ᴠ', 'v'),
    ('ᴡ', 'w'),
    ('ʏ', 'y'),
    ('ᴢ', 'z'),
];

fn is_bracket(char: char) -> bool {
    matches!(
        char,
        '<' | '＜'
            | '‹'
            | '«'
            | '˂'
            | '❬'
            | '❮'
            | '❰'
            | '⟨'
            | '⟪'
            | '⧼'
            | '⦑'
            | '⟬'
            | '〈'
            | '\u{2329}'
            | '《'
            | '﹤'
            | '≺'
            | 'ᐸ'
            | 'ᚲ'
            | '𝈶'
            | '≮'
            | 'ⵦ'
            | '𐌭'
            | '𖫬'
            | '⋖'
            | '⪡'
            | '≪'
    )
}

fn is_separator(char: char) -> bool {
    char.is_whitespace() || matches!(char, '_' | '-' | '.' | ':' | '‿' | '⁀')
}

/// Whether a character takes no room, so that a name reads the same without it.
fn is_invisible(char: char) -> bool {
    is_hidden(char)
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}')
        || is_combining_mark(char)
}

/// Whether a character is shown by its number.
fn is_hidden(char: char) -> bool {
    matches!(char,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests;
