//! Tells names of secrets (`DB_PASSWORD`, `clientSecret`) from names about them (`token_count`).

/// What every such name holds, whatever its case and however its words are joined.
pub(super) const KEYWORDS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "auth",
];

/// What kind of value a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// One that a person may have chosen.
    Password,
    /// One that a machine made.
    Secret,
    /// One that is secret in some names and public in others, so that it must look the part.
    Key,
}

impl Promise {
    /// The promise of a name, if it makes one.
    pub(super) fn of(name: &str) -> Option<Self> {
        let words = words(name);
        let at = words.iter().rposition(|word| noun(word).is_some())?;
        let (before, from) = words.split_at_checked(at)?;
        let (word, after) = from.split_first()?;
        let lone = words.iter().filter(|word| !is_number(word)).count() == 1;
        if !after
            .iter()
            .all(|word| is_number(word) || AFTER.contains(&word.as_str()))
        {
            return None;
        }
        if before
            .iter()
            .any(|word| NOT_BEFORE.contains(&word.as_str()))
        {
            return None;
        }
        let promise = noun(word)?;
        let secret_before = before
            .iter()
            .any(|word| KEY_OF.contains(&word.as_str()) || noun(word).is_some());
        match promise {
            Self::Key if secret_before || word.as_str() != "key" => Some(Self::Secret),
            Self::Key if lone => None,
            other => Some(other),
        }
    }
}

fn noun(word: &str) -> Option<Promise> {
    Some(match word {
        "password" | "passwd" | "passphrase" | "pwd" | "pass" | "pgpassword" | "passcode"
        | "passwort" => Promise::Password,
        "secret" | "secrets" | "token" | "credential" | "credentials" | "auth" | "authtoken"
        | "clientsecret" | "accesstoken" => Promise::Secret,
        "key" | "apikey" | "secretkey" | "accesskey" | "privatekey" | "authkey" | "accountkey"
        | "appkey" | "masterkey" => Promise::Key,
        _ => return None,
    })
}

/// What makes a key a secret one.
const KEY_OF: &[&str] = &[
    "api",
    "access",
    "private",
    "signing",
    "encryption",
    "master",
    "account",
    "shared",
    "auth",
    "app",
    "application",
    "service",
    "license",
    "deploy",
    "webhook",
    "admin",
    "hmac",
    "aes",
    "jwt",
    "session",
    "cookie",
];

/// What may follow: the value is still the secret itself.
const AFTER: &[&str] = &[
    "value",
    "string",
    "base64",
    "b64",
    "hex",
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "live",
    "old",
    "new",
    "current",
    "default",
    "raw",
    "plain",
    "primary",
    "secondary",
    "backup",
    "master",
    "root",
    "v",
    "main",
    "local",
];

/// What makes it something public or a measure.
const NOT_BEFORE: &[&str] = &[
    "public",
    "per",
    "cost",
    "max",
    "min",
    "num",
    "count",
    "total",
    "next",
    "page",
    "continuation",
    "csrf",
    "xsrf",
    "cursor",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "invalid",
    "wrong",
    "bad",
    "fake",
    "mock",
    "dummy",
    "example",
    "sample",
    "hashed",
    "hash",
    "encrypted",
    "no",
    "non",
    "is",
    "has",
    "idempotency",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "publishable",
    "by",
    "nonce",
    "test",
    "object",
    "index",
    "hot",
    "map",
    "dict",
    "lookup",
    "i18n",
    "translation",
    "bucket",
    "s3",
];

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a name, in lower case: split at signs, at digits and at humps.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .and_then(|at| bytes.get(at))
            .copied()
            .unwrap_or(b'_');
        let next = bytes.get(at + 1).copied().unwrap_or(b'_');
        let hump = byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_uppercase() && next.is_ascii_lowercase());
        let digits = byte.is_ascii_digit() != before.is_ascii_digit();
        if hump || digits || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if byte.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
