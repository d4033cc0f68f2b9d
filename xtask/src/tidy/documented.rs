//! Public items have a doc comment, also those of public traits. Fields and variants may let their name speak: rustc's `missing_docs`
//! would demand comments that only repeat it.

use super::Problem;
use super::sources::Source;

/// The words between `pub` and the name of an item that needs a comment. A module has its comment inside, as `//!`.
const ITEMS: [&str; 9] = [
    "fn ", "const ", "async ", "struct ", "enum ", "trait ", "static ", "type ", "union ",
];

/// Lists public items without a doc comment.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let is_library = |path: &str| {
        path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests/")
    };
    let library = sources.iter().filter(|source| is_library(&source.path));
    library.flat_map(undocumented).collect()
}

fn undocumented(source: &Source) -> Vec<Problem> {
    let end = source.text.find("#[cfg(test)]\nmod tests {");
    let code = source.text.get(..end.unwrap_or(source.text.len()));
    let code = code.unwrap_or_default();
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let is_item = |item: &str| ITEMS.iter().any(|kind| item.starts_with(kind));
    let mut in_trait = false;
    let problem = |(at, line): (usize, &str)| {
        // A file is formatted: a trait ends where a line has only its brace, and its items are one step in.
        in_trait = match line {
            "}" => false,
            _ => in_trait || line.starts_with("pub trait ") && line.ends_with('{'),
        };
        let public = line.trim_start().strip_prefix("pub ");
        let of_trait = line.strip_prefix("    ").filter(|_| in_trait);
        let is_public = [public, of_trait].into_iter().flatten().any(is_item);
        let above = lines.get(..at).unwrap_or_default();
        (is_public && !has_comment(above)).then(|| {
            let place = format!("{}:{}", source.path, at + 1);
            Problem::new(
                place,
                "a public item without a doc comment",
                "say what it is for",
            )
        })
    };
    code.lines().enumerate().filter_map(problem).collect()
}

/// Looks upwards over attributes, which may take several lines.
fn has_comment(above: &[&str]) -> bool {
    let near = above.iter().rev();
    let mut near = near.take_while(|line| !line.is_empty() && !line.ends_with(['{', '}', ';']));
    near.any(|line| line.starts_with("///"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places in a file with this text that lack a comment.
    fn places(text: &str) -> Vec<String> {
        let source = Source {
            path: "crates/a/src/a.rs".to_owned(),
            text: text.to_owned(),
        };
        let found = check(&[source]).into_iter();
        found.map(|found| found.place).collect()
    }

    #[test]
    fn an_item_without_a_comment_is_found_and_a_field_is_not() {
        let text = "//! A file.\n\n/// A struct.\n#[derive(\n    Debug,\n)]\npub struct A {\n    pub field: u32,\n}\n\nimpl A {\n    pub const fn bare() {}\n    /// Is.\n    pub fn is() {}\n}\n\n#[must_use]\npub fn also_bare() {}\npub(crate) fn own() {}\n";
        assert_eq!(
            places(text),
            ["crates/a/src/a.rs:12", "crates/a/src/a.rs:18"]
        );
    }

    #[test]
    fn a_method_of_a_public_trait_needs_a_comment() {
        let text = "/// A trait.\npub trait A {\n    /// Is.\n    fn is(&self) {\n        fn inner() {}\n    }\n\n    fn bare(\n        &self,\n    );\n}\n\nimpl A for u32 {\n    fn is(&self) {}\n}\n\ntrait Own {\n    fn own();\n}\n";
        assert_eq!(places(text), ["crates/a/src/a.rs:8"]);
    }
}
