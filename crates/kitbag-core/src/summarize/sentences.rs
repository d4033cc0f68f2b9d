//! Cuts a text into sentences, as people and models write them in a chat.
//!
//! | what ends a sentence | what does not |
//! |---|---|
//! | `.`, `!`, `?`, `…` before white space | a mark inside a word: `3.5`, `main.rs`, an address |
//! | `。`, `！`, `？` and their like, anywhere | an abbreviation, an initial, the number of a list item |
//! | a blank line, the next list item, heading or table row | a line that is only wrapped |
//! | the next line, where the line was short | anything inside fenced code, which is one piece |
//!
//! No language is recognised: texts without these marks are one sentence a line. A sentence that is
//! too long for its purpose is cut by [`parts`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::text::is_listed;

/// A line at least this long may be wrapped prose, so that the sentence goes on below it.
const WRAPPED_LINE: usize = 60;
/// The same if the next line begins with a small letter.
const LIKELY_WRAPPED_LINE: usize = 40;
/// Words before a full stop that never end a sentence.
const NEVER_LAST: &str = "approx bzw ca cf dept dr e.g eg est hr i.e ie mr mrs ms prof resp vs z.b";
/// Words before a full stop that end a sentence only before a capital letter.
const SELDOM_LAST: &str = "al apr aug co corp dec etc feb inc jan jr jul jun ltd max min nov oct \
                           sep sept sr st usw";
/// Words before a full stop that go on with a number.
const BEFORE_NUMBER: &str = "art ch fig no nr p pp vol";

/// Returns the sentences of a text, trimmed and in order. Those without a letter or digit are left
/// out.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for block in blocks(text) {
        if is_fence(block) {
            found.push(block);
        } else {
            split_block(block, &mut found);
        }
    }
    found.retain(|sentence| sentence.contains(char::is_alphanumeric));
    found
}

/// Tells whether a sentence is fenced code.
pub(super) fn is_fence(sentence: &str) -> bool {
    sentence.starts_with("```") || sentence.starts_with("~~~")
}

/// Tells whether a sentence ends with a question mark.
pub(crate) fn is_question(sentence: &str) -> bool {
    sentence.trim_end().ends_with(['?', '？', '؟'])
}

/// Tells whether a text ends as a sentence does.
pub(super) fn is_ended(text: &str) -> bool {
    text.trim_end_matches(is_closer).ends_with(is_end_mark)
}

/// Cuts a sentence into parts of at most `characters`, between clauses where there are any, else
/// between words, else anywhere. An ellipsis shows each cut.
pub(super) fn parts(sentence: &str, characters: usize) -> Vec<String> {
    // Less two ellipses with their spaces.
    let room = characters.saturating_sub(4).max(1);
    let mut parts = Vec::new();
    let mut rest = sentence.trim();
    while !rest.is_empty() {
        let (part, after) = rest
            .split_at_checked(cut_at(rest, room))
            .unwrap_or((rest, ""));
        let (part, next) = (part.trim_end(), after.trim_start());
        let before = if parts.is_empty() { "" } else { "… " };
        let behind = if next.is_empty() { "" } else { " …" };
        parts.push(format!("{before}{part}{behind}"));
        rest = next;
    }
    parts
}

/// Returns the place of a cut with at most `room` characters before it: after a clause of at least
/// half of them, after a word, or anywhere.
fn cut_at(text: &str, room: usize) -> usize {
    let Some((end, _)) = text.char_indices().nth(room) else {
        return text.len();
    };
    // A clause that ends in the first half would leave a short part.
    let half = text.char_indices().nth(room / 2).map_or(0, |(at, _)| at);
    let head = text.get(..end).unwrap_or(text);
    let last = |is_cut: fn(char) -> bool| {
        let cut = head.char_indices().rfind(|&(_, char)| is_cut(char));
        cut.map(|(at, char)| at + char.len_utf8())
            .filter(|&at| at > half)
    };
    let is_clause = |char| {
        matches!(
            char,
            ',' | ';' | ':' | '—' | '–' | '、' | '，' | '；' | '：'
        )
    };
    last(is_clause)
        .or_else(|| last(char::is_whitespace))
        .unwrap_or(end)
}

