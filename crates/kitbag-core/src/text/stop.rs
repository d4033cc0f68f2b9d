//! Words that say nothing about what a task is about.

/// Whether a lower-case word is too common to tell anything: grammar, courtesy, and what forms ask.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Sorted, for the search.
#[rustfmt::skip]
const STOP_WORDS: [&str; 282] = [
    "a", "about", "above", "actual", "actually", "additional", "affected", "after", "again", "all",
    "also", "am", "an", "and", "any", "are", "aren", "as", "at", "be",
    "because", "been", "before", "behavior", "behaviour", "being", "below", "between", "both", "bug",
    "but", "by", "can", "cannot", "checklist", "could", "couldn", "currently", "describe", "description",
    "details", "did", "didn", "do", "does", "doesn", "doing", "don", "down", "during",
    "each", "either", "else", "environment", "etc", "even", "ever", "every", "expect", "expected",
    "few", "following", "for", "from", "further", "get", "gets", "getting", "give", "given",
    "go", "goes", "going", "gone", "got", "had", "hadn", "happen", "happened", "happening",
    "happens", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers",
    "him", "his", "how", "however", "i", "if", "in", "info", "information", "instead",
    "into", "is", "isn", "issue", "issues", "it", "its", "itself", "just", "know",
    "let", "like", "linux", "ll", "machine", "macos", "made", "make", "makes", "many",
    "may", "maybe", "me", "might", "more", "most", "much", "must", "my", "need",
    "needs", "no", "nor", "not", "now", "of", "off", "often", "ok", "okay",
    "on", "once", "one", "only", "operating", "or", "other", "others", "otherwise", "our",
    "ours", "out", "over", "own", "per", "perhaps", "platform", "please", "possible", "pretty",
    "problem", "proposal", "propose", "proposed", "quite", "rather", "re", "really", "related", "relevant",
    "report", "reported", "repro", "reproduce", "reproducible", "reproduction", "s", "same", "say", "says",
    "screenshot", "screenshots", "see", "seem", "seems", "shall", "she", "should", "shouldn", "similar",
    "since", "snippet", "so", "solution", "some", "something", "sometimes", "steps", "still", "such",
    "suggestion", "summary", "sure", "t", "take", "than", "thank", "thanks", "that", "the",
    "their", "them", "then", "there", "these", "they", "thing", "things", "think", "this",
    "those", "though", "through", "thus", "to", "too", "try", "trying", "ubuntu", "under",
    "until", "up", "upon", "us", "use", "used", "uses", "using", "usually", "ve",
    "version", "versions", "very", "via", "want", "wants", "was", "wasn", "way", "we",
    "well", "were", "weren", "what", "whatever", "when", "where", "whether", "which", "while",
    "who", "whom", "whose", "why", "will", "windows", "with", "within", "without", "won",
    "work", "workaround", "worked", "working", "works", "would", "wouldn", "yes", "yet", "you",
    "your", "yours",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("reproduce"));
        assert!(!is_stop_word("redirect"));
    }
}
