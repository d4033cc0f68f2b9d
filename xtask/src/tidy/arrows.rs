//! Allows a crate to depend only on those crates of the project that the table names.

use super::Problem;
use crate::metadata::Arrows;

/// A new arrow is a change of the architecture: it comes with its line in ARCHITECTURE.md.
const ALLOWED: &[(&str, &[&str])] = &[
    ("kitbag-cli", &["kitbag-mcp", "kitbag-server", "kitbag"]),
    ("kitbag-mcp", &["kitbag"]),
    ("kitbag-server", &["kitbag-mcp", "kitbag"]),
    (
        "kitbag",
        &[
            "kitbag-layout",
            "kitbag-secrets",
            "kitbag-store",
            "kitbag-text",
            "kitbag-workspace",
            "kitbag-core",
        ],
    ),
    ("kitbag-layout", &["kitbag-core"]),
    ("kitbag-store", &["kitbag-core", "kitbag-secrets"]),
    ("kitbag-workspace", &["kitbag-core", "kitbag-text"]),
    ("kitbag-core", &[]),
    ("kitbag-secrets", &[]),
    ("kitbag-text", &[]),
    // The weights of recall are evaluated in the process of xtask itself.
    ("xtask", &["kitbag-core"]),
];

pub(super) fn check(arrows: &Arrows) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (from, targets) in arrows {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| name == from) else {
            problems.push(Problem::new(
                from,
                "no rule says what this crate may depend on",
                "add it to the table in xtask/src/tidy/arrows.rs and to ARCHITECTURE.md",
            ));
            continue;
        };
        for target in targets {
            if !allowed.contains(&target.as_str()) {
                problems.push(Problem::new(
                    from,
                    format!("depends on {target}, which the architecture does not allow"),
                    allowed_instead(allowed),
                ));
            }
        }
    }
    problems
}

fn allowed_instead(allowed: &[&str]) -> String {
    match allowed {
        [] => "it may depend on no crate of this project".to_owned(),
        _ => format!("it may depend on {}", allowed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_arrows(arrows: &[(&str, &[&str])]) -> Vec<String> {
        let owned = |targets: &[&str]| targets.iter().map(|&target| target.to_owned()).collect();
        let arrows: Arrows = arrows
            .iter()
            .map(|(from, targets)| ((*from).to_owned(), owned(targets)))
            .collect();
        let describe = |problem: Problem| format!("{}: {}", problem.place, problem.what);
        check(&arrows).into_iter().map(describe).collect()
    }

    #[test]
    fn the_drawn_arrows_are_allowed() {
        let problems = check_arrows(&[
            ("kitbag-cli", &["kitbag", "kitbag-server"]),
            ("kitbag", &["kitbag-core", "kitbag-store"]),
            ("kitbag-core", &[]),
        ]);
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn another_arrow_is_a_problem() {
        let problems = check_arrows(&[("kitbag-store", &["kitbag-core", "kitbag-layout"])]);
        let expected =
            "kitbag-store: depends on kitbag-layout, which the architecture does not allow";
        assert_eq!(problems, [expected]);
        assert_eq!(check_arrows(&[("kitbag-core", &["kitbag"])]).len(), 1);
    }

    #[test]
    fn a_crate_without_a_rule_is_a_problem() {
        let problems = check_arrows(&[("kitbag-new", &[])]);
        assert_eq!(
            problems,
            ["kitbag-new: no rule says what this crate may depend on"]
        );
    }
}
