//! Whole words and phrases in a message, in any script.

use kitbag_core::text::{Script, tokens};

/// The words of a text, in lower case.
pub(crate) struct Words(Vec<Word>);

struct Word {
    text: String,
    /// The end in the text, in bytes.
    end: usize,
    is_spaced: bool,
}

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let mut words: Vec<Word> = Vec::new();
        for token in tokens(text) {
            let is_spaced = token.script != Script::Unspaced;
            match words.last_mut() {
                // Long runs come in pieces, and a word may stand across two of them.
                Some(last) if !is_spaced && !last.is_spaced && last.end == token.start => {
                    last.text.push_str(&token.word);
                    last.end = token.end;
                }
                _ => words.push(Word {
                    text: token.word.into_owned(),
                    end: token.end,
                    is_spaced,
                }),
            }
        }
        Self(words)
    }

    /// Whether the words of a phrase stand here one after the other. In scripts that put no spaces between
    /// words, a word may stand anywhere in a run.
    pub(crate) fn have(&self, phrase: &Self) -> bool {
        let length = phrase.0.len();
        length > 0
            && self
                .0
                .windows(length)
                .any(|window| is_phrase(window, &phrase.0))
    }
}

fn is_phrase(window: &[Word], phrase: &[Word]) -> bool {
    let last = phrase.len() - 1;
    let mut pairs = window.iter().zip(phrase).enumerate();
    pairs.all(|(at, (here, word))| {
        let (here, is_spaced) = (here.text.as_str(), here.is_spaced || word.is_spaced);
        let word = word.text.as_str();
        match (at == 0, at == last) {
            _ if is_spaced => here == word,
            (true, true) => here.contains(word),
            (true, false) => here.ends_with(word),
            (false, true) => here.starts_with(word),
            (false, false) => here == word,
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn has(message: &str, phrase: &str) -> bool {
        Words::of(message).have(&Words::of(phrase))
    }

    #[test]
    fn o10_a_trigger_is_a_whole_word_in_any_script() {
        for (message, phrase) in [
            ("How do I feed a Sourdough?", "sourdough"),
            ("RYE   bread, please", "rye bread"),
            ("a code-review of it", "code review"),
            ("Où est l'été", "été"),
            ("Как печь ХЛЕБ?", "хлеб"),
            ("ψωμί", "ΨΩΜΊ"),
            ("今日はパンを焼きたい", "パン"),
            ("我想烤面包", "面包"),
            ("आज रोटी बनाओ", "रोटी"),
            ("C++ or C#?", "c#"),
            ("party 🎉!", "🎉"),
        ] {
            assert!(has(message, phrase), "{message}: {phrase}");
        }
        for (message, phrase) in [
            ("sourdoughs", "sourdough"),
            ("the excellent one", "excel"),
            ("bread rye", "rye bread"),
            ("rye and bread", "rye bread"),
            ("хлебный", "хлеб"),
            ("", "x"),
            ("x", ""),
            ("what?!", "?!"),
        ] {
            assert!(!has(message, phrase), "{message}: {phrase}");
        }
    }

    proptest! {
        #[test]
        fn o10_a_trigger_matches_as_a_word_and_never_inside_one(
            word in "[a-zäéß]{2,8}", around in "[a-z]{1,3}", before in "[ .,!?(]", after in "[ .,!?)]",
        ) {
            let shouted = word.to_uppercase();
            prop_assume!(shouted.to_lowercase() == word);
            let message = format!("x{before}{shouted}{after}y");
            prop_assert!(has(&message, &word));
            let inside = format!("{around}{word}");
            prop_assert!(!has(&inside, &word));
            let inside = format!("{word}{around}");
            prop_assert!(!has(&inside, &word));
        }

        #[test]
        fn o10_no_message_and_no_phrase_panics(message in any::<String>(), phrase in any::<String>()) {
            let _ = has(&message, &phrase);
        }
    }
}
