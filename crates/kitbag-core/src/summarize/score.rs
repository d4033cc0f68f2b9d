//! The points of a sentence in a summary, by rules.
//!
//! | rule | points |
//! |---|---|
//! | who said it: the user, an older summary, the assistant, the assistant asking or proposing | 20, 15, 8, 8 |
//! | the user speaks in the first person: "I", "my", "we" | 20 |
//! | the ref or label of an entity, each of up to three | 12 |
//! | a number, date, time or amount, each of up to three | 10 |
//! | a name: capitalised inside the sentence, each of up to three | 8 |
//! | something quoted or marked as code, each of up to two | 6 |
//! | the first sentence of what somebody said | 3 |
//! | said later: of all sentences, the last | up to 6 |
//! | all this, of fenced code | a quarter |
//! | all this, of a question that was answered | half |
//! | all this, with fewer than eight telling words | an eighth for each |
//! | a decision or an obligation: "let's", "decided", "must", "from now on" | 30; 15 not from the user |
//! | a preference or a limit: "prefer", "never", "without", "allergic" | 20; 10 not from the user |
//! | a question that nobody has answered | 20 |
//! | these three, with fewer than three telling words | a third for each |
//!
//! Measured on five long chats of two friends each, whole sentences that later questions are about: a
//! quarter of the length keeps 46% of them, where the first quarter of the text keeps 34%, the last 16%
//! and sentences at random 25%. The points were chosen on the same chats.
//!
//! The cues are English; in other languages the other rules decide. They are whole words: "now" and
//! "note" are not "no".

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::extract::Speaker;
use super::sentences::{is_fence, is_question};
use crate::text;

/// The number of telling words in a sentence that says something in full.
const FULL_CONTENT: u32 = 8;
/// The same for a sentence that decides, limits or asks something: these are shorter.
const FULL_BOND: u32 = 3;

/// The place of a sentence.
pub(super) struct Place {
    /// Set if it is the first sentence of its utterance.
    pub(super) is_first: bool,
    /// Set if somebody else spoke after it.
    pub(super) is_answered: bool,
    /// Its place among all sentences, in thousandths.
    pub(super) lateness_permille: u32,
}

/// Returns the points of a sentence, whose telling words are `words`.
pub(super) fn score(
    sentence: &str,
    words: &BTreeSet<String>,
    speaker: Speaker,
    place: &Place,
    names: &[String],
) -> u32 {
    let plain = plain_words(sentence);
    let asks = is_question(sentence);
    let mut content = match speaker {
        Speaker::User => 20,
        Speaker::Summary => 15,
        Speaker::Assistant | Speaker::Proposal | Speaker::Question => 8,
    };
    // Rule by rule, in the order of the table above.
    content += 20 * u32::from(speaker == Speaker::User && holds(&plain, &ONESELF));
    content += 12 * at_most(3, known_names(sentence, names));
    content += 10 * at_most(3, numbers(sentence));
    content += 8 * at_most(3, capitalised_names(sentence));
    content += 6 * at_most(2, marked(sentence));
    content += 3 * u32::from(place.is_first);
    content += 6 * place.lateness_permille / 1_000;
    if is_fence(sentence) {
        content /= 4;
    }
    if asks && place.is_answered {
        content /= 2;
    }
    // Apart from the other points, since a sentence that binds is complete with fewer words.
    let mut bound = 30 * u32::from(holds(&plain, &DECISIONS));
    bound += 20 * u32::from(holds(&plain, &PREFERENCES));
    if speaker != Speaker::User {
        bound /= 2;
    }
    bound += 20 * u32::from(asks && !place.is_answered);
    let words = word_count(words);
    content * words.min(FULL_CONTENT) / FULL_CONTENT + bound * words.min(FULL_BOND) / FULL_BOND
}

