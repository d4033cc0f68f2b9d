//! One engine: outside of the core only the engine of the `kitbag` crate assembles a prompt.

use super::Problem;
use super::sources::{Source, code_words};

const ENGINE: &str = "crates/kitbag/src/engine.rs";

pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let below = sources.iter().filter(|source| {
        let path = source.path.as_str();
        let is_free = path == ENGINE
            || path.starts_with("crates/kitbag-core/")
            || path.starts_with("xtask/")
            || path.contains("/tests/")
            || path.contains("/benches/")
            || path.ends_with("tests.rs");
        // The import names it, and so does a call by its path.
        !is_free && code_words(&source.text).any(|word| word == "assemble")
    });
    below
        .map(|source| {
            Problem::new(
                &source.path,
                "calls `assemble`",
                "bring a `Contribution` and call `kitbag::engine::compose`, where sources meet",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(path: &str, text: &str) -> usize {
        let (path, text) = (path.to_owned(), text.to_owned());
        check(&[Source { path, text }]).len()
    }

    #[test]
    fn only_the_engine_assembles() {
        let call = "use kitbag_core::assembly::assemble;\n";
        assert_eq!(problems_of("crates/kitbag/src/pack.rs", call), 1);
        assert_eq!(
            problems_of("crates/kitbag-cli/src/commands/fit.rs", call),
            1
        );
        assert_eq!(problems_of(ENGINE, call), 0);
        assert_eq!(
            problems_of("crates/kitbag-store/tests/store/prompts.rs", call),
            0
        );
        assert_eq!(
            problems_of("crates/kitbag/src/pack.rs", "// assemble\nassembled();\n"),
            0
        );
    }
}
