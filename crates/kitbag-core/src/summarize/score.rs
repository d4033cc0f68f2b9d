//! What a sentence is worth in a summary, by rules.
//!
//! | rule | points |
//! |---|---|
//! | who said it: the user, an older summary, the assistant, the assistant asking or proposing | 20, 15, 8, 8 |
//! | a decision or an obligation: "let's", "decided", "must", "from now on" | 30; 15 not from the user |
//! | a preference or a limit: "prefer", "never", "without", "allergic" | 20; 10 not from the user |
//! | a question that nobody has answered | 20 |
//! | the ref or label of an entity, each of up to three | 12 |
//! | a number, date, time or amount, each of up to three | 8 |
//! | a name: capitalised inside the sentence, each of up to three | 6 |
//! | something quoted or marked as code, each of up to two | 6 |
//! | the first sentence of what somebody said | 6 |
//! | said later: of all sentences, the last | up to 6 |
//! | fenced code | a quarter of its points |
//! | less than two telling words: "Hi!" | half of its points |
//!
//! The cues are English; in other languages the other rules decide. They are whole words: "now" and
//! "note" are not "no".

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::extract::Speaker;
use super::sentences::is_fence;
use crate::text;

/// Where a sentence stands.
pub(super) struct Place {
    /// Whether it is the first sentence of what was said.
    pub(super) is_first: bool,
    /// Whether somebody else spoke after it.
    pub(super) is_answered: bool,
    /// How late it is among all sentences, in thousandths.
    pub(super) lateness_permille: u32,
}

/// The points of a sentence.
pub(super) fn score(sentence: &str, speaker: Speaker, place: &Place, names: &[String]) -> u32 {
    let own_words = speaker == Speaker::User;
    let by_user = |points: u32| if own_words { points } else { points / 2 };
    let mut points = match speaker {
        Speaker::User => 20,
        Speaker::Summary => 15,
        Speaker::Assistant | Speaker::Proposal | Speaker::Question => 8,
    };
    let plain = plain_words(sentence);
    if is_decision(&plain) {
        points += by_user(30);
    }
    if is_preference(&plain) {
        points += by_user(20);
    }
    if sentence.trim_end().ends_with(['?', '？', '؟']) && !place.is_answered {
        points += 20;
    }
    points += 12 * at_most(3, known_names(sentence, names));
    points += 8 * at_most(3, numbers(sentence));
    points += 6 * at_most(3, capitalised_names(sentence));
    points += 6 * at_most(2, marked(sentence));
    points += 6 * u32::from(place.is_first);
    points += 6 * place.lateness_permille / 1_000;
    if is_fence(sentence) {
        points /= 4;
    }
    if telling_words(sentence).len() < 2 {
        points /= 2;
    }
    points
}

/// Whether a sentence decides, promises or obliges, or says what is wanted and what is not.
pub(super) fn is_commitment(sentence: &str) -> bool {
    let plain = plain_words(sentence);
    is_decision(&plain) || is_preference(&plain)
}

/// The words by which a sentence is told from another: stems without grammar, but with those little
/// words that turn its meaning.
pub(super) fn telling_words(sentence: &str) -> BTreeSet<String> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let turns = lower
        .split(|char: char| !char.is_alphanumeric() && char != '\'')
        .filter(|word| TURNING.contains(word) || word.ends_with("n't"));
    let spelled_out = |word: &str| if word.ends_with("n't") { "not" } else { word }.to_owned();
    let mut words: BTreeSet<String> = turns.map(spelled_out).collect();
    let telling = text::identifiers(&lower).map(|(_, word)| word);
    let telling = telling.filter(|word| !text::is_stop_word(word) && !GREETINGS.contains(word));
    words.extend(telling.map(|word| text::stem(word).to_owned()));
    words
}

const GREETINGS: [&str; 6] = ["bye", "cheers", "hello", "hey", "hi", "welcome"];

#[rustfmt::skip]
const TURNING: [&str; 12] = [
    "cancel", "cannot", "except", "must", "never", "no", "none", "not", "only", "prefer", "want",
    "without",
];

#[rustfmt::skip]
const DECISIONS: [&str; 37] = [
    "agree", "agreed", "always", "approved", "as of", "book it", "cancel", "chose", "confirmed",
    "deadline", "decide", "decided", "decision", "from now on", "go for", "go with", "going with",
    "has to", "have to", "i will", "i'll", "instead", "let us", "let's", "lets", "make sure", "must",
    "need to", "needs to", "picked", "promise", "remember", "settled on", "we will", "we'll",
    "will do", "due",
];

#[rustfmt::skip]
const PREFERENCES: [&str; 36] = [
    "allergic", "allergy", "at least", "at most", "avoid", "can't", "cannot", "do not", "doesn't",
    "does not", "don't", "dont", "except", "favorite", "favourite", "hate", "i like", "i love",
    "i need", "i want", "i'd like", "instead of", "never", "no", "no longer", "no more", "not", "only",
    "prefer", "prefers", "rather", "we need", "we want", "without", "won't", "would like",
];

/// The sentence in small letters, its words between single spaces, with one before and one behind.
fn plain_words(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|char: char| !char.is_alphanumeric() && char != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    format!(" {} ", words.join(" "))
}

