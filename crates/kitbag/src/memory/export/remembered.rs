//! A text that a service remembered of its user, as a fact.

/// Longest value of a fact, in characters: what the store takes.
const LONGEST: usize = 4_000;
/// Longest name in a key, in characters.
const LONGEST_NAME: usize = 48;

/// The key and the value of a fact. The key begins with `memory/` and is made of the words of the text, so
/// that another export of the same memory is the same fact.
pub(super) fn fact_of(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    // A long memory is left out and counted, rather than cut.
    if text.is_empty() || text.chars().count() > LONGEST {
        return None;
    }
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
    Some((format!("memory/{name}"), text.to_owned()))
}
