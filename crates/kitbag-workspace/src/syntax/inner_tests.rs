//! Finds the tests that stand inside a source file: `#[cfg(test)]`, `mod tests`, `if __name__`.

use super::{Lines, Scope, Syntax, Unit};

/// Texts of which a file with tests inside has one.
const MARKS: [&str; 10] = [
    "cfg(test",
    "cfg(all(test",
    "cfg(any(test",
    "test]",
    "::test(",
    "mod test",
    "#[rstest",
    "if __name__",
    "__name__==",
    "import.meta.vitest",
];

/// Tells of each unit of a text if it is a test, or is only for tests.
#[must_use]
pub(crate) fn inner_tests(text: &str, syntax: &Syntax) -> Vec<bool> {
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return vec![false; syntax.units.len()];
    }
    let lines = Lines::of(text);
    let mut scopes: Vec<bool> = Vec::with_capacity(syntax.scopes.len());
    for scope in &syntax.scopes {
        // A scope comes after the one around it.
        let inside = scope.parent.and_then(|parent| scopes.get(parent as usize));
        scopes.push(inside == Some(&true) || says_test(&lines, span_of(scope)));
    }
    let is_test = |unit: &Unit| {
        let inside = unit.scope.and_then(|scope| scopes.get(scope as usize));
        inside == Some(&true)
            || unit.signature.is_some_and(|span| says_test(&lines, span))
            || runs_alone(&lines, unit)
    };
    syntax.units.iter().map(is_test).collect()
}

fn span_of(scope: &Scope) -> (u32, u32) {
    (scope.first, scope.signature)
}

/// Looks for the marks of a test in a signature with its attributes.
fn says_test(lines: &Lines<'_>, (first, last): (u32, u32)) -> bool {
    (first..=last).any(|line| {
        let line = lines.get(line).trim();
        let attribute = [
            "#[cfg(test)",
            "#[cfg(all(test",
            "#[cfg(any(test",
            "#[test]",
            "#[rstest",
        ];
        // `#[tokio::test]`, `#[tokio::test(flavor = "…")]` and their like.
        let is_runner =
            line.starts_with("#[") && (line.ends_with("::test]") || line.contains("::test("));
        let module = line.strip_prefix("pub ").unwrap_or(line);
        is_runner
            || attribute.iter().any(|start| line.starts_with(start))
            || module.starts_with("mod tests ")
            || module.starts_with("mod test ")
    })
}

/// Recognises the code that a module runs when it is started by itself.
fn runs_alone(lines: &Lines<'_>, unit: &Unit) -> bool {
    let mut lines = (unit.first..=unit.last).map(|line| lines.get(line));
    let first = lines.find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        ["if __name__ ==", "if __name__==", "if (import.meta.vitest"]
            .iter()
            .any(|start| line.starts_with(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::syntax::parse;

    /// The names of the units that are tests; of code outside definitions its first line.
    fn found(language: Language, text: &str) -> Vec<String> {
        let syntax = parse(language, text);
        let units = syntax.units.iter().zip(inner_tests(text, &syntax));
        let tests = units.filter(|(_, is_test)| *is_test);
        tests
            .map(|(unit, _)| match unit.name.as_str() {
                "" => Lines::of(text).get(unit.first).to_owned(),
                name => name.to_owned(),
            })
            .collect()
    }

    #[test]
    fn p05_tests_inside_a_source_file_are_tests() {
        let case = "    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n\n";
        let rust = format!(
            "pub fn add(a: u32, b: u32) -> u32 {{\n    a + b\n}}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{}}}\n",
            case.repeat(12)
        );
        let tests = found(Language::Rust, &rust);
        assert!(tests.len() >= 12, "{tests:?}");
        assert!(!tests.contains(&"add".to_owned()), "{tests:?}");

        let body = "    value = 1\n".repeat(20);
        let python = format!("def run():\n{body}\n\nif __name__ == \"__main__\":\n{body}");
        assert_eq!(
            found(Language::Python, &python),
            ["if __name__ == \"__main__\":"]
        );
        assert!(found(Language::Rust, "fn tests() {}\n").is_empty());
        let plain = format!("def run():\n{body}\n\nif __name__==\"__main__\":\n{body}");
        assert_eq!(
            found(Language::Python, &plain),
            ["if __name__==\"__main__\":"]
        );
        let runner =
            "#[tokio::test(start_paused = true)]\nasync fn waits() {\n    wait().await;\n}\n";
        assert_eq!(found(Language::Rust, runner), ["waits"]);
        let named = format!("pub fn a() {{}}\n\nmod test {{\n{}}}\n", case.repeat(12));
        assert!(found(Language::Rust, &named).contains(&"adds".to_owned()));
    }
}
