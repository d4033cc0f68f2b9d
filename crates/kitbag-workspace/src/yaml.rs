//! YAML as JSON values, within limits.

use serde_json::Value;
use serde_saphyr::{Budget, DuplicateKeyPolicy, Options};

/// A machine-written description of a large interface has some hundred thousand nodes.
const MAX_NODES: usize = 3_000_000;

/// The most events that aliases may repeat. People rarely use them, attackers do.
const MAX_REPLAYED: usize = 100_000;

/// Reads one document. A key that occurs twice has its last value, as most readers take it.
pub(crate) fn from_str(text: &str) -> Result<Value, String> {
    let mut budget = Budget::default();
    budget.max_nodes = MAX_NODES;
    // A list or a map has an event at its end too.
    budget.max_events = 2 * MAX_NODES;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = MAX_REPLAYED;
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    // A snippet would put lines of the file into the message.
    options.with_snippet = false;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bombs_and_nonsense_are_errors() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let last = n - 1;
            bomb += &format!(
                "a{n}: &a{n} [*a{last}, *a{last}, *a{last}, *a{last}, *a{last}, *a{last}]\n"
            );
        }
        assert!(from_str(&bomb).is_err());
        assert!(from_str("a: [").is_err());
        assert!(from_str(&"[".repeat(10_000)).is_err());
        assert_eq!(from_str("a: 1\na: 2").unwrap()["a"], 2);
    }
}