/// Cuts a text into paragraphs, list items and pieces of fenced code.
fn blocks(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut end) = (0, 0);
    let mut fence: Option<&str> = None;
    let mut above = "";
    let mut push = |start: usize, end: usize| {
        let block = text.get(start..end).unwrap_or_default().trim();
        found.extend(Some(without_bullet(block)).filter(|block| !block.is_empty()));
    };
    for line in text.split_inclusive(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let here = line.trim();
        if let Some(mark) = fence {
            end += line.len();
            if here.starts_with(mark) {
                push(start, end);
                (start, fence) = (end, None);
            }
            continue;
        }
        let opens = ["```", "~~~"]
            .into_iter()
            .find(|mark| here.starts_with(mark));
        if opens.is_some() || !goes_on(above, here) {
            push(start, end);
            start = end;
        }
        end += line.len();
        above = here;
        if let Some(mark) = opens {
            above = "";
            // A fence may begin and end on one line.
            let closed = here
                .get(mark.len()..)
                .is_some_and(|rest| rest.contains(mark));
            if closed {
                push(start, end);
                start = end;
            } else {
                fence = Some(mark);
            }
        }
    }
    push(start, end);
    found
}

/// Tells whether a sentence may go on from the line above to this one.
fn goes_on(above: &str, here: &str) -> bool {
    if above.is_empty() || here.is_empty() || without_bullet(here) != here || is_numbered(here) {
        return false;
    }
    let length = above.chars().count();
    let ended = above.ends_with(is_end_mark);
    let small = here.starts_with(char::is_lowercase);
    !ended && (length >= WRAPPED_LINE || (small && length >= LIKELY_WRAPPED_LINE))
}

/// Returns a line without the marks of a list item, quotation, heading or table row.
fn without_bullet(line: &str) -> &str {
    let rest = line.trim_start_matches(['-', '*', '+', '•', '>', '#', '|']);
    // `#tag` and `-5` are words.
    if rest.len() < line.len() && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
        rest.trim()
    } else {
        line
    }
}

fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

fn split_block<'a>(block: &'a str, found: &mut Vec<&'a str>) {
    let mut rest = block.trim();
    while let Some((sentence, after)) =
        sentence_end(rest).and_then(|end| rest.split_at_checked(end))
    {
        found.push(sentence.trim());
        rest = after.trim_start();
    }
    found.push(rest);
}

/// Returns the end of the first sentence, if another one may follow.
fn sentence_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, mark)) = chars.next() {
        if !is_end_mark(mark) {
            continue;
        }
        let mut end = at + mark.len_utf8();
        let (mut closed, mut several) = (false, false);
        while let Some(&(at, next)) = chars.peek() {
            if !is_end_mark(next) && !is_closer(next) {
                break;
            }
            closed |= is_closer(next);
            several |= is_end_mark(next);
            end = at + next.len_utf8();
            chars.next();
        }
        let after = text.get(end..)?;
        // The end of the block needs no cut.
        let next = after.trim_start().chars().next()?;
        if is_wide_mark(mark) {
            return Some(end);
        }
        let before = text.get(..at)?;
        let small = next.is_lowercase();
        let ends = match mark {
            '.' if !several => stop_ends(before, next),
            // "Well... maybe" is one sentence.
            '.' | '…' => !small,
            // So is "Why?" with the words of whoever asks behind it.
            _ => !(closed && small),
        };
        if after.starts_with(char::is_whitespace) && ends {
            return Some(end);
        }
    }
    None
}

/// Tells whether a full stop between the text `before` and the character `next` ends a sentence.
fn stop_ends(before: &str, next: char) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or(before);
    let word = word.trim_start_matches(|char: char| !char.is_alphanumeric());
    let lower = word.to_lowercase();
    let listed = |list: &str| is_listed(list, &lower);
    // "1. Buy milk" is one sentence.
    let number_of_item = before == word && word.chars().all(|char| char.is_ascii_digit());
    let mut letters = word.chars();
    // "J. Smith" is one name, while "So do I." ends.
    let initial = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
    if number_of_item || listed(NEVER_LAST) || (initial && word != "I" && !is_cjk(word)) {
        return false;
    }
    if listed(BEFORE_NUMBER) {
        return !next.is_ascii_digit();
    }
    // An abbreviation that nobody listed is short and goes on with a small letter.
    let short = word.chars().count() < 4;
    if listed(SELDOM_LAST) {
        return !next.is_lowercase() && !next.is_ascii_digit();
    }
    !next.is_lowercase() || !(short || word.contains('.'))
}

fn is_end_mark(char: char) -> bool {
    matches!(char, '.' | '!' | '?' | '…' | '؟' | '।') || is_wide_mark(char)
}