/// Counts words; a script without spaces has one for every two characters.
fn word_count(words: &BTreeSet<String>) -> u32 {
    let count = |word: &String| match word.chars().count() {
        length if word.contains(|char| char >= '\u{2E80}') => length.div_ceil(2),
        _ => 1,
    };
    u32::try_from(words.iter().map(count).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Tells whether a sentence decides, promises or obliges, or names a preference or a limit.
pub(super) fn is_commitment(sentence: &str) -> bool {
    let plain = plain_words(sentence);
    holds(&plain, &DECISIONS) || holds(&plain, &PREFERENCES)
}

/// Tells whether a sentence of the user holds from then on, and must not be lost when a
/// conversation is shortened.
pub(crate) fn binds(sentence: &str) -> bool {
    const LASTING: [&str; 4] = ["always", "every time", "keep", "whenever"];
    is_commitment(sentence) || holds(&plain_words(sentence), &LASTING)
}

/// Returns the words that tell a sentence from another: stems without grammar, but with the little
/// words that turn its meaning.
pub(super) fn telling_words(sentence: &str) -> BTreeSet<String> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let turns = lower
        .split(|char: char| !char.is_alphanumeric() && char != '\'')
        .filter(|word| text::is_listed(TURNING, word) || word.ends_with("n't"));
    // "don't want" and "do not want" must meet.
    let spelled_out = |word: &str| if word.ends_with("n't") { "not" } else { word }.to_owned();
    let mut words: BTreeSet<String> = turns.map(spelled_out).collect();
    let telling = text::identifiers(&lower).map(|(_, word)| word);
    let telling =
        telling.filter(|word| !text::is_stop_word(word) && !text::is_listed(GREETINGS, word));
    words.extend(telling.map(|word| text::stem(word).to_owned()));
    words
}

const ONESELF: [&str; 9] = ["i", "i'd", "i'm", "i've", "me", "my", "our", "us", "we"];

const GREETINGS: &str = "bye cheers hello hey hi welcome";

const TURNING: &str = "cancel cannot except must never no none not only prefer want without";

#[rustfmt::skip]
const DECISIONS: [&str; 35] = [
    "agreed", "approved", "as of", "book it", "cancel", "chose", "confirmed", "deadline", "decide",
    "decided", "decision", "due", "from now on", "go for", "go with", "going with", "has to",
    "have to", "i will", "i'll", "let us", "let's", "make sure", "must", "need to", "needs to",
    "picked", "promise", "remember that", "remember to", "settled on", "we agree", "we will", "we'll",
    "will do",
];

#[rustfmt::skip]
const PREFERENCES: [&str; 31] = [
    "allergic", "allergy", "at least", "at most", "avoid", "can't", "cannot", "do not", "does not",
    "doesn't", "don't", "dont", "except", "favorite", "favourite", "hate", "i want", "i'd like",
    "instead of", "never", "no", "no longer", "no more", "only", "prefer", "prefers", "rather",
    "we want", "without", "won't", "would like",
];

/// Returns the sentence in lower case, its words between single spaces, with one before and one
/// behind.
fn plain_words(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|char: char| !char.is_alphanumeric() && char != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    format!(" {} ", words.join(" "))
}

/// Tells whether one of the cues stands between spaces.
fn holds(plain: &str, cues: &[&str]) -> bool {
    // There is a space around every word, so that only whole words are cues.
    let is_at = |at: usize, cue: &str| {
        let before = plain.get(..at).is_some_and(|text| text.ends_with(' '));
        let after = plain.get(at + cue.len()..);
        before && after.is_some_and(|text| text.starts_with(' '))
    };
    let mut places = cues.iter().flat_map(|cue| plain.match_indices(cue));
    places.any(|(at, cue)| is_at(at, cue))
}

fn known_names(sentence: &str, names: &[String]) -> usize {
    let found = |name: &&String| !name.is_empty() && sentence.contains(name.as_str());
    names.iter().filter(found).count()
}

/// Counts the words that hold a digit or name a day.
fn numbers(sentence: &str) -> usize {
    const DAYS: &str = "monday tuesday wednesday thursday friday saturday sunday \
                        today tomorrow tonight";
    let is_number = |word: &&str| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        word.contains(char::is_numeric) || text::is_listed(DAYS, &word.to_lowercase())
    };
    sentence.split_whitespace().filter(is_number).count()
}

