//! The language of a piece of text, with its stop words and stems.
//!
//! Decided by script and by counting stop words, so that the same text always has the same
//! language. Short texts often show none: they count as [`Language::English`] when they are
//! indexed, and as any language of their script when they are queries.

mod grammar;
mod irregular;

use alloc::string::String;
use alloc::vec::Vec;

use snowstem::{Algorithm, Stemmer};

use super::fold::folded;
use super::script::Script;

/// A language whose grammar is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Polish,
    Czech,
    Romanian,
    Hungarian,
    Turkish,
    Russian,
    Greek,
    Arabic,
    Tamil,
}

/// The languages that a word is grammar of, a bit each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Languages(u32);

impl Languages {
    /// Returns the languages of a word without accents.
    pub(super) fn of(folded: &str) -> Self {
        Self(grammar::languages(folded))
    }

    /// Tells whether the word is grammar in a language.
    pub(super) const fn has(self, language: Language) -> bool {
        self.0 & (1 << language as u32) != 0
    }
}

/// The number of words that show the language of a text.
const READ: usize = 30;
/// The number of them that may be another language's by chance: an English cat is Romanian grammar.
const BY_CHANCE: usize = 1;

impl Language {
    /// The languages that are written in Latin letters, the commonest first.
    pub(super) const LATIN: [Self; 16] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Italian,
        Self::Portuguese,
        Self::Dutch,
        Self::Swedish,
        Self::Danish,
        Self::Norwegian,
        Self::Finnish,
        Self::Polish,
        Self::Czech,
        Self::Romanian,
        Self::Hungarian,
        Self::Turkish,
    ];

    /// The other languages, each of which its script tells.
    const BY_SCRIPT: [Self; 4] = [Self::Russian, Self::Greek, Self::Arabic, Self::Tamil];

    /// Returns the language of a text's Latin words: the one with most of its stop words among
    /// them.
    #[must_use]
    pub(super) fn of_latin(words: &[Languages]) -> Self {
        let mut best = (BY_CHANCE, Self::English);
        for (count, language) in Self::evidence(words.iter().copied()) {
            // Strictly more, so that the commoner language, which comes first, wins ties.
            if count > best.0 {
                best = (count, language);
            }
        }
        best.1
    }

    /// Returns the languages that the Latin words of a short text may be in: all that have the most
    /// stop words there. A text with hardly any may be in every language.
    #[must_use]
    pub(crate) fn likeliest(folded: &[impl AsRef<str>]) -> Vec<Self> {
        let words = folded.iter().map(|word| Languages::of(word.as_ref()));
        let counts = Self::evidence(words);
        let most = counts.iter().map(|&(count, _)| count).max().unwrap_or(0);
        if most <= BY_CHANCE {
            return Self::LATIN.to_vec();
        }
        let likely = counts.into_iter().filter(|&(count, _)| count == most);
        likely.map(|(_, language)| language).collect()
    }

    /// Returns the language of a word that is not Latin, by its script alone; none if words of the
    /// script are not stemmed.
    #[must_use]
    pub(crate) const fn of_script(script: Script) -> Option<Self> {
        match script {
            Script::Cyrillic => Some(Self::Russian),
            Script::Greek => Some(Self::Greek),
            Script::Arabic => Some(Self::Arabic),
            Script::Tamil => Some(Self::Tamil),
            Script::Latin | Script::Unspaced | Script::Symbol | Script::Other => None,
        }
    }

    /// Tells whether a folded word is grammar in this language and says nothing about a topic.
    #[must_use]
    pub fn is_stop_word(self, folded: &str) -> bool {
        Languages::of(folded).has(self)
    }

    /// Returns the stem of a lower-case word, without accents.
    ///
    /// ```
    /// use kitbag_core::text::Language;
    ///
    /// assert_eq!(Language::English.stem("went"), Language::English.stem("going"));
    /// assert_eq!(Language::German.stem("häuser"), Language::German.stem("haus"));
    /// ```
    #[must_use]
    pub fn stem(self, word: &str) -> String {
        let regular = match self {
            // A stemmer takes endings off, which does not lead from `went` to `go`.
            Self::English => irregular::base(word).unwrap_or(word),
            _ => word,
        };
        let stem = Stemmer::create(self.rules().0).stem(regular);
        if stem.is_ascii() {
            return stem.into_owned();
        }
        // Accents come off last: stemmers know the endings that have them.
        folded(&stem).into_owned()
    }

    /// Counts the stop words of each Latin language at the beginning of a text.
    fn evidence(words: impl Iterator<Item = Languages>) -> [(usize, Self); Self::LATIN.len()] {
        // One place for each bit, so that the loop needs no table of languages.
        let mut counts = [0; u32::BITS as usize];
        for Languages(mut languages) in words.take(READ) {
            while languages != 0 {
                if let Some(count) = counts.get_mut(languages.trailing_zeros() as usize) {
                    *count += 1;
                }
                languages &= languages - 1;
            }
        }
        let count = |language| counts.get(language as usize).copied().unwrap_or(0);
        Self::LATIN.map(|language| (count(language), language))
    }

    /// Returns the stemmer of the language, and its stop words: grammar that says nothing about a
    /// topic, without accents. The lists are short on purpose: longer ones found nothing more, and
    /// take away words that people ask for.
    const fn rules(self) -> (Algorithm, &'static str) {
        match self {
            Self::English => (Algorithm::English, include_str!("stop_words/english.txt")),
            Self::German => (Algorithm::German, include_str!("stop_words/german.txt")),
            Self::French => (Algorithm::French, include_str!("stop_words/french.txt")),
            Self::Spanish => (Algorithm::Spanish, include_str!("stop_words/spanish.txt")),
            Self::Italian => (Algorithm::Italian, include_str!("stop_words/italian.txt")),
            Self::Portuguese => (
                Algorithm::Portuguese,
                include_str!("stop_words/portuguese.txt"),
            ),
            Self::Dutch => (Algorithm::Dutch, include_str!("stop_words/dutch.txt")),
            Self::Swedish => (Algorithm::Swedish, include_str!("stop_words/swedish.txt")),
            Self::Danish => (Algorithm::Danish, include_str!("stop_words/danish.txt")),
            Self::Norwegian => (
                Algorithm::Norwegian,
                include_str!("stop_words/norwegian.txt"),
            ),
            Self::Finnish => (Algorithm::Finnish, include_str!("stop_words/finnish.txt")),
            Self::Polish => (Algorithm::Polish, include_str!("stop_words/polish.txt")),
            Self::Czech => (Algorithm::Czech, include_str!("stop_words/czech.txt")),
            Self::Romanian => (Algorithm::Romanian, include_str!("stop_words/romanian.txt")),
            Self::Hungarian => (
                Algorithm::Hungarian,
                include_str!("stop_words/hungarian.txt"),
            ),
            Self::Turkish => (Algorithm::Turkish, include_str!("stop_words/turkish.txt")),
            Self::Russian => (Algorithm::Russian, include_str!("stop_words/russian.txt")),
            Self::Greek => (Algorithm::Greek, include_str!("stop_words/greek.txt")),
            Self::Arabic => (Algorithm::Arabic, include_str!("stop_words/arabic.txt")),
            Self::Tamil => (Algorithm::Tamil, include_str!("stop_words/tamil.txt")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;
    use proptest::prelude::*;

    fn language(text: &str) -> Language {
        let words = text.split(' ');
        let words: Vec<Languages> = words
            .map(|word| Languages::of(&fold(&word.to_lowercase())))
            .collect();
        Language::of_latin(&words)
    }

    #[test]
    fn x04_languages_are_told_by_their_grammar() {
        for (text, expected) in [
            ("where did we put the keys", Language::English),
            ("wo haben wir die Schlüssel hingelegt", Language::German),
            ("où avons nous mis les clés", Language::French),
            ("dónde pusimos las llaves de mi casa", Language::Spanish),
            ("dove abbiamo messo le chiavi di casa", Language::Italian),
            (
                "onde foi que eu deixei as minhas chaves",
                Language::Portuguese,
            ),
            ("waar hebben we de sleutels neergelegd", Language::Dutch),
            ("var har vi lagt våra nycklar och inte", Language::Swedish),
            ("gdzie jest mój klucz i dlaczego", Language::Polish),
            ("anahtarlar nerede ve neden bu kadar", Language::Turkish),
            ("keys", Language::English),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn x04_forms_of_a_word_have_one_stem() {
        for (language, forms) in [
            (Language::English, ["studies", "studying", "studied"]),
            (Language::German, ["kind", "kinder", "kindern"]),
            (Language::French, ["continu", "continue", "continuer"]),
            (Language::Spanish, ["gato", "gatos", "gatas"]),
            (Language::Italian, ["libro", "libri", "libro"]),
            (Language::Portuguese, ["menino", "meninos", "menina"]),
            (Language::Swedish, ["flicka", "flickor", "flickorna"]),
            (Language::Russian, ["книга", "книги", "книгу"]),
        ] {
            let stems = forms.map(|form| language.stem(form));
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
    }

    proptest! {
        #[test]
        fn x04_no_word_makes_a_stemmer_fail(
            latin in "[a-zà-öø-ÿāăćčđęěğıłńňőœřśşšťůűźżžßșț']{0,24}",
            cyrillic in "[а-яё]{0,24}",
            greek in "[α-ωάέήίόύώϊϋ]{0,24}",
            arabic in "[\u{621}-\u{652}]{0,24}",
            tamil in "[\u{b85}-\u{bcd}]{0,24}",
            any in ".{0,12}",
        ) {
            let others = [Language::Russian, Language::Greek, Language::Arabic, Language::Tamil];
            for language in Language::LATIN.into_iter().chain(others) {
                for word in [&latin, &cyrillic, &greek, &arabic, &tamil, &any] {
                    let stem = language.stem(word);
                    prop_assert_eq!(stem, language.stem(word));
                }
            }
        }
    }
}
