//! The tables, the same in both databases, and how older stores are brought up to date.
//!
//! Every table begins with the tenant, which is part of every key. Numbers are 64 bits wide, times
//! are microseconds since 1970.

/// The version that this program reads and writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Each step makes the next version. A step that was released is never changed again.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// The statements that bring a SQLite file from version `found` to [`VERSION`].
#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_steps_after(found: i64) -> impl Iterator<Item = String> {
    // A type that SQLite does not know would make numbers of texts that look like numbers.
    steps_after(found).map(|step| step.replace(" BODY", " TEXT"))
}

/// The statements that bring a PostgreSQL schema from version `found` to [`VERSION`].
#[cfg(feature = "postgres")]
pub(crate) fn postgres_steps_after(found: i64) -> impl Iterator<Item = String> {
    steps_after(found).map(|step| {
        step.replace(" INTEGER", " BIGINT")
            .replace(" BLOB", " BYTEA")
            // What a person wrote may hold a NUL character, which text does not take there.
            .replace(" BODY", " BYTEA")
            .replace(" TEXT", " TEXT COLLATE \"C\"")
            .replace(" WITHOUT ROWID", "")
    })
}

fn steps_after(found: i64) -> impl Iterator<Item = &'static str> {
    STEPS
        .iter()
        .skip(usize::try_from(found).unwrap_or(0))
        .copied()
}

/// The tables of the latest version.
pub(crate) const TABLES: &[&str] = &[
    "tenant",
    "scope",
    "conversation",
    "message",
    "block",
    "posting",
    "fact",
    "summary",
    "state",
    "lease",
    "turn",
    "prompt",
    "prompt_text",
    "text",
];
