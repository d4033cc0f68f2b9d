//! A text that would leave no room for anything else keeps its beginning and its end.

use kitbag_core::tokens::{TokenCounter, Tokens};

/// Shortens `text` to at most `most` tokens, if it has more, though not to less than the mark that
/// stands where it was cut.
pub(crate) fn shorten(text: &str, most: Tokens, counter: &dyn TokenCounter) -> Option<String> {
    if counter.count(text) <= most {
        return None;
    }
    // The largest part that fits; a text with more of the text never has fewer tokens by much, and
    // what is returned is counted.
    let (mut low, mut high) = (0, text.len());
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if counter.count(&cut(text, middle)) <= most {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(cut(text, low))
}

/// Two thirds of `bytes` from the beginning, the rest from the end, in whole lines where they are
/// short.
fn cut(text: &str, bytes: usize) -> String {
    let head_end = text.floor_char_boundary(bytes / 3 * 2);
    let head = text.get(..head_end).unwrap_or_default();
    let head_end = match head.rfind('\n') {
        Some(line_end) if head_end - line_end <= LONG_LINE => line_end,
        _ => head_end,
    };
    let tail_start = text.ceil_char_boundary(text.len().saturating_sub(bytes / 3).max(head_end));
    let tail = text.get(tail_start..).unwrap_or_default();
    let tail_start = match tail.find('\n') {
        Some(line_end) if line_end <= LONG_LINE => tail_start + line_end + 1,
        _ => tail_start,
    };
    let (head, rest) = text.split_at_checked(head_end).unwrap_or((text, ""));
    let tail = text.get(tail_start..).unwrap_or_default();
    let left = rest.len().saturating_sub(tail.len());
    let left = rest.get(..left).unwrap_or_default();
    let left = match left.trim_matches('\n').lines().count() {
        0 | 1 => format!("{} characters", left.chars().count()),
        lines => format!("{lines} lines"),
    };
    format!("{head}\n[… {left} are left out here …]\n{tail}")
}

/// The end of a longer line is cut off.
const LONG_LINE: usize = 120;

#[cfg(test)]
mod tests {
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
}
