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
    assert!(
        error.contains("there is no fact `diet` about ann"),
        "{error}"
    );
    let long = "x".repeat(5_000);
    for (key, value) in [("", "x"), ("k", " "), ("a\nb", "x"), ("k", long.as_str())] {
        memory.run(&["facts", "set", key, value]).failure(2);
    }
    let none = memory.run(&["facts", "list"]);
    assert_eq!(none.stderr, "there are no facts about ann\n");
    memory.run(&["facts"]).failure(2);
}

#[test]
fn x01_a_list_that_is_cut_says_so() {
    let memory = Memory::talk();
    for (key, value) in [("b", "1"), ("c", "1"), ("a", "1"), ("b", "2")] {
        memory.run(&["facts", "set", key, value]).success();
    }
    for (args, shown, told) in [
        (
            &["facts", "list", "--limit", "2"][..],
            &[("a", "1"), ("b", "2")][..],
            "only the facts learned last are shown, 2 of them; `--limit` shows more\n",
        ),
        (
            &["facts", "list", "--limit", "3"],
            &[("a", "1"), ("b", "2"), ("c", "1")],
            "",
        ),
        (
            &["facts", "history", "--limit", "2"],
            &[("a", "1"), ("b", "1")],
            "only the first values by key are shown, 2 of them; `--limit` shows more\n",
        ),
        (
            &["facts", "history", "b", "--limit", "1"],
            &[("b", "2")],
            "only the latest values are shown, 1 of them; `--limit` shows more\n",
        ),
        (
            &["facts", "history", "b", "--limit", "2"],
            &[("b", "1"), ("b", "2")],
            "",
        ),
    ] {
        assert_eq!(keys_and_values(&memory.json(args)), shown, "{args:?}");
        assert_eq!(memory.run(args).stderr, told, "{args:?}");
    }
    memory.run(&["facts", "list", "--limit", "0"]).failure(2);
}

#[test]
fn x12_no_facts_are_drawn_where_the_configuration_says_so() {
    let memory = Memory::new();
    memory.0.write("kitbag.yaml", "memory: {facts: off}");
    let said = json!({"sender": "ann", "text": "I live in Porto.", "at": "2024-01-01T00:00:00Z"});
    memory.import(&[said]).success();
    let told = memory.run(&["facts", "list", "--sender", "ann"]);
    assert_eq!(told.stderr, "there are no facts about ann\n");
}

#[test]
fn x12_a_fact_that_was_unset_stays_unset_whatever_the_clocks() {
    let ahead = json!({"sender": "ann", "text": "I live in Porto.", "at": "2090-01-01T00:00:00Z"});
    let memory = Memory::of(&[ahead]);
    memory.run(&["facts", "unset", "home"]).success();
    let earlier = json!({"sender": "ann", "text": "I live in Faro.", "at": "2020-01-01T00:00:00Z"});
    memory.import(&[earlier]).success();
    let facts = memory.run(&["facts", "list"]).success();
    assert!(!facts.contains("Porto"), "{facts}");
}
