//! Distinguishes secret values from placeholders, references, words and names.

mod order;

use order::Order;

/// Returns true for a placeholder that the reader should replace: `<token>`, `xxxx`, `EXAMPLE`.
pub(super) fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let most = |byte: u8| lower.bytes().filter(|other| *other == byte).count() * 2 > lower.len();
    // More than half of one filler sign counts, too: `xxxx-xxxx-1234`.
    STAND_INS.iter().any(|word| lower.contains(word)) || b"x*0.-_#".iter().any(|byte| most(*byte))
}

/// Returns true for a reference to a value elsewhere: `${TOKEN}`, `{{ token }}`, `%(token)s`,
/// `get()`.
pub(super) fn is_reference(value: &str) -> bool {
    let encloses = |open: char, close| value.ends_with(close) && value.contains(open);
    let (folder, file) = value.rsplit_once('/').unwrap_or_default();
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    value.starts_with(['$', '%', '{', '<', '(', '['])
        || REFERENCES.iter().any(|mark| value.contains(mark))
        || encloses('(', ')')
        || encloses('[', ']')
        || value.contains('{') && value.contains('}')
        // A path to a file that holds the secret.
        || !folder.is_empty() && (1..=8).contains(&extension.len())
}

/// Returns true if a text without quotes is a shorthand of its format: an anchor, a tag, a path.
pub(super) fn is_shorthand(value: &str) -> bool {
    value.starts_with(['!', '@', '&', '*', '/', '.', '~'])
}

/// Returns true if a text counts up, like `12345678` and `a1b2c3d4`.
pub(super) fn is_sequence(value: &str) -> bool {
    let bytes = value.as_bytes();
    // Two apart finds sequences whose letters and digits alternate.
    let steps = |apart: usize| {
        let pairs = bytes.iter().zip(bytes.iter().skip(apart));
        pairs.filter(|(a, b)| b.wrapping_sub(**a) == 1).count()
    };
    steps(1).max(steps(2)) * 2 >= value.len()
}

/// Returns true for a password in the form in which a login database stores it.
pub(super) fn is_crypt(value: &str) -> bool {
    let scheme = CRYPTS.iter().find_map(|scheme| value.strip_prefix(scheme));
    // Shorter ones are examples of the format in documents.
    scheme.is_some_and(|rest| rest.len() >= 20 && is_graphic(rest))
}

/// Returns true for a UUID under a name that leaves no doubt. Most UUIDs are public.
pub(super) fn is_uuid_key(value: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    is_uuid(value) && UUID_KEYS.iter().any(|key| name.contains(key))
}

