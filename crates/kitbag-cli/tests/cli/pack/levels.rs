//! How much of a file is shown, and that what is shown is the file.

use std::fmt::Write as _;

use serde_json::Value;

use super::tree::{Tree, chunk, text, tree};

/// A module in which one method of many is about refunds.
fn large() -> String {
    let mut code = String::from(
        "import os\nfrom decimal import Decimal\n\n\nclass Ledger:\n    \"\"\"Keeps accounts.\"\"\"\n\n",
    );
    for n in 0..120 {
        let name = if n == 70 {
            "refund_customer".into()
        } else {
            format!("step_{n}")
        };
        let line = if n == 70 {
            "refunded = Decimal(amount)"
        } else {
            "value = len(name)"
        };
        write!(
            code,
            "    def {name}(self, name, amount):\n        {line}\n        print(name, {n})\n        return {n}\n\n"
        )
        .unwrap();
    }
    code
}

const TASK: &str = "refund_customer refunds twice";

fn ledger() -> Tree {
    tree(&[
        ("ledger.py", &large()),
        ("other.py", "def unrelated():\n    pass\n"),
    ])
}

/// The lines of the source that JSON says are shown.
fn shown<'a>(chunk: &Value, source: &'a str) -> Vec<(usize, &'a str)> {
    let lines: Vec<&str> = source.lines().collect();
    let ranges = chunk["lines"].as_array().unwrap().iter();
    let numbers = ranges.flat_map(|range| range[0].as_u64().unwrap()..=range[1].as_u64().unwrap());
    let line = |number: u64| {
        let number = usize::try_from(number).unwrap();
        (number, lines[number - 1])
    };
    numbers.map(line).collect()
}

#[test]
fn p08_a_large_file_is_shown_in_parts_with_the_function_that_matters_whole() {
    let source = large();
    let pack = ledger().json(&[TASK, "--budget", "700"]);
    let slice = chunk(&pack, "ledger.py");
    assert_eq!(slice["level"], "slice", "{slice}");
    let prompt = text(&pack, "prompt");
    let method = "    def refund_customer(self, name, amount):\n        refunded = Decimal(amount)\n        print(name, 70)\n        return 70\n";
    assert!(prompt.contains(method), "{prompt}");
    assert!(
        prompt.contains("class Ledger:\n"),
        "the class that it is in: {prompt}"
    );
    assert!(
        prompt.contains("from decimal import Decimal\n"),
        "what it imports: {prompt}"
    );
    // Its lines are true, and each of them stands in the prompt as it is in the file.
    let shown = shown(slice, &source);
    assert!(shown.len() < source.lines().count() / 2);
    for (number, line) in &shown {
        assert!(
            prompt.contains(&format!("{line}\n")),
            "line {number}: {line}"
        );
    }
    let has = |text: &str| shown.iter().any(|(_, line)| line.contains(text));
    assert!(has("def refund_customer") && has("return 70"));
    // No function that is shown with a body is cut in half.
    for n in (0..120).filter(|n| *n != 70) {
        if prompt.contains(&format!("print(name, {n})\n")) {
            assert!(
                prompt.contains(&format!("        return {n}\n")),
                "step_{n}"
            );
        }
    }
}

#[test]
fn p08_line_numbers_are_those_of_the_file() {
    let source = large();
    let lines: Vec<&str> = source.lines().collect();
    let pack = ledger().json(&[TASK, "--budget", "900", "--line-numbers"]);
    let prompt = text(&pack, "prompt");
    let mut numbered = 0;
    for line in prompt.lines() {
        let Some((number, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<usize>() else {
            continue;
        };
        if lines.get(number - 1) == Some(&rest) {
            numbered += 1;
        } else {
            assert!(
                !lines.contains(&rest),
                "{number} is not the number of {rest:?}"
            );
        }
    }
    let shown = shown(chunk(&pack, "ledger.py"), &source);
    let written = shown.iter().filter(|(_, line)| !line.is_empty()).count();
    assert!(
        numbered >= written && written > 5,
        "{numbered} of {written}: {prompt}"
    );
    let place = lines
        .iter()
        .position(|line| line.contains("def refund_customer"))
        .unwrap()
        + 1;
    assert!(
        prompt.contains(&format!("{place}     def refund_customer")),
        "{prompt}"
    );
}

#[test]
fn p08_a_top_hit_is_degraded_and_never_dropped() {
    let tree = ledger();
    let mut levels = Vec::new();
    for budget in [110, 120, 140, 180, 250, 400, 700, 1_500, 12_000] {
        let pack = tree.json(&[TASK, "--budget", &budget.to_string()]);
        assert!(pack["tokens"].as_u64().unwrap() <= budget);
        let level = chunk(&pack, "ledger.py")["level"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(text(&pack, "prompt").contains("ledger.py"));
        levels.push(level);
    }
    assert_eq!(levels.last().unwrap(), "full", "{levels:?}");
    assert_ne!(levels.first().unwrap(), "full", "{levels:?}");
}

#[test]
fn p08_an_outline_counts_what_it_leaves_out_in_the_languages_own_syntax() {
    for (path, code, signature, comment) in [
        (
            "a.py",
            "def login(user: str) -> bool:\n    a = 1\n    b = 2\n    c = 3\n    return a + b > c\n\n\n",
            "def login(user: str) -> bool:",
            "# ",
        ),
        (
            "a.rs",
            "pub fn login(user: &str) -> bool {\n    let a = 1;\n    let b = 2;\n    let c = 3;\n    a + b > c\n}\n\n",
            "pub fn login(user: &str) -> bool",
            "// ",
        ),
        (
            "a.ts",
            "export function login(user: string): boolean {\n  const a = 1;\n  const b = 2;\n  const c = 3;\n  return a + b > c;\n}\n\n",
            "export function login(user: string): boolean",
            "// ",
        ),
    ] {
        let many: String = (0..60)
            .map(|n| code.replace("login", &format!("login_{n}")))
            .collect();
        let tree = tree(&[(path, &many)]);
        let pack = tree.json(&["--budget", "1600"]);
        let prompt = text(&pack, "prompt");
        assert_eq!(chunk(&pack, path)["level"], "outline", "{path}");
        assert!(
            prompt.contains(&signature.replace("login", "login_7")),
            "{path}: {prompt}"
        );
        let note = format!("{comment}... (4 lines)");
        let notes = prompt.lines().filter(|line| line.contains(&note));
        assert_eq!(notes.count(), 60, "{path}: {prompt}");
    }
}
