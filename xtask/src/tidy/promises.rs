//! Every id that a test's name carries is explained in `docs/promises.md`.
//!
//! A promise without a test is no problem here: some are proven by benchmarks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use regex::Regex;

use super::Problem;
use super::sources::Source;

const LIST: &str = "docs/promises.md";

pub(super) fn check(sources: &[Source], root: &Path) -> Result<Vec<Problem>> {
    let list = fs::read_to_string(root.join(LIST)).with_context(|| format!("reading {LIST}"))?;
    unlisted(sources, &list)
}

fn unlisted(sources: &[Source], list: &str) -> Result<Vec<Problem>> {
    let name = Regex::new(r"\bfn ([oatpcx])([0-9]{2})_\w+")?;
    let mut first_uses = BTreeMap::new();
    for Source { path, text } in sources {
        for test in name.captures_iter(text) {
            // Names are padded (`o04_`) so that they sort; the list says O4.
            let number = test[2].trim_start_matches('0');
            let id = format!("{}{number}", test[1].to_uppercase());
            first_uses.entry(id).or_insert((path, test[0].to_owned()));
        }
    }
    let is_listed = |id: &str| {
        list.lines()
            .any(|line| line.starts_with(&format!("| {id} |")))
    };
    let missing = first_uses.into_iter().filter(|(id, _)| !is_listed(id));
    let problem = |(id, (path, test)): (String, (&String, String))| {
        let what = format!("`{test}` refers to {id}, which {LIST} does not list");
        Problem::new(
            path,
            what,
            "add the promise to the list, or name the test after another",
        )
    };
    Ok(missing.map(problem).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_whose_id_is_not_listed_is_a_problem() {
        let source = Source {
            path: "crates/a/src/tests.rs".to_owned(),
            text: "fn o04_one() {}\nfn x13_two() {}\nfn other() {}\n".to_owned(),
        };
        let list = "| id | promise |\n|---|---|\n| O4 | … |\n";
        let problems = unlisted(&[source], list).unwrap();
        let told: Vec<_> = problems
            .iter()
            .map(|problem| problem.what.as_str())
            .collect();
        assert_eq!(
            told,
            ["`fn x13_two` refers to X13, which docs/promises.md does not list"]
        );
    }
}
