//! One engine: outside of the core only the engine of the `kitbag` crate assembles a prompt.

use super::Problem;
use super::sources::Source;

const ENGINE: &str = "crates/kitbag/src/engine.rs";

pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let below = sources.iter().filter(|source| {
        let path = source.path.as_str();
        let is_free = path == ENGINE
            || path.starts_with("crates/kitbag-core/")
            || path.starts_with("xtask/")
            || ["/tests/", "/benches/"]
                .iter()
                .any(|folder| path.contains(folder))
            || path.ends_with("tests.rs");
        !is_free && calls_assemble(&source.text)
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

/// Whether a line of code names the function: imports it, or calls it by its path.
fn calls_assemble(text: &str) -> bool {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.any(|word| word == "assemble")
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
