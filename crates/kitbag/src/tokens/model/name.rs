//! The spellings of a model's name, and names that look alike.

use std::borrow::Cow;
use std::iter::successors;

/// The name in lower case, then without what providers put in front: `openai/`, `us.anthropic.`, `ft:`.
pub(super) fn spellings(model: &str) -> impl Iterator<Item = String> {
    successors(Some(model.trim().to_lowercase()), |name| {
        let (_, rest) = name.split_once(['/', ':', '.'])?;
        Some(rest.to_owned())
    })
}

/// Tells whether a name belongs to a family. A number must end with the prefix: `o1` is not `o11`.
pub(super) fn begins_with(name: &str, prefix: &str) -> bool {
    let ends_in_digit = prefix.ends_with(|c: char| c.is_ascii_digit());
    name.strip_prefix(prefix)
        .is_some_and(|rest| !ends_in_digit || !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The catalogue's spelling of a name: some people write the versions of Claude with a dot.
pub(super) fn canonical(spelling: &str) -> Cow<'_, str> {
    match spelling.starts_with("claude") {
        true => spelling.replace('.', "-").into(),
        false => spelling.into(),
    }
}

/// Tells whether a name is that of the model itself, followed by nothing but a date or a stage. A
/// single digit is no date but another version.
pub(super) fn is_version(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else {
        return false;
    };
    let stage = rest.trim_start_matches(['-', '@', ':']);
    // Dates are written `20240718`, `2024-07-18` or `0613`.
    let is_date = stage.chars().take_while(char::is_ascii_digit).count() >= 4;
    let is_stage = matches!(stage, "latest" | "preview" | "exp");
    rest.is_empty() || (stage.len() < rest.len() && (is_date || is_stage))
}

/// Up to three candidates of which `model` may be a misspelling, nearest first.
pub(super) fn nearest<'a>(model: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let written = model.trim().to_lowercase();
    let name = written.rsplit('/').next().unwrap_or_default();
    let mut ranked: Vec<(usize, &str)> = candidates
        .map(|candidate| (distance(name, candidate), candidate))
        // With more than a third of the characters wrong, a suggestion would be a guess.
        .filter(|(distance, candidate)| *distance <= candidate.len() / 3)
        .collect();
    ranked.sort_unstable();
    // A family may be named as one of its models.
    ranked.dedup();
    ranked.truncate(3);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The number of characters to add, remove or replace to turn the beginning of `name`, as long as
/// `candidate` or a little longer, into `candidate`: the rest of a name does not matter.
fn distance(name: &str, candidate: &str) -> usize {
    // Row by row over the candidate; a column is a length of the name's beginning.
    let name: Vec<char> = name.chars().take(candidate.len() + 2).collect();
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (done, expected) in candidate.chars().enumerate() {
        let mut next = vec![done + 1];
        for (pair, &written) in row.windows(2).zip(&name) {
            if let ([before, above], Some(&left)) = (pair, next.last()) {
                let replaced = before + usize::from(written != expected);
                next.push(replaced.min(above + 1).min(left + 1));
            }
        }
        row = next;
    }
    // The least over all lengths of the beginning.
    row.into_iter().min().unwrap_or(candidate.len())
}
