//! Finds passwords that are stated in a sentence: `my password is …`, `das Passwort fürs WLAN ist
//! …`.
//!
//! Most sentences about passwords state none, so only a value that looks like one counts.

use std::ops::Range;

use super::{Rank, Span, value};

/// The words for a password.
pub(super) const KEYWORDS: &[&str] = &[
    "password",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "mot de passe",
    "contraseña",
    "parola d'ordine",
    "senha",
    "wachtwoord",
    "密码",
];

/// The words between the word for a password and its value.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "is now", "is", "ist jetzt", "ist", "lautet", "est maintenant", "est", "ahora es", "es ahora", "es", "è ora", "è",
    "agora é", "é", "是", "为",
];

/// The words that introduce what a password is for.
const FOR: &[&str] = &[
    "for ", "to ", "of ", "für ", "fürs ", "von ", "vom ", "zum ", "zur ", "pour ", "de ", "du ",
    "del ", "para ", "per ", "do ", "da ", "voor ", "van ",
];

/// The most bytes between the word for a password and its value.
const NEAR: usize = 160;
/// The longest description of what a password is for.
const LONGEST_USE: usize = 40;

/// Finds the value that follows the word for a password.
pub(super) fn at(text: &str, keyword: Range<usize>) -> Option<Span> {
    let near = value::window(text, keyword.end, NEAR);
    // A sentence that goes on in the next line would match too much.
    let line = near.split(['\n', '\r']).next()?;
    let told = after_verb(line)?;
    let told = told.trim_start_matches([' ', ':', '：']);
    let open = told.trim_start_matches(['"', '\'', '`', '“', '„', '«', '「']);
    let end = open.find(|c: char| c.is_whitespace() || "\"'`,;<>)”“»」，。".contains(c));
    let found = open.get(..end.unwrap_or(open.len()))?;
    let found = found.trim_end_matches(['.', '?', ':']);
    // The last exclamation marks may belong to the sentence.
    let sure = found.trim_end_matches('!');
    let is_told = value::is_password(sure) || value::is_random(sure, 12);
    let is_elsewhere = value::is_reference(found)
        || value::is_stand_in(found)
        || value::is_sequence(found)
        || value::is_shorthand(found);
    if !is_told || is_elsewhere {
        return None;
    }
    let start = keyword.end + (line.len() - open.len());
    let range = start..start + found.len();
    Some(Span::new(Rank::Place, range, "password"))
}

/// The text behind the verb, which follows the word for a password or the description of its use.
fn after_verb(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    // `password is …` first, then `password for the router is …`.
    if let Some(told) = strip_verb(rest) {
        return Some(told);
    }
    if !FOR.iter().any(|word| rest.starts_with(word)) {
        return None;
    }
    let clause = rest.split(['.', ',', ';', '!', '?', '(']).next()?;
    let clause = value::window(clause, 0, LONGEST_USE);
    clause
        .match_indices(' ')
        .find_map(|(at, _)| strip_verb(rest.get(at + 1..)?))
}

/// The text behind a leading verb.
fn strip_verb(text: &str) -> Option<&str> {
    VERBS.iter().find_map(|verb| {
        let told = text.strip_prefix(verb)?;
        // Chinese verbs need no space behind them.
        let is_word = verb.chars().any(|c| c.is_ascii());
        (!is_word || told.starts_with([' ', ':'])).then_some(told)
    })
}
