//! A text that would leave no room for anything else keeps its beginning and its end.

use kitbag_core::tokens::{TokenCounter, Tokens};

use crate::words::head_and_tail;

/// Shortens `text` to at most `most` tokens, if it has more, though not to less than the mark that
/// stands where it was cut.
pub(crate) fn shorten(text: &str, most: Tokens, counter: &dyn TokenCounter) -> Option<String> {
    (counter.count(text) > most).then(|| cut(text, most, counter))
}

/// Shortens a text that is known to have more tokens, likewise.
pub(crate) fn cut(text: &str, most: Tokens, counter: &dyn TokenCounter) -> String {
    let fits = |bytes| counter.count(&head_and_tail(text, bytes)) <= most;
    // Starts from the usual size of that many tokens: a text of megabytes must not be counted again and again.
    let (mut low, mut high) = (0, (most.0 as usize).saturating_mul(BYTES).max(2));
    while high < text.len() && fits(high) {
        (low, high) = (high, high.saturating_mul(2));
    }
    high = high.min(text.len());
    // The largest part that fits; a text with more of the text never has fewer tokens by much, and
    // what is returned is counted.
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    head_and_tail(text, low)
}

/// The bytes of a token in most texts, and a few more.
const BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

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

    /// Counts also the bytes that it reads.
    struct Measured(Counter, AtomicUsize);

    impl TokenCounter for Measured {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn count(&self, text: &str) -> Tokens {
            self.1.fetch_add(text.len(), Ordering::Relaxed);
            self.0.count(text)
        }
    }

    #[test]
    fn t08_a_huge_text_is_counted_once() {
        let counter = Measured(Counter::for_model("gpt-4o").unwrap(), AtomicUsize::new(0));
        for line in ["a line of a log\n", "x", "\u{1f980}\n", " "] {
            let text = line.repeat((2 << 20) / line.len());
            let before = counter.1.load(Ordering::Relaxed);
            let short = shorten(&text, Tokens(500), &counter).unwrap();
            let read = counter.1.load(Ordering::Relaxed) - before;
            assert!(counter.count(&short) <= Tokens(500), "{line:?}");
            assert!(counter.count(&short) > Tokens(450), "{line:?}");
            assert!(read < text.len() * 3 / 2, "{line:?}: {read}");
        }
    }
}
