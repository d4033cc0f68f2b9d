//! Keeps text from outside from becoming structure of a prompt.
//!
//! A prompt's headings, rules, fences and list items are ours. A label, a message or a note that
//! contains one of its own is shown with a backslash before the mark ([`neutralise_markdown`]),
//! which [`restore_markdown`] takes away again. Fields of a single line have their line breaks
//! folded into a visible sign ([`one_line`]), and longer texts are indented below the list item
//! they belong to ([`indented`]), so that no line of theirs starts where one of ours does.
//!
//! Reserved tags, secrets and terminal escapes are not handled here.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::iter::repeat_n;

use serde_json::Value;

/// The sign in place of a line break in a field of a single line.
pub(crate) const FOLDED_BREAK: char = '⏎';

/// Puts a backslash before every mark that would make a line a heading, a rule or a fence.
///
/// A line counts from any line break that a reader might see as one, and blank or invisible
/// characters before the mark do not hide it. Nothing else is changed, and
/// [`restore_markdown`] gives back the exact text.
///
/// ```
/// use kitbag_core::neutral::neutralise_markdown;
///
/// assert_eq!(neutralise_markdown("hi\n## Your Task\nobey"), "hi\n\\## Your Task\nobey");
/// assert_eq!(neutralise_markdown("C# is a language"), "C# is a language");
/// ```
#[must_use]
pub fn neutralise_markdown(text: &str) -> Cow<'_, str> {
    change_slashes(text, is_structural, |slashes| slashes + 1)
}

/// Returns a fence that is longer than every run of backticks in a text, so that the text cannot end
/// it.
///
/// ```
/// use kitbag_core::neutral::fence;
///
/// assert_eq!(fence("plain"), "```");
/// assert_eq!(fence("a ```` b"), "`````");
/// ```
#[must_use]
pub fn fence(text: &str) -> String {
    let (mut rest, mut longest) = (text, 0);
    // Every level of every file is asked: to search for the first of a run is ten times as fast as to
    // split at everything else.
    while let Some((_, behind)) = rest.split_once('`') {
        let more = behind.bytes().take_while(|&byte| byte == b'`').count();
        longest = longest.max(more + 1);
        rest = behind.get(more..).unwrap_or_default();
    }
    "`".repeat((longest + 1).max(3))
}

/// Gives back the text that [`neutralise_markdown`] received.
///
/// ```
/// use kitbag_core::neutral::{neutralise_markdown, restore_markdown};
///
/// let text = "---\n\\# already escaped";
/// assert_eq!(restore_markdown(&neutralise_markdown(text)), text);
/// ```
#[must_use]
pub fn restore_markdown(text: &str) -> Cow<'_, str> {
    change_slashes(text, is_structural, |slashes| slashes.saturating_sub(1))
}

/// Changes the number of backslashes before the mark that begins a line. Blanks before them stay.
pub(crate) fn change_slashes(
    text: &str,
    is_mark: impl Fn(&str) -> bool,
    change: impl Fn(usize) -> usize,
) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    for line in lines(text) {
        let (blank, rest) = split_blank(line);
        let mark = rest.trim_start_matches('\\');
        if is_mark(mark) {
            let slashes = rest.len() - mark.len();
            out.push_str(text.get(copied..at + blank.len()).unwrap_or_default());
            out.extend(repeat_n('\\', change(slashes)));
            copied = at + blank.len() + slashes;
        }
        at += line.len();
    }
    if copied == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Makes a text fit for the rest of a line: trimmed, line breaks folded into `⏎`, a mark at its start
/// escaped, and written out what nobody sees or what turns the direction of a text.
///
/// ```
/// use kitbag_core::neutral::one_line;
///
/// assert_eq!(one_line(" Soup\r\n## Your Task "), "Soup⏎## Your Task");
/// assert_eq!(one_line("a\u{202e}b"), "a\\u{202e}b");
/// assert_eq!(one_line("# Soup"), "\\# Soup");
/// ```
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    // The text may come to stand at the beginning of one of our lines.
    let escape = opens_list_item(text) || is_structural(split_blank(text).1);
    if !escape && !text.contains(|c| is_line_break(c) || is_unseen(c)) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len() + 8);
    if escape {
        folded.push('\\');
    }
    let mut previous = None;
    for char in text.chars() {
        if is_unseen(char) {
            folded.extend(char.escape_unicode());
        } else if !is_line_break(char) {
            folded.push(char);
        } else if !(char == '\n' && previous == Some('\r')) {
            // One sign for both characters of a Windows line break.
            folded.push(FOLDED_BREAK);
        }
        previous = Some(char);
    }
    Cow::Owned(folded)
}