pub(super) fn is_hexadecimal(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true if a text looks random: long enough, with many different characters, in an order
/// that people do not write.
pub(super) fn is_random(value: &str, length: usize) -> bool {
    // Padding of base64 says nothing about randomness.
    let core = value.trim_end_matches('=');
    if core.len() < length || !is_graphic(core) || is_uuid(core) {
        return false;
    }
    let (digits, letters) = digits_and_letters(core);
    // Text with many signs is code or a path rather than a key.
    let signs = core.len() - digits - letters;
    if letters < 2 || signs * 3 > core.len() || distinct(core) < core.len().min(24) / 3 + 1 {
        return false;
    }
    let Order { odd, natural } = Order::of(core);
    // Without a digit the order must be stranger still, since most names have none.
    let share = if digits == 0 { 55 } else { 45 };
    odd >= 4 && odd * 100 >= (odd + natural) * share
}

/// Returns true if a text looks like a password that a person chose.
pub(super) fn is_password(value: &str) -> bool {
    let is_path = value.matches('/').count() > 1;
    if !(6..=128).contains(&value.len()) || !is_graphic(value) || distinct(value) < 5 || is_path {
        return false;
    }
    let (digits, letters) = digits_and_letters(value);
    let marks = value.bytes().any(|byte| b"!@#$%^&*+?~".contains(&byte));
    // A digit and a sign, or one of them in a text that is no common word: how people make passwords.
    letters >= 2 && (digits > 0 && marks || (digits > 0 || marks) && !is_plain(value))
}

/// Tells a text that a person may have chosen, be it a word: nothing says that it is an example, a type, a
/// switch or a default that everybody knows.
pub(super) fn is_chosen(value: &str, length: usize) -> bool {
    let lower = value.to_ascii_lowercase();
    (length..=128).contains(&value.len())
        && is_graphic(value)
        && distinct(value) >= 4
        && !value.contains(['/', ':', '\\', '<', '>', '"', '\'', '(', ')'])
        && !is_plain(value)
        && !is_stand_in(value)
        && !is_sequence(value)
        && !SETTINGS.contains(&lower.as_str())
}

/// Tells a text that is one long word, and no path of names.
pub(super) fn is_one_word(value: &str) -> bool {
    is_chosen(value, 12) && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Tells a password of several words from a sentence, which has words of grammar, capitals or signs.
pub(super) fn is_passphrase(value: &str) -> bool {
    let mut words = value.split(' ');
    let is_word = |word: &str| {
        let letters = word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        (2..=20).contains(&word.len()) && letters && !GRAMMAR.contains(&word)
    };
    (3..=10).contains(&value.split(' ').count())
        && words.all(is_word)
        && (12..=128).contains(&value.len())
        && !is_stand_in(value)
}

/// Words that sentences have, and passwords of several words hardly.
const GRAMMAR: &[&str] = &[
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "by",
    "can",
    "cannot",
    "do",
    "does",
    "for",
    "from",
    "has",
    "have",
    "if",
    "in",
    "is",
    "it",
    "its",
    "may",
    "must",
    "no",
    "not",
    "of",
    "on",
    "only",
    "or",
    "should",
    "than",
    "that",
    "the",
    "their",
    "this",
    "to",
    "use",
    "used",
    "user",
    "users",
    "using",
    "was",
    "when",
    "which",
    "will",
    "with",
    "you",
    "your",
    "password",
    "passwords",
    "secret",
    "token",
    "key",
    "login",
    "empty",
    "required",
    "optional",
    "string",
];

/// The part of a text from here on, up to a number of bytes, at a character's end.
pub(super) fn window(text: &str, start: usize, length: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    rest.get(..rest.floor_char_boundary(length))
        .unwrap_or_default()
}

/// The offset of the first unescaped quote.
pub(super) fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.find(|c: char| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
}

/// The part of the line in front of this place, as far as it matters.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let start = text.ceil_char_boundary(at.saturating_sub(200));
    let before = text.get(start..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// The words that documentation writes in place of a secret.
#[rustfmt::skip]
const STAND_INS: &[&str] = &[
    "****", "....", "0000000000", "change-me", "change_me", "changeme", "deadbeef", "dummy", "example",
    "fake", "foobar", "insert", "lorem", "not-real", "not_real", "notreal", "placeholder", "redacted", "replace",
    "sample", "todo", "xxxx", "your",
    // Rules that a form is checked by.
    "required|", "nullable|", "|min:", "|confirmed",
];

/// Signs of a template, a format, a call, a content hash or our own marker.
#[rustfmt::skip]
const REFERENCES: &[&str] = &[
    "${", "{{", "$(", "<%", "%s", "%d", "%v", "#{", "()", "://", "...", "…", "\\x", "\\u", "sha1-", "sha256-", "sha256:", "sha384-",
    "sha512-", "sha512.", super::MARKER,
];

#[rustfmt::skip]
const CRYPTS: &[&str] = &[
    "$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$apr1$", "$argon2", "pbkdf2_sha256$",
];

const UUID_KEYS: &[&str] = &[
    "api_key", "api-key", "apikey", "codecov", "heroku", "postmark", "secret", "snyk",
];

/// Words that make a password one that nobody keeps.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "", "abc", "admin", "administrator", "argon", "bar", "base", "baz", "bcrypt", "changeit", "default", "demo", "elastic",
    "foo", "guest", "hello", "hunter", "key", "letmein", "login", "mariadb", "md", "minioadmin", "mongo", "mongodb",
    "mysql", "oauth", "oracle", "pass", "passw0rd", "passwd", "password", "pbkdf", "postgres", "postgresql", "pw", "pwd",
    "qwerty", "rabbitmq", "redis", "rfc", "root", "s3cr3t", "s3cret", "scrypt", "secret", "sha", "test", "tester",
    "testing", "testpass", "testpassword", "token", "user", "username", "utf", "v", "var", "welcome",
];

/// Words that say something about a password and are none.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    "always", "array", "automatic", "boolean", "compat", "credentials", "disabled", "enabled", "encrypted", "generate", "generated",
    "hidden", "ignore", "include", "inherit", "integer", "keychain", "keyring", "masked", "nullable", "number", "object",
    "optional", "passphrase", "plaintext", "prompt", "random", "required", "same-origin", "string", "undefined", "unknown",
    "unlimited", "varchar", "verbose", "websecure",
];

fn is_plain(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut pairs = value.bytes().zip(value.bytes().skip(1));
    // `passWord` mixes cases as names in code do, and is then no plain word.
    let has_hump = pairs.any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let mut parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    !has_hump
        && parts.all(|part| {
            let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let bare = word.strip_prefix("my").unwrap_or(word);
            PLAIN.contains(&word) || PLAIN.contains(&bare)
        })
}

fn is_graphic(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_graphic())
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

fn digits_and_letters(value: &str) -> (usize, usize) {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (
        digits,
        value.bytes().filter(u8::is_ascii_alphabetic).count(),
    )
}
