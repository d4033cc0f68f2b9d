//! Finds names that are similar to a misspelt one.

/// The most names that are offered.
const MOST: usize = 3;

/// The known name that is at most two letters away.
#[must_use]
pub fn within_two<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|&candidate| (distance(name, candidate), candidate))
        // Two changes turn any short name into any other, so less than half of the letters may
        // differ.
        .filter(|&(far, candidate)| far <= 2 && far * 2 < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// The most similar names, the nearest first, at most three.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut candidates: Vec<_> = known
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(far, candidate)| far * 2 <= name.chars().count().max(candidate.chars().count()))
        .collect();
    candidates.sort_unstable();
    // A bare name may exist in two namespaces.
    candidates.dedup();
    candidates
        .into_iter()
        .take(MOST)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}

fn distance(one: &str, two: &str) -> usize {
    strsim::osa_distance(&one.to_lowercase(), &two.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_recognised_and_other_words_are_not() {
        let known = ["provider", "role", "id"];
        assert_eq!(within_two("provdier", &known), Some("provider"));
        assert_eq!(within_two("Roles", &known), Some("role"));
        assert_eq!(within_two("url", &known), None);
        assert_eq!(within_two("temperature", &known), None);
    }

    #[test]
    fn the_nearest_come_first() {
        let known = ["kitbag/default", "review", "reviews", "preview", "revise"];
        assert_eq!(nearest("reveiw", known), ["review", "preview", "reviews"]);
        assert!(nearest("", known).is_empty());
    }
}
