//! Questions about what the assistant said before: "you suggested", "hast du empfohlen".

use alloc::string::String;

/// The patterns, one a line. Groups of words follow one another, the words of a group are separated
/// by `/`, and `…` lets up to [`GAP`] words stand between. A word behind `*` stands anywhere in a text
/// without spaces. Words are written without accents.
const PATTERNS: &str = include_str!("assistant_said.txt");

/// The number of words that may stand between a helper and its verb: "hast du mir zum Lesen …
/// empfohlen".
const GAP: usize = 8;

/// Tells whether a text of these folded words asks for something that the assistant said.
pub(super) fn asks_what_assistant_said(text: &str, folded: &[String]) -> bool {
    PATTERNS
        .lines()
        .any(|pattern| match pattern.strip_prefix('*') {
            Some(_) if text.is_ascii() => false,
            Some(stretches) => stretches.split(" *").any(|stretch| text.contains(stretch)),
            None => {
                // Few queries have a word of the first group, and the rest need no closer look.
                let group = pattern.split(' ').next().unwrap_or_default();
                let mut starts = group.split('/').flat_map(|word| {
                    let words = folded.iter().enumerate();
                    words.filter_map(move |(at, one)| (one == word).then_some(at))
                });
                starts.any(|start| begins_with(folded.get(start..).unwrap_or_default(), pattern))
            }
        })
}

/// Tells whether words begin with the groups of a pattern.
fn begins_with(words: &[String], pattern: &str) -> bool {
    let (group, pattern) = pattern.split_once(' ').unwrap_or((pattern, ""));
    let is_of_group = |word: &String| group.split('/').any(|of_group| of_group == word);
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    if !is_of_group(first) {
        return false;
    }
    match pattern.strip_prefix("… ") {
        _ if pattern.is_empty() => true,
        Some(pattern) => (0..=GAP.min(rest.len())).any(|gap| {
            let rest = rest.get(gap..).unwrap_or_default();
            begins_with(rest, pattern)
        }),
        None => begins_with(rest, pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{fold, tokens};

    #[test]
    fn x04_a_question_about_the_assistants_words_is_known_in_many_languages() {
        let asks = |text: &str| {
            let folded: Vec<String> = tokens(text).map(|token| fold(&token.word)).collect();
            asks_what_assistant_said(text, &folded)
        };
        for text in [
            "Which book did you recommend?",
            "What was it that you suggested for dinner?",
            "Welches Buch hast du mir letzte Woche empfohlen?",
            "Qu'est-ce que tu m'as conseillé ?",
            "¿Qué libro me recomendaste?",
            "Che libro mi hai consigliato?",
            "Que livro você me recomendou?",
            "Что ты посоветовал мне почитать?",
            "你推荐的那本书叫什么？",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "Can you suggest a book?",
            "What time would you suggest?",
            "What did Anna recommend?",
            "Kannst du mir ein Buch empfehlen?",
            "Peux-tu me conseiller un livre ?",
            "你能推荐一本书吗？",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
