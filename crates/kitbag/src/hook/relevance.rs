//! Chooses the recalled messages that are worth adding to a prompt.
//!
//! Recall ranks whatever shares a word with a query, the best against the others, so that something is
//! always first. Here a message must share enough of the prompt's words, and say something besides.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kitbag_core::recall::analyse;

/// The judge of messages for a prompt.
pub(super) fn to(prompt: &str) -> impl Fn(&str) -> bool {
    let asked = terms(prompt);
    let needed = needed(asked.len());
    move |text| {
        let told = terms(text);
        let shared = told.intersection(&asked).count();
        // A message with no other words is the question itself, asked before.
        shared >= needed && told.len() > shared
    }
}

/// The most bytes of a prompt that are searched for.
const LONGEST: usize = 4_000;

/// The beginning and the end of a prompt, one of which says what a long one is about: the middle is a log
/// or a file that somebody pasted, of which every word would be looked up.
pub(super) fn both_ends(prompt: &str) -> Cow<'_, str> {
    if prompt.len() <= LONGEST {
        return Cow::Borrowed(prompt);
    }
    let head = prompt.floor_char_boundary(LONGEST / 2);
    let tail = prompt.ceil_char_boundary(prompt.len() - LONGEST / 2);
    let [head, tail] = [prompt.get(..head), prompt.get(tail..)].map(Option::unwrap_or_default);
    Cow::Owned(format!("{head}\n{tail}"))
}

/// The number of words that a message must share with a prompt of this many: one with a short question,
/// more with a long one, some of whose words are in any message.
const fn needed(terms: usize) -> usize {
    match terms {
        0..=4 => 1,
        5..=12 => 2,
        _ => 3,
    }
}

/// The stems of the words that say something.
fn terms(text: &str) -> BTreeSet<String> {
    let passages = analyse(text).passages.into_iter();
    passages
        .flat_map(|passage| passage.terms.into_iter().map(|(term, _)| term))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x11_a_message_must_share_words_and_say_something_besides() {
        let asked = to("How do we deploy this?");
        assert!(asked("We deploy with fly.io, never with heroku."));
        assert!(!asked("The tests are slow."));
        assert!(
            !asked("Deploy!"),
            "it says nothing that the prompt does not"
        );
        let long = to(
            "Please rename the column total in the table orders to amount and run the migration",
        );
        assert!(!long("Please be brief."));
        assert!(long(
            "The migration of the table orders needs the column currency first."
        ));
        assert!(!to("go on")("We deploy with fly.io."));
    }

    #[test]
    fn x11_of_a_long_prompt_both_ends_are_looked_up() {
        let log = "é line of a log\n".repeat(10_000);
        let prompt = format!("Why does it fail?\n{log}Where do we deploy?");
        let asked = both_ends(&prompt);
        assert!(asked.len() <= LONGEST + 1);
        assert!(asked.starts_with("Why does it fail?") && asked.ends_with("Where do we deploy?"));
        assert_eq!(both_ends("short"), "short");
    }
}
