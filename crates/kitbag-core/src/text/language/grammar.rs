//! The languages in which a word is grammar.

use super::Language;
use crate::text::word_table::WordTable;

type Table = WordTable<{ 1 << 13 }>;

/// The stop words of all languages, with a bit for each language that has the word.
static TABLE: Table = filled(filled(Table::EMPTY, &Language::LATIN), &Language::BY_SCRIPT);

/// Returns the languages that have this stop word, a bit each, by their number.
pub(super) fn languages(folded: &str) -> u32 {
    TABLE.bits(folded)
}

const fn filled(mut table: Table, mut languages: &[Language]) -> Table {
    // A constant function cannot have a `for` loop.
    while let [language, rest @ ..] = languages {
        table = table.with(language.rules().1, 1 << *language as u32);
        languages = rest;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn x04_the_table_holds_every_stop_word_and_no_other() {
        for language in Language::LATIN.into_iter().chain(Language::BY_SCRIPT) {
            let bit = 1 << language as u32;
            let words: Vec<&str> = language.rules().1.split_whitespace().collect();
            for word in &words {
                assert!(languages(word) & bit != 0, "{word}");
                assert_eq!(fold(word), *word, "{language:?}");
            }
            assert_eq!(TABLE.count(bit), words.len());
        }
        assert_eq!(languages("strength"), 0);
        assert_eq!(languages(""), 0);
    }
}