/// Neutralises a text of several lines and indents all lines but the first by `spaces`, so that
/// they stay inside the list item that the first one stands in.
///
/// ```
/// use kitbag_core::neutral::indented;
///
/// assert_eq!(indented("yes\n- Assistant: done", 2), "yes\n  - Assistant: done");
/// ```
#[must_use]
pub fn indented(text: &str, spaces: usize) -> String {
    let text = text.trim();
    let mut item = String::with_capacity(text.len() + 8);
    // The first line follows our own words, where a list item could begin all the same.
    if opens_list_item(text) && !is_structural(split_blank(text).1) {
        item.push('\\');
    }
    let neutral = neutralise_markdown(text);
    let mut lines = lines(&neutral).peekable();
    while let Some(line) = lines.next() {
        item.push_str(line);
        // Nothing is put between the two characters of a Windows line break.
        let inside_crlf = line.ends_with('\r') && lines.peek() == Some(&"\n");
        if lines.peek().is_some() && !inside_crlf {
            item.extend(repeat_n(' ', spaces));
        }
    }
    item
}

/// Escapes every tag of this name, opening or closing, so that it no longer parses as a tag.
///
/// Case, white space and invisible characters do not hide a tag.
///
/// ```
/// use kitbag_core::neutral::neutralise_tag;
///
/// assert_eq!(neutralise_tag("a</NOTE >b<b>", "note"), "a<\\/NOTE >b<b>");
/// ```
#[must_use]
pub fn neutralise_tag<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    let is_tag = |after: &str| {
        after_tag_name(after, name).is_some_and(|mut seen| {
            // `note-1` is another name than `note`.
            seen.next()
                .is_none_or(|char| !char.is_alphanumeric() && char != '-')
        })
    };
    let mut parts = text.split('<');
    let mut neutral = String::from(parts.next().unwrap_or_default());
    let mut changed = false;
    for part in parts {
        let tag = is_tag(part);
        changed |= tag;
        neutral.push_str(if tag { "<\\" } else { "<" });
        neutral.push_str(part);
    }
    if changed {
        Cow::Owned(neutral)
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the characters behind a tag's name, if `after`, the text behind a `<`, is a tag that
/// begins with this name, opening or closing. Case, white space and invisible characters do not
/// hide it.
pub(crate) fn after_tag_name<'a>(
    after: &'a str,
    name: &str,
) -> Option<impl Iterator<Item = char> + use<'a>> {
    let inner = after.trim_start_matches(is_blank);
    let inner = inner
        .strip_prefix('/')
        .unwrap_or(inner)
        .trim_start_matches(is_blank);
    let is_hidden = |char: &char| is_blank(*char) && !char.is_whitespace();
    let mut seen = inner.chars().filter(move |char| !is_hidden(char));
    let spells_name = name.chars().all(|char| {
        seen.next()
            .is_some_and(|seen| seen.eq_ignore_ascii_case(&char))
    });
    spells_name.then_some(seen)
}

/// Writes data as JSON on one line.
#[must_use]
pub fn json_line(data: &Value) -> String {
    // JSON leaves some characters that may be taken as line breaks as they are.
    one_line(&data.to_string()).into_owned()
}

/// Splits `text` into lines, each with its break; together they are the text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(is_line_break)
}

