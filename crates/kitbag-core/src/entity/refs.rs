//! The spelling of refs, and the search for them in a text.
//!
//! A ref is a word and a number joined by an underscore: `recipe_1`, `gen_meal_plan_12`. The
//! number is what follows the last underscore, so two different words never give the same ref.

use alloc::string::String;

/// The beginning of a draft's ref.
pub(super) const DRAFT_PREFIX: &str = "gen_";

/// Returns the word that refs of `entity_type` start with: `recipes` gives `recipe`.
///
/// Lower case, with an underscore for everything that is not a letter or a digit, and without a
/// plural `s`. It never starts with `gen_`, which is kept for drafts, so that the refs of the
/// type `gen_x` cannot meet those of the drafts of `x`.
pub(super) fn ref_stem(entity_type: &str) -> String {
    let mut stem: String = entity_type
        .trim()
        .chars()
        .map(|char| if char.is_alphanumeric() { char } else { '_' })
        .flat_map(char::to_lowercase)
        .collect();
    // `glass`, `status` and `analysis` are no plurals.
    if stem.ends_with('s') && !["ss", "us", "is"].iter().any(|end| stem.ends_with(end)) {
        stem.pop();
    }
    // In a loop, since `gen__x` becomes `gen_x`, which starts with the prefix again.
    while let Some(rest) = stem.strip_prefix(DRAFT_PREFIX) {
        stem = alloc::format!("gen{rest}");
    }
    if stem.is_empty() {
        String::from("entity")
    } else {
        stem
    }
}

/// Splits a ref into its word and its number, if it is spelled like one.
pub(crate) fn split_ref(reference: &str) -> Option<(&str, u64)> {
    let (stem, number) = reference.rsplit_once('_')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !stem.is_empty()).then(|| number.parse().ok().map(|number| (stem, number)))?
}

/// Tells whether `reference` stands in a text as a word of its own, in any case.
///
/// The caller lowers the text once, since it asks for many refs.
pub(super) fn is_mentioned(lower_text: &str, reference: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let reference = reference.to_lowercase();
    lower_text.match_indices(&reference).any(|(start, _)| {
        let before = lower_text
            .get(..start)
            .and_then(|text| text.chars().next_back());
        let after = lower_text
            .get(start + reference.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
