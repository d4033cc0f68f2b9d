//! Keeps text from outside from opening or closing a tag that frames a prompt.
//!
//! A tag counts as reserved as soon as a reader could take it for one: case, blanks, invisible
//! characters, separators and letters that look like others do not hide it. Such a tag gets a
//! backslash behind its bracket, which [`restore`] removes. Characters that are invisible and
//! change what others look like, or that only a machine reads, are shown by their number
//! ([`show_hidden`]).
//!
//! Headings of the flat prompt are the business of `kitbag_core::flat`.

mod hidden;
mod looks;

use std::borrow::Cow;
use std::sync::OnceLock;

use looks::{is_bracket, is_invisible, is_separator, plain};

use crate::value::Value;

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

/// Puts a backslash into every reserved tag, and shows hidden characters by their number.
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
        // Hidden characters first: one of them inside a tag must not hide it from the search.
        Cow::Owned(shown) => Cow::Owned(rewrite(&shown, Backslash::Add).into_owned()),
    }
}

/// Removes the backslashes that [`neutralise`] added.
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

/// Returns true if the text has a reserved tag that is not neutralised.
#[must_use]
pub fn has_tag(text: &str) -> bool {
    brackets(text).any(|(at, after)| is_reserved(text.get(..at).unwrap_or_default(), after))
}

/// Shows characters by their number if they change the order of others, are read by machines only,
/// or control a terminal.
///
/// Joiners and marks of direction stay where ordinary text needs them. Between plain letters and in
/// long runs they hide something, and are shown.
///
/// ```
/// use kitbag_layout::reserved::show_hidden;
///
/// assert_eq!(show_hidden("a\u{202e}b ig\u{200b}nore"), "a[U+202E]b ig[U+200B]nore");
/// assert_eq!(show_hidden("👩\u{200d}💻"), "👩\u{200d}💻");
/// ```
#[must_use]
pub fn show_hidden(text: &str) -> Cow<'_, str> {
    hidden::show(text)
}

/// The text as a reader sees it, for comparisons: in lower case, with one letter for all that look
/// alike, and without characters that take no room, including accents.
#[must_use]
pub fn as_read(text: &str) -> String {
    // Filtered twice: an accented letter is one character here, and its accent appears only in
    // `plain`.
    let seen = text.chars().filter(|char| !is_invisible(*char));
    let plain = seen.flat_map(plain);
    plain.filter(|char| !is_invisible(*char)).collect()
}

/// Neutralises every text and every key of a value.
#[must_use]
pub fn neutralise_value(value: &Value) -> Value {
    value.map_texts(&|text| neutralise(text).into_owned())
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
        // A tag that has a backslash gets one more, so that `restore` gives back the same text.
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
    // Most texts have no tag, and are returned without a copy.
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The offset of each opening bracket, with the text behind it.
fn brackets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.char_indices()
        .filter(|(_, char)| is_bracket(*char))
        .filter_map(|(at, char)| Some((at, text.get(at + char.len_utf8()..)?)))
}

/// Returns true if the text behind a bracket names a reserved tag, opening or closing, or may begin
/// one that continues in the next text: layouts put texts side by side.
fn is_reserved(before: &str, after: &str) -> bool {
    let mut seen = after
        .chars()
        .filter(|char| !is_invisible(*char))
        .flat_map(plain)
        .skip_while(|char| char.is_whitespace() || *char == '/')
        .peekable();
    let names = reserved_names();
    // Most brackets in code are followed by another letter; this decides them without further work.
    let first = seen.peek().copied();
    if first.is_some() && !names.iter().any(|name| name.first() == first) {
        return false;
    }
    // One separator between the words of a name is enough to recognise it, so runs of them are
    // shortened.
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
        // Only `document` has a single word, and so only it can be the name of a type in code.
        .filter(|name| !may_be_type || name.words.len() > 1)
        .any(|name| name.begins(&shown))
}

/// Returns true for a parameter of a type such as `Vec<Document>`, which is code and which nobody
/// takes for a tag.
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

/// The longest reserved name in bytes, after replacing letters by those they look like.
const LONGEST_NAME: usize = 40;

/// A reserved name, with its letters replaced by those they look like.
struct Name {
    words: Vec<String>,
}

impl Name {
    fn first(&self) -> Option<char> {
        self.words.first()?.chars().next()
    }

    /// Returns true if a tag of this name begins with these letters, or if the letters end within
    /// it.
    fn begins(&self, shown: &str) -> bool {
        let mut rest = shown;
        for word in &self.words {
            rest = rest.trim_start_matches(is_separator);
            // The text ends within the name, and the next text may complete it.
            if word.starts_with(rest) && rest.len() < word.len() {
                return true;
            }
            let Some(behind) = rest.strip_prefix(word.as_str()) else {
                return false;
            };
            rest = behind;
        }
        // `documents` is another name than `document`.
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

#[cfg(test)]
mod tests;
