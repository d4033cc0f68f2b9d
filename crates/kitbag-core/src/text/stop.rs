//! Words that say nothing about the topic of a task.

use super::word_list::word_list;

/// Tells whether a lower-case word is too common to mean anything: grammar, courtesy, and the
/// questions of forms.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Sorted, for the search.
static STOP_WORDS: [&str; 282] = word_list(include_str!("stop_words/tasks.txt"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("reproduce"));
        assert!(!is_stop_word("redirect"));
    }
}
