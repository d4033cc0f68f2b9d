//! A text that would leave no room for anything else keeps its beginning and its end.

use kitbag_core::tokens::{TokenCounter, Tokens};

use crate::words::head_and_tail;

/// Shortens `text` to at most `most` tokens, if it has more, though not to less than the mark that
/// stands where it was cut.
pub(crate) fn shorten(text: &str, most: Tokens, counter: &dyn TokenCounter) -> Option<String> {
    if counter.count(text) <= most {
        return None;
    }
    // The largest part that fits; a text with more of the text never has fewer tokens by much, and
    // what is returned is counted.
    let (mut low, mut high) = (0, text.len());
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if counter.count(&head_and_tail(text, middle)) <= most {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(head_and_tail(text, low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Counter;

    #[test]
    fn p02_a_long_task_keeps_its_beginning_and_its_end() {
        let counter = Counter::for_model("gpt-4o").unwrap();
        let task = format!(
            "fix the login\n{}\nthanks, Ann",
            "a line of a log\n".repeat(5_000)
        );
        let short = shorten(&task, Tokens(500), &counter).unwrap();
        assert!(counter.count(&short) <= Tokens(500));
        assert!(counter.count(&short) > Tokens(450));
        assert!(short.starts_with("fix the login\n") && short.ends_with("thanks, Ann"));
        assert_eq!(shorten("short", Tokens(500), &counter), None);
    }
}