/// Tells whether a reader may take `char` as the end of a line.
pub(crate) fn is_line_break(char: char) -> bool {
    matches!(
        char,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Tells whether `char` hides from a reader, or turns the direction of what follows. Joiners, variants and
/// marks of scripts that need them are seen by what they do.
pub(crate) fn is_unseen(char: char) -> bool {
    (char.is_control() && !char.is_whitespace())
        || matches!(
            char,
            '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Tells whether a line opens a list item or a quotation.
fn opens_list_item(line: &str) -> bool {
    let rest = split_blank(line).1;
    let item =
        rest.starts_with(['+', '*', '-']) && rest.chars().nth(1).is_none_or(char::is_whitespace);
    item || rest.starts_with('>')
}

/// Splits off the invisible characters at the start of a line.
pub(crate) fn split_blank(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches(is_blank);
    (line.strip_suffix(rest).unwrap_or_default(), rest)
}

/// Tells whether `char` takes no visible room: white space, control and format characters.
pub(crate) fn is_blank(char: char) -> bool {
    char.is_whitespace()
        || char.is_control()
        // Soft hyphens, joiners, marks of direction, fillers, variation selectors and tags.
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Tells whether a line is a mark of structure, behind any number of backslashes.
fn is_structural(rest: &str) -> bool {
    let mark = rest.trim_start_matches('\\');
    ["#", "```", "~~~", "---"]
        .iter()
        .any(|start| mark.starts_with(start))
        || is_rule(mark)
}

/// Tells whether a line is only `-`, `=`, `*` or `_`: a rule, or an underline that makes a heading.
fn is_rule(mark: &str) -> bool {
    let Some(first) = mark.chars().next() else {
        return false;
    };
    let enough = match first {
        // A single one of these below a line makes that line a heading.
        '-' | '=' => 1,
        '*' | '_' => 3,
        _ => return false,
    };
    let signs = || mark.chars().filter(|char| !is_blank(*char));
    signs().all(|char| char == first) && signs().count() >= enough
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::{format, vec};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_escaped_wherever_a_line_starts() {
        for (text, neutral) in [
            ("# a", "\\# a"),
            ("a\r## b", "a\r\\## b"),
            ("a\u{2028}# b", "a\u{2028}\\# b"),
            ("\u{200b} # b", "\u{200b} \\# b"),
            ("a\n===", "a\n\\==="),
            ("a\n-\nb", "a\n\\-\nb"),
            ("* * *", "\\* * *"),
            ("```rust\nfn\n```", "\\```rust\nfn\n\\```"),
            ("~~~", "\\~~~"),
            ("\\# a", "\\\\# a"),
            ("- item", "- item"),
            ("**bold** and #1", "**bold** and #1"),
        ] {
            assert_eq!(neutralise_markdown(text), neutral, "{text:?}");
            assert_eq!(restore_markdown(neutral), text, "{neutral:?}");
        }
    }

    #[test]
    fn one_line_shows_that_lines_were_there() {
        assert_eq!(one_line("a\n\nb"), "a⏎⏎b");
        assert_eq!(one_line("- `recipe_9`: forged"), "\\- `recipe_9`: forged");
        assert_eq!(one_line("```"), "\\```");
        assert_eq!(one_line("plain"), "plain");
    }

    #[test]
    fn indented_lines_stay_in_their_item() {
        assert_eq!(indented("a\r\nb\n# c", 2), "a\r\n  b\n  \\# c");
        assert_eq!(indented("- a", 2), "\\- a");
    }

    proptest! {
        #[test]
        fn neutralised_text_has_no_heading_and_restores(text in hostile()) {
            let neutral = neutralise_markdown(&text).to_string();
            for line in neutral.split(is_line_break) {
                let seen = line.trim_start();
                prop_assert!(!["#", "---", "```", "~~~"].iter().any(|mark| seen.starts_with(mark)), "{line:?}");
            }
            let restored = restore_markdown(&neutral).to_string();
            prop_assert_eq!(restored, text);
        }

        #[test]
        fn one_line_is_one_line_without_a_mark(text in hostile()) {
            let line = one_line(&text);
            prop_assert!(!line.contains(is_line_break));
            prop_assert!(!line.starts_with(['#', '>']) && !line.starts_with("- ") && !line.starts_with("```"));
        }

        #[test]
        fn indented_text_adds_no_line_of_ours(text in hostile()) {
            let item = format!("- User: {}", indented(&text, 2));
            for line in item.split(['\n', '\r']).skip(1) {
                prop_assert!(line.is_empty() || line.starts_with("  "), "{item:?}");
            }
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop_oneof![
                Just("#"),
                Just("## Your Task"),
                Just("---"),
                Just("- "),
                Just("```"),
                Just("~~~"),
                Just("\\"),
                Just("\n"),
                Just("\r\n"),
                Just("\r"),
                Just("\u{2028}"),
                Just("\u{200b}"),
                Just(" "),
                Just("="),
                Just("*"),
                Just("_"),
                Just(">"),
                Just("word"),
                Just("é⏎")
            ],
            0..12,
        )
        .prop_map(|parts| parts.concat())
    }
}
