//! Public items have a doc comment. Fields and variants may let their name speak: rustc's `missing_docs`
//! would demand comments that only repeat it.

use super::Problem;
use super::sources::Source;

/// The words between `pub` and the name of an item that needs a comment. A module has its comment inside, as `//!`.
const ITEMS: [&str; 9] = [
    "fn ", "const ", "async ", "struct ", "enum ", "trait ", "static ", "type ", "union ",
];

/// Lists public items without a doc comment.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let is_library = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let library = sources.iter().filter(|source| is_library(&source.path));
    library.flat_map(undocumented).collect()
}

fn undocumented(source: &Source) -> Vec<Problem> {
    let end = source.text.find("#[cfg(test)]\nmod tests {");
    let code = source.text.get(..end.unwrap_or(source.text.len()));
    let lines: Vec<&str> = code.unwrap_or_default().lines().map(str::trim).collect();
    let is_item = |line: &str| {
        let item = line.strip_prefix("pub ");
        item.is_some_and(|item| ITEMS.iter().any(|kind| item.starts_with(kind)))
    };
    let problem = |(at, line): (usize, &&str)| {
        let above = lines.get(..at).unwrap_or_default();
        (is_item(line) && !has_comment(above)).then(|| {
            let place = format!("{}:{}", source.path, at + 1);
            Problem::new(
                place,
                "a public item without a doc comment",
                "say what it is for",
            )
        })
    };
    lines.iter().enumerate().filter_map(problem).collect()
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

    #[test]
    fn an_item_without_a_comment_is_found_and_a_field_is_not() {
        let text = "//! A file.\n\n/// A struct.\n#[derive(\n    Debug,\n)]\npub struct A {\n    pub field: u32,\n}\n\nimpl A {\n    pub const fn bare() {}\n    /// Is.\n    pub fn is() {}\n}\n\n#[must_use]\npub fn also_bare() {}\npub(crate) fn own() {}\n";
        let source = Source {
            path: "crates/a/src/a.rs".to_owned(),
            text: text.to_owned(),
        };
        let places: Vec<String> = check(&[source])
            .into_iter()
            .map(|found| found.place)
            .collect();
        assert_eq!(places, ["crates/a/src/a.rs:12", "crates/a/src/a.rs:18"]);
    }
}
