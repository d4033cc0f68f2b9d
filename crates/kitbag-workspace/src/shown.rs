//! Names from outside and numbers on lines of ours.

use std::borrow::Cow;

/// Longer names lose their middle.
const MAX_CHARS: usize = 160;

/// Makes a name fit for a part of a line: what cannot be seen, or would begin another line, is
/// written out (`\n`, `\u{202e}`), and so is a blank at the start, which would pass for an indent.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_control() && c != '\\' && !is_unseen(c);
    let short = name.len() <= MAX_CHARS || name.chars().count() <= MAX_CHARS;
    if short && name.chars().all(plain) && !name.starts_with(char::is_whitespace) {
        return Cow::Borrowed(name);
    }
    let mut written = String::with_capacity(name.len() + 8);
    for (index, c) in name.chars().enumerate() {
        match c {
            '\\' => written.push_str("\\\\"),
            c if c.is_control() => written.extend(c.escape_default()),
            c if is_unseen(c) || (index == 0 && c.is_whitespace()) => {
                written.extend(c.escape_unicode());
            }
            c => written.push(c),
        }
    }
    if short {
        return Cow::Owned(written);
    }
    let chars: Vec<char> = written.chars().collect();
    let (head, tail) = (MAX_CHARS / 2, chars.len() - MAX_CHARS / 2 + 1);
    let parts = [chars.get(..head), chars.get(tail..)];
    let [head, tail] = parts.map(|part| part.unwrap_or_default().iter().collect::<String>());
    Cow::Owned(format!("{head}…{tail}"))
}

/// A number of things: `1 file`, `2 files`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The first of some texts, and how many more there are.
pub(crate) fn first_of(texts: impl IntoIterator<Item = String>, most: usize) -> Vec<String> {
    let mut texts = texts.into_iter();
    let mut shown: Vec<String> = texts.by_ref().take(most).collect();
    if let more @ 1.. = texts.count() {
        shown.push(format!("… {more} more"));
    }
    shown
}

/// Keeps the texts that are shorter than all before them.
pub(crate) fn ever_shorter(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for text in texts {
        let is_shorter = levels.last().is_none_or(|last| text.len() < last.len());
        if is_shorter && !text.is_empty() {
            levels.push(text);
        }
    }
    levels
}

/// Characters that leave no mark, turn the direction of text, or break a line.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (name, written) in [
            ("main.rs", "main.rs"),
            ("a b", "a b"),
            ("naïve.py", "naïve.py"),
            ("a\nb", "a\\nb"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("  a", "\\u{20} a"),
            ("a\\nb", "a\\\\nb"),
            ("exe.\u{202e}gpj", "exe.\\u{202e}gpj"),
        ] {
            assert_eq!(shown(name), written, "{name:?}");
        }
    }

    #[test]
    fn a_long_name_loses_its_middle() {
        let name = format!("{}/{}", "ä".repeat(300), "b".repeat(300));
        let written = shown(&name);
        assert_eq!(written.chars().count(), MAX_CHARS);
        assert!(written.starts_with('ä') && written.contains('…') && written.ends_with('b'));
    }
}
