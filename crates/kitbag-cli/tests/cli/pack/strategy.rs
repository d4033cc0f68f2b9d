//! What each type of task brings, and the log of it.

use serde_json::Value;

use super::tree::{Tree, find_type, repository};

fn shop() -> Tree {
    repository(&[
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n\n[dependencies]\nserde = \"1\"\n",
        ),
        (
            "src/web/account/login.rs",
            "pub fn login(user: &str) -> bool {\n    user == \"ann\"\n}\n",
        ),
        ("src/order.rs", "pub fn order() {}\n"),
        (
            "tests/login.rs",
            "#[test]\nfn login_works() {\n    assert!(login(\"ann\"));\n}\n",
        ),
    ])
}

fn pack(tree: &Tree, task_type: &str) -> Value {
    tree.json(&[
        "the login of users",
        "--task-type",
        task_type,
        "--budget",
        "4k",
    ])
}

#[test]
fn p05_each_type_of_task_gathers_what_it_needs() {
    let tree = shop();
    for (task_type, history, dependencies) in [
        ("implement", false, true),
        ("debug", true, false),
        ("refactor", false, true),
        ("test", false, false),
        ("analyze", true, true),
    ] {
        let pack = pack(&tree, task_type);
        assert_eq!(pack["task_type"], task_type);
        assert_eq!(pack["inferred_from"], Value::Null);
        assert_eq!(
            find_type(&pack, "history").is_some(),
            history,
            "{task_type}"
        );
        assert_eq!(
            find_type(&pack, "dependency").is_some(),
            dependencies,
            "{task_type}"
        );
        assert!(find_type(&pack, "structure").is_some(), "{task_type}");
    }
}

#[test]
fn p05_an_analysis_has_a_deep_structure() {
    let tree = shop();
    for n in 0..40 {
        tree.write(
            format!("src/web/part_{n}/page_{n}.rs"),
            "pub fn page() {}\n",
        );
    }
    tree.commit("pages");
    let tokens = |task_type| {
        let pack = pack(&tree, task_type);
        find_type(&pack, "structure").map_or(0, |chunk| chunk["tokens"].as_u64().unwrap())
    };
    assert!(tokens("analyze") > 2 * tokens("implement"));
}

#[test]
fn p05_a_task_to_test_ranks_tests_higher() {
    let tree = shop();
    let score = |task_type| {
        let pack = pack(&tree, task_type);
        let ranked = pack["ranked"].as_array().unwrap();
        let found = ranked
            .iter()
            .find(|ranked| ranked["source"] == "tests/login.rs");
        found.unwrap()["score"].as_i64().unwrap()
    };
    assert!(score("test") > score("implement"));
}

#[test]
fn p05_the_type_is_told_from_the_task() {
    let tree = shop();
    for (task, task_type) in [
        ("fix the crash in the login", "debug"),
        ("add a logout button", "implement"),
        ("write tests for the login", "test"),
        ("refactor the login into two functions", "refactor"),
        ("explain how the login works", "analyze"),
    ] {
        let pack = tree.json(&[task]);
        assert_eq!(pack["task_type"], task_type, "{task}");
        assert!(
            !pack["inferred_from"].as_array().unwrap().is_empty(),
            "{task}"
        );
    }
}

#[test]
fn p11_a_pack_is_logged_with_its_figures() {
    let tree = shop();
    let args = [
        "fix the login",
        "--budget",
        "1k",
        "--log",
        "debug",
        "--log-format",
        "json",
    ];
    let output = tree.pack(&args);
    let lines: Vec<Value> = output
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events = |name: &str| lines.iter().filter(|line| line["event"] == name).count();
    let fitted = lines
        .iter()
        .find(|line| line["event"] == "context_compressed")
        .unwrap();
    let figure = |name: &str| fitted[name].as_f64().unwrap();
    assert!(figure("chunks_in") >= figure("chunks_out") && figure("chunks_out") >= 1.0);
    assert_eq!(figure("utilization"), figure("tokens") / 1_000.0);
    assert_eq!(events("chunk_included") as f64, figure("chunks_out"));
    output.success();
}
