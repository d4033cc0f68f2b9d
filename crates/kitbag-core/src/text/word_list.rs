//! Lists of words that are separated by white space. Long ones are files, which the compiler cuts.

/// Tells whether a word stands in a short list.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Cuts a list into its `N` words.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses what is out of bounds"
)]
pub(crate) const fn word_list<const N: usize>(mut list: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let mut count = 0;
    while let Some((word, rest)) = split_first_word(list) {
        words[count] = word;
        count += 1;
        list = rest;
    }
    assert!(count == N, "the list has fewer words");
    words
}

/// Splits off the first word of a list.
pub(super) const fn split_first_word(list: &str) -> Option<(&str, &str)> {
    let list = list.trim_ascii_start();
    // A constant function cannot search a text, only look at one byte after the other.
    let mut rest = list.as_bytes();
    while let [first, after @ ..] = rest
        && !first.is_ascii_whitespace()
    {
        rest = after;
    }
    let length = list.len() - rest.len();
    if length == 0 {
        return None;
    }
    Some(list.split_at(length))
}