fn is_decision(plain: &str) -> bool {
    DECISIONS.iter().any(|cue| holds(plain, cue))
}

fn is_preference(plain: &str) -> bool {
    PREFERENCES.iter().any(|cue| holds(plain, cue))
}

fn holds(plain: &str, cue: &str) -> bool {
    plain
        .match_indices(cue)
        .any(|(at, _)| borders_space(plain, at, at + cue.len()))
}

fn borders_space(plain: &str, start: usize, end: usize) -> bool {
    let before = plain.get(..start).is_some_and(|text| text.ends_with(' '));
    before && plain.get(end..).is_some_and(|text| text.starts_with(' '))
}

fn known_names(sentence: &str, names: &[String]) -> usize {
    let found = |name: &&String| !name.is_empty() && sentence.contains(name.as_str());
    names.iter().filter(found).count()
}

/// How many words hold a digit or name a day.
fn numbers(sentence: &str) -> usize {
    #[rustfmt::skip]
    const DAYS: [&str; 10] = [
        "friday", "monday", "saturday", "sunday", "thursday", "today", "tomorrow", "tonight",
        "tuesday", "wednesday",
    ];
    let is_number = |word: &&str| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        word.contains(char::is_numeric) || DAYS.contains(&word.to_lowercase().as_str())
    };
    sentence.split_whitespace().filter(is_number).count()
}

/// How many runs of capitalised words stand inside the sentence, or of several at its beginning.
fn capitalised_names(sentence: &str) -> usize {
    let (mut count, mut run, mut run_is_first) = (0, 0, false);
    let mut close = |run: usize, is_first: bool| {
        count += usize::from(run > usize::from(is_first));
    };
    for (index, word) in sentence.split_whitespace().enumerate() {
        let bare = word.trim_start_matches(|char: char| !char.is_alphanumeric());
        let pronoun = bare == "I" || bare.starts_with("I'") || bare.starts_with("I’");
        if bare.starts_with(char::is_uppercase) && !pronoun {
            run_is_first = if run == 0 { index == 0 } else { run_is_first };
            run += 1;
        } else {
            close(run, run_is_first);
            run = 0;
        }
    }
    close(run, run_is_first);
    count
}

/// How many pieces are quoted or marked as code.
fn marked(sentence: &str) -> usize {
    let pairs = |mark: char| sentence.matches(mark).count() / 2;
    let opened = sentence.matches(['“', '«', '「']).count();
    pairs('"') + pairs('`') + opened
}

fn at_most(limit: u32, count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(sentence: &str, speaker: Speaker) -> u32 {
        let place = Place {
            is_first: false,
            is_answered: true,
            lateness_permille: 0,
        };
        score(
            sentence,
            speaker,
            &place,
            &["Lemon Soup".into(), "recipe_1".into()],
        )
    }

    #[test]
    fn a10_each_rule_counts() {
        let user = |sentence: &str| points(sentence, Speaker::User);
        assert_eq!(user("we had hot soup"), 20);
        assert_eq!(points("we had hot soup", Speaker::Assistant), 8);
        assert_eq!(user("let’s have hot soup"), 50);
        assert_eq!(points("you must have hot soup", Speaker::Assistant), 23);
        assert_eq!(user("I prefer soup"), 40);
        assert_eq!(user("soup at 7 pm on friday"), 36);
        assert_eq!(user("we met Anna Berg in Oslo"), 32);
        assert_eq!(user("Soup!"), 10);
        assert_eq!(user("Anna Berg cooks"), 26);
        assert_eq!(user("Hot soup I like"), 40);
        assert_eq!(user("save recipe_1"), 20 + 12 + 8);
        assert_eq!(user("save the Lemon Soup"), 20 + 12 + 6);
        assert_eq!(user("call it \"the one\" in `main`"), 32);
        assert_eq!(user("```\nlet x = y;\n```"), (20 + 12) / 4);
    }

    #[test]
    fn a10_cues_are_whole_words() {
        for plain in [
            "note that now",
            "nothing knots",
            "I know the mustard",
            "snow is noted",
        ] {
            assert!(!is_commitment(plain), "{plain}");
        }
        for bound in [
            "No fish",
            "we MUST go",
            "I don’t eat it",
            "from now on, call",
            "not now",
        ] {
            assert!(is_commitment(bound), "{bound}");
        }
    }

    #[test]
    fn a10_open_questions_first_and_late_sentences_gain() {
        let place = |is_first, is_answered, lateness_permille| Place {
            is_first,
            is_answered,
            lateness_permille,
        };
        let of = |place: &Place| score("which soup is hot?", Speaker::Assistant, place, &[]);
        assert_eq!(of(&place(false, true, 0)), 8);
        assert_eq!(of(&place(false, false, 0)), 28);
        assert_eq!(of(&place(true, true, 0)), 14);
        assert_eq!(of(&place(false, true, 1_000)), 14);
    }

    #[test]
    fn a10_a_turned_meaning_has_other_words() {
        assert_ne!(
            telling_words("I want fish"),
            telling_words("I don't want fish")
        );
        assert_eq!(
            telling_words("I don’t want fish"),
            telling_words("I do not want any fish")
        );
        assert!(telling_words("Hi! Thanks, that is it!").is_empty());
    }
}
