//! Words that say what is to be done, not with what: they are in any code, and no evidence.

use std::borrow::Cow;

use super::zones::Zone;

const ORDERS: [&str; 34] = [
    "add",
    "adds",
    "adding",
    "change",
    "changes",
    "explain",
    "fix",
    "fixed",
    "fixes",
    "fixing",
    "implement",
    "implemented",
    "implements",
    "improve",
    "improved",
    "improves",
    "investigate",
    "make",
    "makes",
    "making",
    "move",
    "moved",
    "moves",
    "moving",
    "please",
    "refactor",
    "refactored",
    "refactoring",
    "rework",
    "rewrite",
    "should",
    "tidy",
    "todo",
    "want",
];

/// The text without the words that give an order. What stands in code stays.
pub(super) fn without(zone: Zone, text: &str) -> Cow<'_, str> {
    if !matches!(zone, Zone::Title | Zone::Prose | Zone::Heading) {
        return Cow::Borrowed(text);
    }
    let is_order = |word: &&str| {
        let bare = word.trim_end_matches([',', '.', ':', '!', '?', ';']);
        let is_plain = bare.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_plain && ORDERS.contains(&bare.to_ascii_lowercase().as_str())
    };
    if !text.split_whitespace().any(|word| is_order(&word)) {
        return Cow::Borrowed(text);
    }
    let kept: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !is_order(word))
        .collect();
    Cow::Owned(kept.join(" "))
}
