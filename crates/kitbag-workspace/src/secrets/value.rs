//! Tells a secret value from a placeholder, a reference, a word and a name.

/// Whether a text stands for a value that the reader is to fill in: `<token>`, `xxxx`, `EXAMPLE`.
pub(super) fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    STAND_INS.iter().any(|word| lower.contains(word)) || is_filler(&lower)
}

/// Whether a text refers to a value elsewhere: `${TOKEN}`, `{{ token }}`, `%(token)s`, `get()`.
pub(super) fn is_reference(value: &str) -> bool {
    value.starts_with([
        '$', '%', '&', '*', '<', '{', '[', '(', '@', '!', '/', '.', '~',
    ]) || REFERENCES.iter().any(|mark| value.contains(mark))
        || value.ends_with([')', ']', '}', '>'])
}

/// Whether a text looks made by a machine: long, of many characters, and in no order that people
/// write.
pub(super) fn is_random(value: &str, length: usize) -> bool {
    let core = value.trim_end_matches('=');
    if core.len() < length || !core.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let digits = core.bytes().filter(u8::is_ascii_digit).count();
    let letters = core.bytes().filter(u8::is_ascii_alphabetic).count();
    let signs = core.len() - digits - letters;
    if letters < 2 || signs * 3 > core.len() || distinct(core) < core.len().min(24) / 3 + 1 {
        return false;
    }
    if is_uuid(core) {
        return false;
    }
    let Order { odd, natural } = order(core);
    // Without a digit it must be stranger still, for most names have none.
    let (share, of) = if digits == 0 { (11, 20) } else { (9, 20) };
    odd >= 4 && odd * of >= (odd + natural) * share
}

/// Whether a text looks chosen by a person to be hard to guess.
pub(super) fn is_password(value: &str) -> bool {
    if !(6..=128).contains(&value.len()) || value.contains(char::is_whitespace) {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let signs = value
        .bytes()
        .filter(|byte| b"!@#$%^&*+?~".contains(byte))
        .count();
    let lower = value.to_ascii_lowercase();
    let plain = PLAIN.iter().any(|word| lower.contains(word));
    letters >= 2
        && (digits > 0 && signs > 0 || (digits > 0 || signs > 0) && !plain)
        && distinct(value) >= 5
}

/// The part of a text from here on, up to a number of bytes, at a character's end.
pub(super) fn window(text: &str, start: usize, length: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.floor_char_boundary(length.min(rest.len()));
    rest.get(..end).unwrap_or_default()
}

/// What documentation writes where a secret goes.
const STAND_INS: &[&str] = &[
    "example",
    "sample",
    "dummy",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "replace",
    "insert",
    "your",
    "redacted",
    "xxxx",
    "****",
    "....",
    "____",
    "----",
    "todo",
    "fake",
    "notreal",
    "not-real",
    "not_real",
    "lorem",
    "foobar",
    "deadbeef",
    "0000000000",
];

/// Signs of a template, a format or a call.
const REFERENCES: &[&str] = &[
    "${",
    "{{",
    "$(",
    "<%",
    "%s",
    "%d",
    "%v",
    "#{",
    "()",
    "://",
    "...",
    "…",
    "[REDACTED:",
];

/// Words that make a password a plain one unless it holds both digits and signs.
const PLAIN: &[&str] = &[
    "pass", "secret", "test", "token", "admin", "user", "foo", "bar", "demo", "1234", "abc",
    "qwerty", "key", "hello", "login",
];

/// Whether one filling character takes up most of it, or nearly all is one character.
fn is_filler(lower: &str) -> bool {
    let most = |byte: u8| lower.bytes().filter(|other| *other == byte).count() * 2 > lower.len();
    lower.len() >= 4 && b"x*0.-_#".iter().any(|byte| most(*byte))
}

fn distinct(value: &str) -> usize {
    let seen = value
        .bytes()
        .fold(0_u128, |seen, byte| seen | 1 << (byte & 127));
    seen.count_ones() as usize
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// How many neighbours a person would write side by side, and how many not.
struct Order {
    odd: usize,
    natural: usize,
}

fn order(value: &str) -> Order {
    let bytes = value.as_bytes();
    let mut order = Order { odd: 0, natural: 0 };
    let mut lowers = 0;
    for pair in bytes.windows(2) {
        let &[left, right] = pair else { continue };
        lowers = if left.is_ascii_lowercase() {
            lowers + 1
        } else {
            0
        };
        let odd = match (left, right) {
            _ if !left.is_ascii_alphanumeric() || !right.is_ascii_alphanumeric() => continue,
            (b'0'..=b'9', b'0'..=b'9') => continue,
            // A hump, as in `camelCase`.
            (b'a'..=b'z', b'A'..=b'Z') => lowers < 3,
            _ if left.is_ascii_digit() || right.is_ascii_digit() => true,
            _ => !is_common(left, right),
        };
        if odd {
            order.odd += 1;
        } else {
            order.natural += 1;
        }
    }
    order
}

fn is_common(left: u8, right: u8) -> bool {
    let row = usize::from(left.to_ascii_lowercase() - b'a');
    FOLLOWERS
        .get(row)
        .is_some_and(|followers| followers.as_bytes().contains(&right.to_ascii_lowercase()))
}

/// For each letter the ones that often follow it in names and prose: 19 of 20 pairs that people
/// write are here, and one of three that chance makes.
const FOLLOWERS: [&str; 26] = [
    "bcdgiklmnprstuvy",
    "aeijlosu",
    "acehiklortu",
    "adeilmorsu",
    "acdefgilmnopqrstvwxy",
    "aefiloru",
    "aehinorsu",
    "aeiot",
    "abcdefglmnoprstvxz",
    "e",
    "eis",
    "adeilostuy",
    "aeimopsu",
    "acdefgiklnostuv",
    "abcdgiklmnoprstuvw",
    "aeiloprstu",
    "u",
    "acdegiklmnorstuvy",
    "acehilopstuy",
    "acehiloprstuy",
    "abceilmnprst",
    "aei",
    "aeior",
    "ipt",
    "nps",
    "e",
];