/// Marks of scripts that put no space after a sentence.
fn is_wide_mark(char: char) -> bool {
    matches!(char, '。' | '！' | '？' | '｡' | '．')
}

fn is_closer(char: char) -> bool {
    matches!(
        char,
        '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）' | '*' | '_' | '`'
    )
}

fn is_cjk(word: &str) -> bool {
    word.chars().any(|char| char >= '\u{2E80}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text), expected);
    }

    #[test]
    fn a10_sentences_end_at_their_marks() {
        check(
            "One. Two! Three?  Four",
            &["One.", "Two!", "Three?", "Four"],
        );
        check(
            "Really?! \"Yes.\" Good.",
            &["Really?!", "\"Yes.\"", "Good."],
        );
        check(
            "i went home. then i slept",
            &["i went home.", "then i slept"],
        );
        check(
            "\"Why?\" she asked. Well... maybe.",
            &["\"Why?\" she asked.", "Well... maybe."],
        );
        check("So do I. Then we go.", &["So do I.", "Then we go."]);
    }

    #[test]
    fn a10_marks_inside_words_end_nothing() {
        check(
            "It costs 3.50 at https://a.example/x.html?q=1. Open main.rs, v1.2.",
            &[
                "It costs 3.50 at https://a.example/x.html?q=1.",
                "Open main.rs, v1.2.",
            ],
        );
        check(
            "Dr. J. Smith, e.g. on Jan. 5, met approx. ten. Room No. 5 at 8 p.m. is free.",
            &[
                "Dr. J. Smith, e.g. on Jan. 5, met approx. ten.",
                "Room No. 5 at 8 p.m. is free.",
            ],
        );
        check(
            "I said no. Then it ended at 8 p.m. We left.",
            &["I said no.", "Then it ended at 8 p.m.", "We left."],
        );
    }

    #[test]
    fn a10_lists_fences_and_lines_are_kept_apart() {
        check(
            "Buy:\n- milk\n* two eggs\n1. Boil. Then stir.\n\n```rust\nlet a = 1. ;\n\nb!\n```\nDone",
            &[
                "Buy:",
                "milk",
                "two eggs",
                "1. Boil.",
                "Then stir.",
                "```rust\nlet a = 1. ;\n\nb!\n```",
                "Done",
            ],
        );
        check(
            "hello\nI need soup\nno fish",
            &["hello", "I need soup", "no fish"],
        );
        let wrapped = "This line is quite long enough to be wrapped\nbecause prose is. Next.";
        check(
            wrapped,
            &[
                "This line is quite long enough to be wrapped\nbecause prose is.",
                "Next.",
            ],
        );
        check("```\nopen. code", &["```\nopen. code"]);
        check("| a | b |\n|---|---|\n", &["a | b |"]);
    }

    #[test]
    fn a10_scripts_without_spaces_have_sentences() {
        check(
            "魚は食べません。明日は三時です！いいですか？はい",
            &[
                "魚は食べません。",
                "明日は三時です！",
                "いいですか？",
                "はい",
            ],
        );
        check("no punctuation at all", &["no punctuation at all"]);
        check(" \n ... --- ", &[]);
    }

    #[test]
    fn a10_long_sentences_are_cut_between_clauses_and_marked() {
        let parts_of = |text: &str| parts(text, 30);
        assert_eq!(parts_of("short"), ["short"]);
        assert_eq!(
            parts_of("the soup was very good, and the bread as well was"),
            ["the soup was very good, …", "… and the bread as well was",]
        );
        let run = "x".repeat(60);
        assert!(parts_of(&run).iter().all(|part| part.chars().count() <= 30));
    }

    proptest! {
        #[test]
        fn a10_no_letter_is_lost_or_repeated(text in "([a-zA-Z0-9 .!?\n,。é\"'-]|```\n){0,80}") {
            let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).collect::<String>();
            let joined: String = sentences(&text).concat();
            prop_assert_eq!(letters(&joined), letters(&text));
        }

        #[test]
        fn a10_parts_hold_everything_within_the_length(text in any::<String>(), length in 1usize..60) {
            let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace() && *char != '…').collect::<String>();
            let parts = parts(&text, length);
            prop_assert_eq!(letters(&parts.concat()), letters(&text));
            prop_assert!(parts.iter().all(|part| part.chars().count() <= length.max(5)));
        }
    }
}
