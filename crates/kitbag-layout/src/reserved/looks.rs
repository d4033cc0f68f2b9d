//! The looks of characters: those that read alike, that open a tag, and that are invisible.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// The lower-case letters that a letter looks like: the same ones for all letters that look alike.
pub(super) fn plain(char: char) -> impl Iterator<Item = char> {
    static ASCII: LazyLock<Vec<Vec<char>>> =
        LazyLock::new(|| (0..128_u8).map(|byte| looks_of(byte.into())).collect());
    // Nearly every letter is ASCII, and computing the looks of one is slow.
    let known = ASCII.get(char as usize).map(Vec::as_slice);
    let looked_up = known.is_none().then(|| looks_of(char));
    known
        .into_iter()
        .flatten()
        .copied()
        .chain(looked_up.into_iter().flatten())
}

fn looks_of(char: char) -> Vec<char> {
    // Only a plain backslash marks a neutralised tag; others merely look like a slash.
    if matches!(char, '＼' | '﹨') {
        return vec!['/'];
    }
    let lower: String = char.nfkc().flat_map(char::to_lowercase).collect();
    let looks = skeleton(&lower).flat_map(char::to_lowercase);
    let alike = looks.map(|char| match char {
        // A reader may confuse these, even where Unicode's table does not.
        'i' | '1' | '|' => 'l',
        '∕' | '⁄' | '╱' | '⧸' | '∖' | '⧵' => '/',
        small => SMALL_CAPITALS
            .chars()
            .zip(READ_AS.chars())
            .find_map(|(capital, letter)| (capital == small).then_some(letter))
            .unwrap_or(small),
    });
    alike.collect()
}

/// Letters that Unicode's table of confusables does not contain, and below the letters they read
/// as.
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴋʟɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ";
const READ_AS: &str = "abcdefghlklnoprstuvwyz";

/// Characters that a reader could take for the bracket that opens a tag.
const BRACKETS: &str = "<＜‹«˂❬❮❰⟨⟪⧼⦑⟬〈\u{2329}《﹤≺ᐸᚲ𝈶≮ⵦ𐌭𖫬⋖⪡≪";

pub(super) fn is_bracket(char: char) -> bool {
    // Most characters are ASCII, in which only the first of these occurs.
    char == '<' || (!char.is_ascii() && BRACKETS.contains(char))
}

pub(super) fn is_separator(char: char) -> bool {
    char.is_whitespace() || matches!(char, '_' | '-' | '.' | ':' | '‿' | '⁀')
}

/// Returns true if a character takes no room, so that a name reads the same without it.
pub(super) fn is_invisible(char: char) -> bool {
    is_hidden(char) || is_joiner(char) || is_combining_mark(char)
}

/// Returns true if a character takes no room, but some script or picture in ordinary text may need
/// it.
pub(super) fn is_joiner(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Returns true if a character is always shown by its number.
pub(super) fn is_hidden(char: char) -> bool {
    matches!(char,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}
