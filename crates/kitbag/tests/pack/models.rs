//! The test that a prompt shows as a model, and what is no test, no source, or not worth its place.

use std::fmt::Write as _;

use kitbag::core::assembly::Reason;
use kitbag::core::envelope::TaskType;
use kitbag::pack::Pack;

use crate::project::{Project, find, packed, problems, why_out};

fn debugged(project: &Project, task: &str, budget: u32) -> Pack {
    let mut request = project.request(task, budget);
    request.survey.task_type = Some(TaskType::Debug);
    packed(&request).unwrap()
}

/// Rust code of so many functions about a word.
fn code(word: &str, functions: usize) -> String {
    let mut text = String::new();
    for n in 0..functions {
        writeln!(text, "pub fn {word}_{n}({word}: &str) -> usize {{").unwrap();
        for line in 0..8 {
            writeln!(text, "    let {word}_{line} = {word}.len() + {n};").unwrap();
        }
        text += "    0\n}\n\n";
    }
    text
}

#[test]
fn p05_a_test_inside_the_source_is_a_model_where_no_file_of_tests_is() {
    let case = "    #[test]\n    fn an_anchor_holds() {\n        assert_eq!(anchor_1(\"rope\"), 0);\n    }\n";
    let tests = format!("#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{case}}}\n");
    let project = Project::new(&[
        ("src/anchor.rs", &format!("{}{tests}", code("anchor", 60))),
        ("src/sail.rs", &code("sail", 60)),
    ]);
    let pack = debugged(
        &project,
        "the anchor does not hold when it is dropped",
        4_000,
    );
    assert!(pack.prompt().contains(case), "{}", pack.prompt());
    // A definition that the task names comes with a test too.
    let pack = debugged(&project, "anchor_31 does not hold", 4_000);
    assert!(pack.prompt().contains(case), "{}", pack.prompt());
    assert!(pack.prompt().contains("pub fn anchor_31("));
}

#[test]
fn p05_a_spec_is_a_model_by_one_of_its_examples() {
    let mut spec = String::from("RSpec.describe Anchor do\n");
    for n in 0..40 {
        writeln!(spec, "  it \"holds in wind {n}\" do").unwrap();
        for line in 0..12 {
            writeln!(spec, "    expect(anchor.hold({line})).to eq({n})").unwrap();
        }
        spec += "  end\n\n";
    }
    spec += "end\n";
    let ruby = "class Anchor\n  def hold(wind)\n    wind\n  end\nend\n";
    let script = spec
        .replace("RSpec.describe Anchor do", "describe('anchor', () => {")
        .replace("  it \"", "  it('")
        .replace("\" do", "', () => {")
        .replace("  end\n", "  });\n")
        .replace("\nend\n", "\n});\n");
    let javascript = "export function hold(wind) {\n  return wind;\n}\n";
    for (source, code, test, tests) in [
        ("lib/anchor.rb", ruby, "spec/anchor_spec.rb", &spec),
        ("src/anchor.js", javascript, "src/anchor.test.js", &script),
    ] {
        let project = Project::new(&[(source, code), (test, tests)]);
        let pack = debugged(&project, "the anchor does not hold", 2_500);
        let shown = find(&pack, test).unwrap();
        assert_eq!(shown.reason, Reason::Critical, "{}", pack.prompt());
        let head = tests.lines().nth(1).unwrap().split("wind").next().unwrap();
        assert!(pack.prompt().contains(head), "{}", pack.prompt());
        assert!(shown.tokens.0 < 2_000, "{}", shown.tokens);
    }
}

#[test]
fn p05_a_fixture_is_no_model_of_a_test() {
    let fixture = "def anchor():\n    return \"an anchor that holds, an anchor to drop\"\n";
    let test = "def test_a_sail():\n    assert sail(\"anchor\") is None\n";
    let project = Project::new(&[
        ("src/anchor.py", "def hold(anchor):\n    return anchor\n"),
        ("tests/fixtures/anchor.py", fixture),
        ("tests/test_sail.py", test),
    ]);
    let pack = debugged(&project, "the anchor does not hold", 4_000);
    let reason = |path| find(&pack, path).map(|shown| shown.reason);
    assert_ne!(reason("tests/fixtures/anchor.py"), Some(Reason::Critical));
    assert_eq!(reason("tests/test_sail.py"), Some(Reason::Critical));
}

#[test]
fn p05_a_tracked_vendor_folder_is_left_out_unless_it_is_the_source() {
    let vendored = [("vendor/anchor/anchor.rs", code("anchor", 4))];
    let project = Project::repository(&[
        ("src/anchor.rs", &code("anchor", 2)),
        ("src/sail.rs", &code("sail", 2)),
        ("vendor/anchor/anchor.rs", &vendored[0].1),
        ("vendor/anchor/Cargo.toml", "[package]\nname = \"rope\"\n"),
    ]);
    let task = "the anchor does not hold when it is dropped";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert_eq!(why_out(&pack, "vendor"), "code of other projects");
    assert!(!pack.prompt().contains("rope"), "{}", pack.prompt());
    let mut request = project.request(task, 8_000);
    request
        .survey
        .pins
        .push("vendor/anchor/anchor.rs".to_owned());
    assert!(find(&packed(&request).unwrap(), "vendor/anchor/anchor.rs").is_some());

    let project = Project::repository(&[
        ("main.rs", "fn main() {}\n"),
        ("vendor/anchor.rs", &vendored[0].1),
        ("vendor/sail.rs", &code("sail", 2)),
    ]);
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert!(find(&pack, "vendor/anchor.rs").is_some());
}

#[test]
fn p05_what_a_benchmark_searches_is_not_shown() {
    let text = "the anchor does not hold when it is dropped\n".repeat(40);
    let table = format!("anchor,hold\n{}", "dropped,1\n".repeat(40_000));
    let project = Project::new(&[
        ("src/anchor.rs", &code("anchor", 2)),
        ("benchmarks/haystacks/sea.txt", &text),
        ("data/anchors.csv", &table),
    ]);
    let task = "the anchor does not hold when it is dropped";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    for path in ["benchmarks/haystacks/sea.txt", "data/anchors.csv"] {
        assert_eq!(why_out(&pack, path), "data");
    }
    let mut request = project.request(task, 8_000);
    request
        .survey
        .pins
        .push("benchmarks/haystacks/sea.txt".to_owned());
    assert!(find(&packed(&request).unwrap(), "benchmarks/haystacks/sea.txt").is_some());
}

#[test]
fn p02_noise_does_not_fill_a_budget() {
    let project = Project::new(&[("src/anchor.rs", &code("anchor", 12))]);
    // A common word of the task is all that these have.
    for n in 0..20 {
        let noise = code("cargo", 6);
        project.write(
            &format!("src/cargo{n}.rs"),
            &format!("// when\n{noise}// dropped\n"),
        );
    }
    let pack = packed(&project.request("anchor anchor_3 is dropped", 32_000)).unwrap();
    let told = problems(&pack);
    assert!(
        told.iter()
            .any(|problem| problem.contains("are left unused: 20 files more")),
        "{told:?}"
    );
    assert!(find(&pack, "src/cargo7.rs").is_none());
    assert!(find(&pack, "src/anchor.rs").is_some());
}
