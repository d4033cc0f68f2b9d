//! Distinguishes names of secrets (`DB_PASSWORD`, `clientSecret`) from names about them
//! (`token_count`).

/// A part that every such name contains, in any case and with any joining of its words.
pub(super) const KEYWORDS: &[&str] = &[
    "pass",
    "pw",
    "secret",
    "token",
    "key",
    "credential",
    "auth",
    "kennwort",
    "senha",
    "contrasen",
    "wachtwoord",
];

/// The kind of value that a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// A value that a person may have chosen.
    Password,
    /// A value that a machine made.
    Secret,
    /// One that a machine made, under a name that settings bear too: `auth: basic`.
    Credentials,
    /// One that is secret under some names and public under others, so that it must look the part.
    Key,
    /// The name `key` alone, which mostly is the key of a map.
    Lone,
}

impl Promise {
    /// The promise of a name, if it makes one.
    pub(super) fn of(name: &str) -> Option<Self> {
        let words = words(name);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // The last noun is what the value is: `token_secret` is a secret, `secret_token` a token.
        let at = words.iter().rposition(|word| noun(word).is_some())?;
        let (before, from) = words.split_at_checked(at)?;
        let (word, after) = from.split_first()?;
        let value_follows = after
            .iter()
            .all(|word| is_number(word) || AFTER.contains(word));
        if !value_follows || before.iter().any(|word| NOT_BEFORE.contains(word)) {
            return None;
        }
        let secret = before
            .iter()
            .any(|word| KEY_OF.contains(word) || noun(word).is_some());
        match noun(word)? {
            Self::Key if secret => Some(Self::Secret),
            Self::Key if before.is_empty() => Some(Self::Lone),
            // Test passwords are short words on purpose; only one that a machine made is worth hiding.
            Self::Password if before.contains(&"test") => Some(Self::Secret),
            other => Some(other),
        }
    }
}

/// The promise of a word, even with another one in front of it: `dbpassword`.
fn noun(word: &str) -> Option<Promise> {
    let ends = |nouns: &[&str]| nouns.iter().any(|noun| word.ends_with(noun));
    match word {
        "key" => Some(Promise::Key),
        "auth" => Some(Promise::Credentials),
        "pass" | "pw" | "dbpass" | "keypass" | "storepass" => Some(Promise::Password),
        _ if ends(PASSWORDS) => Some(Promise::Password),
        _ if ends(SECRETS) => Some(Promise::Secret),
        _ if ends(&["credential", "credentials"]) => Some(Promise::Credentials),
        _ => None,
    }
}

#[rustfmt::skip]
const PASSWORDS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "senha", "contrasena", "wachtwoord",
];

#[rustfmt::skip]
const SECRETS: &[&str] = &[
    "secret", "secrets", "token", "apikey", "secretkey", "accesskey", "privatekey",
    "authkey", "accountkey", "masterkey", "storagekey",
];

/// The words in front of `key` that make it secret.
#[rustfmt::skip]
const KEY_OF: &[&str] = &[
    "access", "account", "admin", "aes", "api", "app", "application", "auth", "cookie", "deploy", "encryption", "hmac",
    "jwt", "license", "master", "private", "service", "session", "shared", "signing", "webhook",
];

/// The words that may follow: the value is still the secret itself.
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "b64", "backup", "base", "base64", "current", "default", "dev", "development", "hex", "key", "live", "local", "main",
    "master", "new", "old", "plain", "primary", "prod", "production", "raw", "root", "secondary", "staging", "string",
    "v", "value",
];

/// The words that make it a public value, a measure or a place.
#[rustfmt::skip]
const NOT_BEFORE: &[&str] = &[
    "bad", "bos", "bucket", "by", "cache", "cls", "column", "continuation", "cost", "count", "csrf", "cursor", "dummy",
    "encrypted", "eos", "example", "expected", "fake", "field", "fingerprint", "foreign", "gpg", "group", "has", "hash",
    "hashed", "host", "hot", "idempotency", "identifier", "invalid", "is", "label", "locale", "lookup", "map", "mask",
    "max", "measurement", "message", "min", "mock", "next", "no", "non", "nonce", "num", "pad", "page", "partition",
    "per", "pgp", "primary", "pub", "public", "publishable", "query", "route", "row", "s3", "sample", "sep", "site",
    "sort", "total", "translation", "unique", "unk", "verification", "verify", "wrong", "xsrf",
];

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells a value that is about secrets instead of being one: the name of another, as in
/// `password: db-password`.
pub(super) fn is_named(value: &str) -> bool {
    words(value).iter().any(|word| {
        noun(word).is_some() || matches!(word.as_str(), "example" | "name" | "passphrase")
    })
}

/// The words of a name, in lower case: split at signs, at digits and at humps.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let bytes = name.as_bytes();
    let mut before = b'_';
    for (at, byte) in bytes.iter().copied().enumerate() {
        let next = bytes.get(at + 1).copied().unwrap_or(b'_');
        let hump =
            before.is_ascii_lowercase() || before.is_ascii_uppercase() && next.is_ascii_lowercase();
        // `APIKey` is split before the last capital, `apiKey` before the first.
        let starts =
            byte.is_ascii_uppercase() && hump || byte.is_ascii_digit() != before.is_ascii_digit();
        if starts || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if byte.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        before = byte;
    }
    words.retain(|word| !word.is_empty());
    words
}