/// Counts the runs of capitalised words inside the sentence, and at its beginning those of several
/// words. A person who is only spoken to does not count: "Thanks, Anna!"
fn capitalised_names(sentence: &str) -> usize {
    let mut runs: Vec<Run> = Vec::new();
    let mut before = "";
    let (mut in_run, mut ends_in_name) = (false, false);
    for (index, word) in sentence.split_whitespace().enumerate() {
        let bare = word.trim_start_matches(|char: char| !char.is_alphanumeric());
        // "I" is capitalised anywhere and names nobody.
        let pronoun = bare == "I" || bare.starts_with("I'") || bare.starts_with("I’");
        let is_name = bare.starts_with(char::is_uppercase) && !pronoun;
        if is_name {
            match runs.last_mut().filter(|_| in_run) {
                Some(run) => run.words += 1,
                None => runs.push(Run {
                    words: 1,
                    is_first: index == 0,
                    after_comma: before.ends_with(','),
                }),
            }
        }
        ends_in_name = is_name;
        // "Anna, Ben" are two names.
        in_run = is_name && !word.ends_with(',');
        before = word;
    }
    let spoken_to = ends_in_name && runs.last().is_some_and(|run| run.after_comma);
    let names = runs.iter().filter(|run| !run.is_first || run.words > 1);
    names.count().saturating_sub(usize::from(spoken_to))
}

struct Run {
    words: usize,
    is_first: bool,
    after_comma: bool,
}

/// Counts the pieces that are quoted or marked as code.
fn marked(sentence: &str) -> usize {
    // Marks that look alike at both ends come in pairs; of the others the opening ones count.
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

    const MIDDLE: Place = Place {
        is_first: false,
        is_answered: true,
        lateness_permille: 0,
    };

    fn at(sentence: &str, speaker: Speaker, place: &Place) -> u32 {
        let names = ["Lemon Soup".to_owned(), "recipe_1".to_owned()];
        score(sentence, &telling_words(sentence), speaker, place, &names)
    }

    /// The points of a sentence of eight telling words, and those that `more` brings.
    fn gain(more: &str) -> i64 {
        const PLAIN: &str = "green ships cross warm oceans towards tall islands";
        let plain = at(PLAIN, Speaker::User, &MIDDLE);
        assert_eq!(plain, 20);
        i64::from(at(&format!("{PLAIN} {more}"), Speaker::User, &MIDDLE)) - i64::from(plain)
    }

    #[test]
    fn a10_each_rule_counts() {
        for (more, points) in [
            ("slowly", 0),
            ("let’s", 30),
            ("unless they must", 30),
            ("without", 20),
            ("as I said", 20),
            ("at 7", 10),
            ("on friday", 10),
            ("1 2 3 4", 30),
            ("of Anna Berg", 8),
            ("of Anna and Bo", 16),
            ("dear, Anna!", 0),
            ("see \"it\" in `there`", 12),
            ("and recipe_1", 12 + 10),
            ("to Lemon Soup", 12 + 8),
            ("or do they?", -10),
        ] {
            assert_eq!(gain(more), points, "{more}");
        }
    }

    #[test]
    fn a10_speaker_and_place_count() {
        let plain = "green ships cross warm oceans towards tall islands";
        for (speaker, points) in [
            (Speaker::User, 20),
            (Speaker::Summary, 15),
            (Speaker::Assistant, 8),
            (Speaker::Proposal, 8),
            (Speaker::Question, 8),
        ] {
            assert_eq!(at(plain, speaker, &MIDDLE), points);
        }
        let bound = format!("let's say {plain}");
        assert_eq!(at(&bound, Speaker::Assistant, &MIDDLE), 8 + 15);
        let first = Place {
            is_first: true,
            ..MIDDLE
        };
        assert_eq!(at(plain, Speaker::User, &first), 23);
        let last = Place {
            lateness_permille: 1_000,
            ..MIDDLE
        };
        assert_eq!(at(plain, Speaker::User, &last), 26);
        let open = Place {
            is_answered: false,
            ..MIDDLE
        };
        let question = format!("{plain}?");
        assert_eq!(at(&question, Speaker::Assistant, &open), 28);
        assert_eq!(at(&question, Speaker::Assistant, &MIDDLE), 4);
    }

    #[test]
    fn a10_who_says_little_gets_little() {
        let user = |sentence: &str| at(sentence, Speaker::User, &MIDDLE);
        assert_eq!(user("Soup!"), 20 / 8);
        assert_eq!(user("Agreed, Anna!"), 20 * 2 / 8 + 30 * 2 / 3);
        assert_eq!(
            user("```\ngreen ships cross warm oceans towards tall islands\n```"),
            (20 + 12) / 4
        );
        assert_eq!(user("私たちは来月の旅行について話しました"), 20);
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
            "no, now",
        ] {
            assert!(is_commitment(bound), "{bound}");
        }
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
