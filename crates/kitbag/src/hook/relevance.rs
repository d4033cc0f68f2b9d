//! Which recalled messages a prompt is worth being told.
//!
//! Recall ranks whatever shares a word with a query, the best against the others, so that something is
//! always first. Here a message must share enough of the prompt's words, and say something besides.

use std::collections::BTreeSet;

use kitbag_core::recall::analyse;

/// The judge of messages for a prompt.
pub(super) fn to(prompt: &str) -> impl Fn(&str) -> bool {
    let asked = terms(prompt);
    let needed = needed(asked.len());
    move |text| {
        let told = terms(text);
        let shared = told.intersection(&asked).count();
        shared >= needed && told.len() > shared
    }
}

/// The words that a message must share with a prompt of so many: one with a short question, more with
/// a long one, some of whose words stand in any message.
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
}
