//! Every dependency must come under a permissive licence.
//!
//! Reads the SPDX expressions of manifests (`OR`, `AND`, `WITH`, parentheses) and the older `/`.

use super::Problem;
use crate::metadata::Metadata;

const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // The list of certificate authorities.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

pub(super) fn check(metadata: &Metadata) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in metadata.foreign() {
        let what = match package.license.as_deref() {
            None => "its manifest names no licence".to_owned(),
            Some(licence) => match is_allowed(licence) {
                Ok(true) => continue,
                Ok(false) => format!("licence `{licence}` is not permissive enough"),
                Err(reason) => format!("licence `{licence}` cannot be read: {reason}"),
            },
        };
        problems.push(Problem::new(
            format!("{} {}", package.name, package.version),
            what,
            "do without it; or, if the licence is permissive, allow it in xtask/src/tidy/licence.rs",
        ));
    }
    problems
}

/// Returns true if allowed licences alone satisfy the expression.
fn is_allowed(expression: &str) -> Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words: Words<'_> = spaced.split_whitespace().peekable();
    let allowed = any(&mut words)?;
    match words.next() {
        None => Ok(allowed),
        Some(word) => Err(format!("`{word}` was not expected")),
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>) -> Result<bool, String> {
    let mut allowed = all(words)?;
    while words.next_if_eq(&"OR").is_some() {
        allowed |= all(words)?;
    }
    Ok(allowed)
}

fn all(words: &mut Words<'_>) -> Result<bool, String> {
    let mut allowed = one(words)?;
    while words.next_if_eq(&"AND").is_some() {
        allowed &= one(words)?;
    }
    Ok(allowed)
}

fn one(words: &mut Words<'_>) -> Result<bool, String> {
    match words.next() {
        Some("(") => {
            let allowed = any(words)?;
            match words.next() {
                Some(")") => Ok(allowed),
                _ => Err("a parenthesis is not closed".to_owned()),
            }
        }
        Some(word @ (")" | "OR" | "AND" | "WITH")) => Err(format!("`{word}` was not expected")),
        Some(licence) if words.next_if_eq(&"WITH").is_some() => {
            let exception = words.next().ok_or("`WITH` names no exception")?;
            Ok(ALLOWED.contains(&format!("{licence} WITH {exception}").as_str()))
        }
        Some(licence) => Ok(ALLOWED.contains(&licence)),
        None => Err("a licence is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissive_expressions_are_allowed() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "Unlicense/MIT",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "CC0-1.0 OR (GPL-2.0-only AND MIT)",
        ] {
            assert_eq!(is_allowed(expression), Ok(true), "{expression}");
        }
    }

    #[test]
    fn an_unavoidable_other_licence_is_refused() {
        for expression in [
            "GPL-3.0-only",
            "MPL-2.0",
            "MIT AND GPL-2.0-only",
            "MIT AND (MPL-2.0 OR LGPL-2.1-only)",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "MIT WITH Unknown-exception",
            // AND binds closer than OR, so MIT alone does not satisfy this one.
            "MIT AND MPL-2.0 OR GPL-3.0-only",
        ] {
            assert_eq!(is_allowed(expression), Ok(false), "{expression}");
        }
    }

    #[test]
    fn a_malformed_expression_is_an_error() {
        for expression in [
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "AND MIT",
            "MIT WITH",
        ] {
            assert!(is_allowed(expression).is_err(), "{expression}");
        }
    }
}
