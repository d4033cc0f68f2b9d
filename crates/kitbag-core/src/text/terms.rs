//! The terms by which a piece of text is found: stems, and pairs of characters in scripts without
//! spaces.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::fold::folded;
use super::language::{Language, Languages};
use super::script::Script;
use super::stem_cache::StemCache;
use super::tokens::Token;
use super::unspaced::stretches;

/// Longer terms are cut: nobody asks for the rest of an encoded image.
const LONGEST: usize = 40;

/// The terms of one piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The terms in the order of the text, without stop words.
    pub(crate) terms: Vec<String>,
    /// The number of words in the piece, for comparing lengths.
    pub(crate) words: usize,
}

/// Returns the terms under which a piece of text is indexed.
pub(crate) fn index_terms(tokens: &[Token<'_>], stems: &mut StemCache) -> Terms {
    let folded: Vec<Cow<'_, str>> = tokens.iter().map(|token| folded(&token.word)).collect();
    let grammar: Vec<Languages> = folded.iter().map(|word| Languages::of(word)).collect();
    let latin = Language::of_latin(&grammar);
    let mut found = Terms {
        terms: Vec::with_capacity(tokens.len()),
        words: 0,
    };
    for ((token, folded), grammar) in tokens.iter().zip(&folded).zip(grammar) {
        if token.script == Script::Unspaced {
            let grams = grams(&token.word, Singles::OfMeaning);
            found.words += token.word.chars().count().div_ceil(2);
            found.terms.extend(grams);
            continue;
        }
        let language = language_of(token, latin);
        if language.is_some_and(|language| grammar.has(language)) {
            continue;
        }
        found.words += 1;
        found.terms.push(match language {
            Some(language) => cut(stems.stem(language, &token.word)),
            None => cut(folded.as_ref().into()),
        });
    }
    found
}

/// Returns the words of a query: each with the place of its token and the terms under which it may
/// be indexed, the likeliest first.
pub(crate) fn query_terms(tokens: &[Token<'_>]) -> Vec<(usize, Vec<String>)> {
    let folded: Vec<Cow<'_, str>> = tokens.iter().map(|token| folded(&token.word)).collect();
    let mut languages = Language::likeliest(&folded);
    // Texts without stop words are indexed as English.
    if !languages.contains(&Language::English) {
        languages.push(Language::English);
    }
    let mut words = Vec::new();
    for (at, (token, folded)) in tokens.iter().zip(&folded).enumerate() {
        if token.script == Script::Unspaced {
            for stretch in stretches(&token.word) {
                let grams = grams(&stretch, Singles::Alone);
                words.extend(grams.map(|gram| (at, Vec::from([gram]))));
            }
            continue;
        }
        // A letter with an accent may be of another language than the words around it.
        let others = if token.word.is_ascii() {
            &[]
        } else {
            Language::LATIN.as_slice()
        };
        let possible: Vec<Option<Language>> = match token.script {
            Script::Latin => languages.iter().chain(others).copied().map(Some).collect(),
            other => Vec::from([Language::of_script(other)]),
        };
        // The likeliest language decides alone: grammar of another one may be a word of this.
        let likeliest = possible.first().copied().flatten();
        if likeliest.is_some_and(|language| language.is_stop_word(folded)) {
            continue;
        }
        let mut alternatives: Vec<String> = Vec::new();
        for language in possible {
            let term = cut(match language {
                Some(language) => language.stem(&token.word),
                None => folded.as_ref().into(),
            });
            if !alternatives.contains(&term) {
                alternatives.push(term);
            }
        }
        words.push((at, alternatives));
    }
    words
}

/// Returns the language of a token: Latin words share that of their text, the others go by script.
fn language_of(token: &Token<'_>, latin: Language) -> Option<Language> {
    match token.script {
        Script::Latin => Some(latin),
        other => Language::of_script(other),
    }
}

/// Cuts a term that is too long.
fn cut(mut term: String) -> String {
    if term.len() > LONGEST
        && let Some((end, _)) = term.char_indices().nth(LONGEST)
    {
        term.truncate(end);
    }
    term
}

/// The single characters that are terms besides the pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Singles {
    /// Those that may be words: Chinese characters and Korean syllables.
    OfMeaning,
    /// Only a character that stands alone.
    Alone,
}

/// Returns the pairs of neighbouring characters, and some characters alone.
fn grams(run: &str, singles: Singles) -> impl Iterator<Item = String> {
    // A single character has no pair by which it could be found.
    let alone = run.chars().nth(1).is_none();
    let ones = run
        .chars()
        .filter(move |&c| alone || (singles == Singles::OfMeaning && has_meaning(c)))
        .map(String::from);
    let pairs = run.chars().zip(run.chars().skip(1)).map(|(first, second)| {
        let mut pair = String::from(first);
        pair.push(second);
        pair
    });
    ones.chain(pairs)
}

fn has_meaning(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}
