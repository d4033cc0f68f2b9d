//! A text that a service remembered of its user, as facts.

use std::sync::LazyLock;

use kitbag_core::statement::Statements;

/// Longest value of a fact, in characters: what the store takes.
const LONGEST: usize = 4_000;
/// Longest name in a key, in characters.
const LONGEST_NAME: usize = 48;
/// The beginnings of a memory by which a service names its user.
const SUBJECTS: [&str; 2] = ["The user", "User"];
/// Words that may stand between the subject and its verb.
const ADVERBS: [&str; 8] = [
    "currently",
    "now",
    "also",
    "just",
    "still",
    "recently",
    "no",
    "longer",
];

static STATEMENTS: LazyLock<Statements> = LazyLock::new(Statements::new);

/// The facts, by key. A plain statement about the user has the key that it would have in the user's own
/// words, so that a later memory replaces it. What else a memory says has a key that begins with
/// `memory/` and is made of its words, so that another export of the same memory is the same fact.
pub(super) fn facts_of(text: &str) -> Vec<(String, String)> {
    let text = text.trim();
    // A long memory is left out and counted, rather than cut.
    if text.is_empty() || text.chars().count() > LONGEST {
        return Vec::new();
    }
    let own = first_person(text);
    let stated = own.map(|own| STATEMENTS.of(&own)).unwrap_or_default();
    // A fact from a memory cannot take another one back, and a part of a memory is not all of it.
    let is_all = stated.len() >= clauses(text) && stated.iter().all(|one| !one.retracts);
    let stated = stated.into_iter().filter(|one| !one.retracts);
    let mut facts: Vec<(String, String)> = stated.map(|one| (one.key, one.value)).collect();
    if !is_all {
        facts.push((key_of(text), text.to_owned()));
    }
    facts
}

/// The number of clauses that may state something each.
fn clauses(text: &str) -> usize {
    let parts = text.split(['.', ',', ';', '(']);
    let parts = parts.flat_map(|part| part.split(" and "));
    parts.filter(|part| !part.trim().is_empty()).count()
}

/// The text in the words of the user: `I live in Berlin` for `User lives in Berlin`. None if it does not
/// begin with the user, in English.
fn first_person(text: &str) -> Option<String> {
    let rest = SUBJECTS
        .into_iter()
        .find_map(|subject| text.strip_prefix(subject))?;
    if let Some(rest) = rest
        .strip_prefix("'s ")
        .or_else(|| rest.strip_prefix("’s "))
    {
        return Some(format!("My {rest}"));
    }
    let mut own = "I".to_owned();
    let mut is_verb_due = true;
    for word in rest.strip_prefix(' ')?.split(' ') {
        own.push(' ');
        let is_verb = is_verb_due && !ADVERBS.contains(&word);
        match is_verb {
            true => own.push_str(&of_first_person(word)),
            false => own.push_str(word),
        }
        is_verb_due &= !is_verb;
    }
    Some(own)
}

/// A verb of the third person in the first.
fn of_first_person(verb: &str) -> String {
    let known = match verb {
        "is" => Some("am"),
        "isn't" => Some("am not"),
        "has" => Some("have"),
        "does" => Some("do"),
        "doesn't" => Some("don't"),
        "was" => Some("was"),
        _ => None,
    };
    if let Some(known) = known {
        return known.to_owned();
    }
    if let Some(stem) = verb.strip_suffix("ies") {
        return format!("{stem}y");
    }
    // "teaches", "goes", "dresses": but not "uses" and "moves".
    let hissing = ["shes", "ches", "sses", "xes", "oes"];
    let is_long = hissing.iter().any(|ending| verb.ends_with(ending));
    let stem = match is_long {
        true => verb.strip_suffix("es"),
        false => verb.strip_suffix('s').filter(|stem| !stem.ends_with('s')),
    };
    stem.unwrap_or(verb).to_owned()
}

/// The key of a memory that is no plain statement.
fn key_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    // Memories begin with "User" or "The user", which says nothing in a key.
    let words: Vec<String> = words
        .skip_while(|word| word == "the" || word == "user")
        .collect();
    let whole = words.join("-");
    let mut name: String = whole.chars().take(LONGEST_NAME).collect();
    // A cut name may be that of two memories; the hash of the text tells them apart.
    if name.len() < whole.len() || name.is_empty() {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let hash: String = hash.chars().take(8).collect();
        name = format!("{}-{hash}", name.trim_end_matches('-'));
    }
    format!("memory/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o06_a_memory_about_the_user_has_the_key_of_a_statement() {
        for (text, key, value) in [
            ("User lives in Berlin.", "home", "Berlin"),
            ("User moved to Hamburg.", "home", "Hamburg"),
            ("The user currently works as a nurse.", "job", "nurse"),
            (
                "The user is allergic to peanuts",
                "allergy/peanuts",
                "peanuts",
            ),
            ("User's name is Ann.", "name", "Ann"),
            ("User studies biology.", "studies", "biology"),
        ] {
            let fact = (key.to_owned(), value.to_owned());
            assert_eq!(facts_of(text), [fact], "{text}");
        }
    }

    #[test]
    fn o06_what_a_memory_says_beyond_a_statement_stays() {
        let text = "User lives in Berlin and wants to learn how to sail.";
        let keys: Vec<String> = facts_of(text).into_iter().map(|(key, _)| key).collect();
        assert_eq!(
            keys,
            [
                "home",
                "memory/lives-in-berlin-and-wants-to-learn-how-to-sail"
            ]
        );
        for text in [
            "User no longer lives in Berlin.",
            "Wants to sail",
            "Users abound",
        ] {
            assert!(facts_of(text)[0].0.starts_with("memory/"), "{text}");
        }
    }
}
