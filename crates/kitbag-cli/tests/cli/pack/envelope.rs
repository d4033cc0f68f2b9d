//! Tasks in envelopes, budgets as shares of a window, and the limits of gatherers.

use serde_json::{Value, json};

use super::tree::{chunk, find, repository, text, tree};

fn envelope() -> Value {
    json!({
        "task_type": "refactor",
        "user_request": "rename the login",
        "original_input": "pls rename login",
        "session_id": "s1",
        "created_at": "2024-01-15T10:30:00Z",
        "token_budget": {"total": 4000, "input_allocation_pct": 0.5},
        "tools": [{"name": "rename", "description": "Renames a symbol"}],
        "context": {"chunks": [
            {"source": "ticket/7", "chunk_type": "ticket", "priority": "HIGH",
             "content": "The login is called sign-in now."}
        ]}
    })
}

#[test]
fn p01_a_pack_honours_the_envelope_that_the_task_came_in() {
    let tree = tree(&[("src/login.rs", "pub fn login() {}\n")]);
    tree.write("task.json", envelope().to_string());
    let pack = tree.json(&["--envelope", "task.json", "--exclude", "task.json"]);
    assert_eq!(
        (&pack["budget"], &pack["task_type"]),
        (&json!(2000), &json!("refactor"))
    );
    assert_eq!(chunk(&pack, "ticket/7")["level"], "full");
    assert_eq!(chunk(&pack, "src/login.rs")["level"], "full");
    assert!(text(&pack, "prompt").contains("## Request\nrename the login\n"));
    let args = [
        "--envelope",
        "task.json",
        "--format",
        "anthropic",
        "--model",
        "claude-sonnet-4-5",
    ];
    let request: Value = serde_json::from_str(&tree.pack(&args).success()).unwrap();
    assert_eq!(request["tools"][0]["name"], "rename");
    // Options come first.
    let args = [
        "--envelope",
        "task.json",
        "--budget",
        "900",
        "--task-type",
        "test",
    ];
    let pack = tree.json(&args);
    assert_eq!(
        (&pack["budget"], &pack["task_type"]),
        (&json!(900), &json!("test"))
    );
    let error = tree.pack(&["fix it", "--envelope", "task.json"]).failure(2);
    assert!(error.contains("the task is given twice"), "{error}");
    tree.write("task.json", "{\"task_type\": \"deploy\"}");
    let error = tree.pack(&["--envelope", "task.json"]).failure(1);
    assert!(
        error.contains("task_type") && error.contains("hint: "),
        "{error}"
    );
}

#[test]
fn p02_a_budget_may_be_a_share_of_a_window() {
    let tree = tree(&[("src/login.rs", "pub fn login() {}\n")]);
    let budget = |given: &str| tree.json(&["fix the login", "--budget", given])["budget"].clone();
    assert_eq!(budget("total=8000,input=70%"), 5600);
    assert_eq!(budget("total=8k"), 5600);
    assert_eq!(budget("8k"), 8000);
    for (wrong, named) in [
        (
            "total=8000,input=170%",
            "`input=170%` is not a part of a budget",
        ),
        ("totla=8000", "`totla=8000` is not a part of a budget"),
        ("total=8000,input=20%,system=30%", "take"),
    ] {
        let error = tree.pack(&["fix it", "--budget", wrong]).failure(2);
        assert!(error.contains(named), "{wrong}: {error}");
    }
}

#[test]
fn p15_the_limits_of_gatherers_are_the_users() {
    let tree = repository(&[
        ("a/b/c/d/login.rs", "pub fn login() {}\n"),
        ("a/login_form.rs", "pub fn login_form() {}\n"),
        ("a/login_page.rs", "pub fn login_page() {}\n"),
    ]);
    let analyze = |more: &[&str]| {
        let args = ["explain the login", "--task-type", "analyze"];
        tree.json(&[&args[..], more].concat())
    };
    let shown = |pack: &Value| {
        let kind = |chunk: &&Value| chunk["chunk_type"] == "file";
        pack["chunks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(kind)
            .count()
    };
    let pack = analyze(&[]);
    assert_eq!(shown(&pack), 3);
    let tree_of = |pack: &Value| {
        let prompt = text(pack, "prompt").to_owned();
        let (_, after) = prompt.split_once("## Project Structure\n```\n").unwrap();
        after.split_once("```").unwrap().0.to_owned()
    };
    assert!(tree_of(&pack).contains("b/"), "{}", tree_of(&pack));
    assert!(find(&pack, "git log").is_some());
    let pack = analyze(&["--max-files", "1", "--depth", "1", "--commits", "0"]);
    assert_eq!(shown(&pack), 1);
    assert_eq!(tree_of(&pack), "a/ (3 files)\n");
    assert!(find(&pack, "git log").is_none());
}

#[test]
fn p12_an_openapi_description_is_summarised() {
    let tree = tree(&[
        ("src/login.rs", "pub fn login() {}\n"),
        (
            "api.yaml",
            "openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\npaths:\n  /login:\n    post:\n      \
             summary: Signs a user in\n      responses: {'200': {description: ok}}\n",
        ),
    ]);
    let pack = tree.json(&["fix the login", "--openapi", "api.yaml"]);
    assert_eq!(chunk(&pack, "api.yaml")["chunk_type"], "api_spec");
    assert!(text(&pack, "prompt").contains("Signs a user in"));
    let error = tree.pack(&["fix it", "--openapi", "gone.yaml"]).failure(2);
    assert!(
        error.contains("--openapi: there is no file `gone.yaml`"),
        "{error}"
    );
}
