//! What is known about people.

use serde_json::{Value, json};

use super::Memory;

fn keys_and_values(facts: &Value) -> Vec<(&str, &str)> {
    let facts = facts["facts"].as_array().unwrap().iter();
    facts
        .map(|fact| {
            (
                fact["key"].as_str().unwrap(),
                fact["value"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn o06_facts_are_set_replaced_and_ended_and_keep_their_history() {
    let memory = Memory::talk();
    let set = memory.run(&["facts", "set", "timezone", "Europe/Lisbon"]);
    assert_eq!(set.stderr, "set `timezone` of ann\n");
    memory.run(&["facts", "set", "diet", "no fish"]).success();
    let set = memory.json(&["facts", "set", "timezone", "Asia/Tokyo"]);
    assert_eq!(
        (&set["value"], &set["version"]),
        (&json!("Asia/Tokyo"), &json!(2))
    );
    let facts = memory.json(&["facts", "list"]);
    assert_eq!(facts["sender"], "ann");
    assert_eq!(
        keys_and_values(&facts),
        [("diet", "no fish"), ("timezone", "Asia/Tokyo")]
    );
    let ended = memory.run(&["facts", "unset", "timezone"]);
    assert_eq!(ended.stderr, "ended `timezone` of ann\n");
    let history = memory.json(&["facts", "history", "timezone"]);
    assert_eq!(
        keys_and_values(&history),
        [("timezone", "Europe/Lisbon"), ("timezone", "Asia/Tokyo")]
    );
    let ended = history["facts"].as_array().unwrap();
    assert!(
        ended.iter().all(|fact| fact["until"].is_string()),
        "{history}"
    );
    let table = memory.run(&["facts", "list"]).success();
    assert!(
        table.contains("no fish") && !table.contains("timezone"),
        "{table}"
    );
    assert_eq!(
        memory.run(&["facts", "history"]).success().lines().count(),
        4
    );
}

#[test]
fn x01_what_is_no_fact_is_refused() {
    let memory = Memory::talk();
    let error = memory.run(&["facts", "unset", "diet"]).failure(1);
    assert!(error.contains("no fact `diet` about ann holds"), "{error}");
    let long = "x".repeat(5_000);
    for (key, value) in [("", "x"), ("k", " "), ("a\nb", "x"), ("k", long.as_str())] {
        memory.run(&["facts", "set", key, value]).failure(2);
    }
    let none = memory.run(&["facts", "list"]);
    assert_eq!(none.stderr, "no fact about ann is known\n");
    memory.run(&["facts"]).failure(2);
}
